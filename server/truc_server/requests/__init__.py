"""From a message to a table and back: the only way in."""

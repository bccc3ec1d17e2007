"""Everything about one connection: how it comes in, what it may use up, who speaks there, and what is sent to it."""

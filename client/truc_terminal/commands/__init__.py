"""The commands of `truc`, one module each, and what they share."""

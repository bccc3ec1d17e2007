"""A hand and a match as values, what can be done in them, and what happened."""

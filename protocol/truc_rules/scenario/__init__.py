"""Scenario files: played hands in the move notation, with what must come of them."""

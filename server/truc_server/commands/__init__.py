"""The commands of `truc-server`, one module for each group of them, and what they share."""

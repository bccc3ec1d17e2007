"""Backups of a data folder: taken, restored, and what the first start after it must know."""

"""Backups of a data folder: how they are taken and restored, and what the first start after that must know."""

"""What a table is, as values: its code, its options, its seats."""

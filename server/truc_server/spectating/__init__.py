"""What those at a table are shown: seats at once, watchers at the table's delay."""

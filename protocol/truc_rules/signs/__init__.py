"""What seats tell and show each other: signs, orders, shown cards."""

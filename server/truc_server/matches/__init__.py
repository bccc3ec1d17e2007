"""One match: what the server signs and rules, whose acts are taken, what is asked of whom, and how time runs."""

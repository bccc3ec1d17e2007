"""A match as it is replayed, from its records: at each of them the table, who could see what, and what it says in words."""

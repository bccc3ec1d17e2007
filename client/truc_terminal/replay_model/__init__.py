"""The course of a match, from its records: at each of them the table, who could see what, and what it says in words."""

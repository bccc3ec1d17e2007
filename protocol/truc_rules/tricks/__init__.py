"""Playing cards: whose turn it is, who wins a trick, and what follows."""

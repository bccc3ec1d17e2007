"""What a player has before them at a terminal: the table drawn or in lines, the prompt at its foot, and the words around both."""

"""What a player sees at a terminal: the table, drawn or in lines, the prompt at the foot, and the words around both."""

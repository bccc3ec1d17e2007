"""What is between the players and the tables: who is here, who may be, tables found and made, what is said to all."""

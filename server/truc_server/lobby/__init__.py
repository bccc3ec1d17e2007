"""What lies between players and tables: who is here, who may be, how tables are found and made, what is said to all."""

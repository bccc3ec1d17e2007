"""Several nodes on one database: the lease of each, and who takes the tables of one that is gone."""

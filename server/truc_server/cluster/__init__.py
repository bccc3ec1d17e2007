"""Several nodes on one database: the lease of each, who takes the tables of one that is gone, and how players come to those of others."""

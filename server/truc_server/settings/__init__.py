"""What a host can set, and the data folder that it is kept in."""

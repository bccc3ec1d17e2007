"""Every open connection, and who answers what it says."""

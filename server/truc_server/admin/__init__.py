"""The host's commands to a running server: what may be asked, who is answered, and what is noted."""

"""What the server tells of itself in figures: counted as it happens, read when somebody asks, told over HTTP."""

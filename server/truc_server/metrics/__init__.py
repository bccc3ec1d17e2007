"""What the server says about itself in figures: counted as things happen, read when somebody asks, served over HTTP."""

"""What lets a running server go on for years and stop without harm: draining, sanctions, what is kept and for how long."""

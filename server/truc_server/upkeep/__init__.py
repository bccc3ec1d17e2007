"""What lets a running server go on for years and stop without harm: draining, giving tables away, sanctions, what is kept and for how long."""

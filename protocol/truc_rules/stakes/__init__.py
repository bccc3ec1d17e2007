"""The main stake: asking, answering, and the question at the last point."""

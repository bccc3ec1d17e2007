"""A match as a single, self-contained page of HTML: it can be read without script, and stepped through with it."""

"""One table: who sits and who watches, the terms of its matches, what is shown to whom, and when."""

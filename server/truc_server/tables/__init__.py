"""One table: who sits there, who stands by for a seat, the terms of its matches, what is said."""

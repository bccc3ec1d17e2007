"""What a hand scores, and when a game and a match are won."""

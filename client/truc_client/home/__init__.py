"""What a player keeps, and as whom they play: the key, what was signed, the servers known, transcripts."""

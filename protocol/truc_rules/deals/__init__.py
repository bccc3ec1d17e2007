"""Cards in and out of a hand: cutting, dealing, new deals, duels."""

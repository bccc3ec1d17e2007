"""The bets beside the stake: envido, flor, the saying of values, claims."""

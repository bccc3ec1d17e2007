"""Counts of the positions that can be reached from a match: a fingerprint of its rules."""

from truc_rules import Match, Seat, apply, legal


def positions(match: Match, depth: int) -> tuple[int, ...]:
    """Return how many different positions, by all seats within the hand, are reached after 0, 1 ... `depth` actions."""
    layer, counts = {match}, [1]
    for _ in range(depth):
        layer = {
            apply(position, action)[0]
            for position in layer
            for seat in range(match.seats)
            for action in legal(position, Seat(seat))
        }
        counts.append(len(layer))
    return tuple(counts)

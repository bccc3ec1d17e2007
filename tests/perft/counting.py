"""Counts of what can be reached from a match: a fingerprint of its rules."""

from truc_rules import Match, Seat, apply, legal


def perft(match: Match, depth: int) -> int:
    """Return how many sequences of `depth` actions, by all seats, can follow `match` within its hand.

    A sequence that ends the hand, or needs new cards, before it has `depth` actions is not counted.
    """
    if depth == 0:
        return 1
    actions = (action for seat in range(match.seats) for action in legal(match, Seat(seat)))
    return sum(perft(apply(match, action)[0], depth - 1) for action in actions)


def positions(match: Match, depth: int) -> tuple[int, ...]:
    """Return how many different positions are reached after 0, 1 ... `depth` actions."""
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

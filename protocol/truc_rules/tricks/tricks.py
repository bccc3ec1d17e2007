"""Tricks: who wins one, who leads the next, and when they decide the hand.

Nothing here knows about stakes. The rule of rules.md 1.5: two tricks win the hand; once a trick is tied, the first that
is not. Play stops as soon as the result is known.
"""

from collections.abc import Sequence
from functools import cache
from typing import Literal

from truc_rules.cards.packs import Card
from truc_rules.cards.seats import Seat, Side, side_of
from truc_rules.variants.variant import Variant

Verdict = Side | Literal["open", "tied"]

_ENOUGH = 2


def taken(
    variant: Variant,
    strengths: Sequence[int],
    table: Sequence[Card],
    *,
    leader: Seat,
    stride: int,
    seats: int,
) -> tuple[Side | None, Seat]:
    """Return who takes the trick whose cards lie on the table, None if it is tied, and who leads the next."""
    strength = [strengths[card] for card in table]
    top = max(strength)
    first = strength.index(top)
    if strength.count(top) == 1:
        winner = Seat((leader + first * stride) % seats)
        return side_of(winner), winner
    best = [
        Seat((leader + place * stride) % seats)
        for place in range(first, len(table))
        if strength[place] == top
    ]
    sides = {side_of(seat) for seat in best}
    if len(sides) > 1 or (first > 0 and variant.partner_tie == "leader_only"):
        return None, best[-1] if variant.tie_leader == "spoiler" else leader
    return side_of(best[0]), best[0]


@cache
def verdict(hand_rule: str, winners: tuple[Side | None, ...], count: int) -> Verdict:
    """Return who has won the hand after tricks with these winners, of at most `count`; "tied" if nobody has."""
    if hand_rule == "put":
        return _put_verdict(winners, count)
    won = [side for side in winners if side is not None]
    tied = len(won) < len(winners)
    if won and (tied or len(winners) == count):
        return won[0] if tied or count < _ENOUGH else _majority(won)
    if len(won) == _ENOUGH and won[0] == won[1]:
        return won[0]
    return "tied" if len(winners) == count else "open"


def _majority(won: Sequence[Side]) -> Side:
    return won[0] if won.count(won[0]) >= _ENOUGH else won[1]


def _put_verdict(winners: Sequence[Side | None], count: int) -> Verdict:
    ours, theirs = winners.count(Side(0)), winners.count(Side(1))
    if len(winners) < count and max(ours, theirs) < _ENOUGH:
        return "open"
    if ours == theirs:
        return "tied"
    return Side(0) if ours > theirs else Side(1)

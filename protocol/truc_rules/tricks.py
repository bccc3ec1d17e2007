"""Tricks: who wins one, who leads the next, and when they make the hand.

Nothing here knows of stakes. The rule of rules.md 1.5: two tricks; once a trick is tied, the first that is not. Play
stops as soon as the result is known.
"""

from collections.abc import Sequence
from typing import Literal

from .cards import Card
from .seats import Seat, Side, side_of
from .state import Row, Trick
from .variant import Variant

Verdict = Side | Literal["open", "tied"]

_ENOUGH = 2


def completed(variant: Variant, row: Row, seats: int) -> tuple[Trick, Seat]:
    """Return the trick whose last card is on the table, and who leads the next."""
    leader, table = row.leader, row.table
    strengths = variant.strengths
    strength = [strengths[card] for card in table]
    top = max(strength)
    first = strength.index(top)
    if strength.count(top) == 1:
        winner = Seat((leader + first) % seats)
        return Trick(leader, table, side_of(winner)), winner
    best = [Seat((leader + place) % seats) for place in range(first, seats) if strength[place] == top]
    sides = {side_of(seat) for seat in best}
    if len(sides) > 1 or (first > 0 and variant.partner_tie == "leader_only"):
        return Trick(leader, table, None), best[-1] if variant.tie_leader == "spoiler" else leader
    return Trick(leader, table, side_of(best[0])), best[0]


def verdict(variant: Variant, winners: Sequence[Side | None], count: int) -> Verdict:
    """Return who has the hand after tricks with these winners, of at most `count`; "tied" if nobody has."""
    if variant.hand_rule == "put":
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


def with_card(row: Row, seat: Seat, card: Card) -> Row:
    """Return the row with `card` on the table."""
    return Row(row.leader, (*row.table, card), row.tricks, seat)

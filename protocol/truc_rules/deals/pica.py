"""Pica-pica, or punta y hacha: a deal for six is played as three duels, one after the other (rules.md 8.7)."""

from truc_rules.cards.seats import Seat, seat_after
from truc_rules.positions.events import DuelBegun, Event
from truc_rules.positions.match import NO_CONTESTS, Bets, Hand, HandPhase, Match, Row, Score
from truc_rules.variants.variant import Variant

SEATS = 6
PAIRS = SEATS // 2


def stride(variant: Variant, seats: int, score: tuple[Score, Score], number: int) -> int:
    """Return the stride of a new deal: half the table if it is played as duels, else 1.

    Every other hand of a game is so played, if one side has enough points and neither has too many.
    """
    rule = variant.pica
    if rule is None or seats != SEATS or number % 2:
        return 1
    points = [side.points for side in score]
    return PAIRS if max(points) >= rule.min and max(points) <= rule.max else 1


def begun(row: Row, seats: int) -> tuple[Event, ...]:
    """Return the event with which a duel begins; none in an ordinary hand."""
    if row.stride == 1:
        return ()
    return (DuelBegun(row.eldest, seat_after(row.eldest, seats, steps=row.stride)),)


def next_duel(match: Match, hand: Hand, bets: Bets) -> Hand:
    """Return the hand in which the next pair begins; what the last pair must prove is kept."""
    row = hand.row
    eldest = Seat((row.eldest + 1) % match.seats)
    proven = (*hand.proven, (row.eldest, hand.contests))
    return hand._replace(
        phase=HandPhase.PLAY,
        row=Row(eldest, row.stride, eldest, eldest, (), (), None, row.left),
        bets=bets,
        offers=(),
        winner=None,
        contests=NO_CONTESTS,
        proven=proven,
    )

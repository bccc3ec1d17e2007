"""The end of a hand: who wins it and what it scores. What the side bets left open is settled before it scores."""

from truc_rules.cards.seats import Side
from truc_rules.contests.claims import settlements
from truc_rules.positions.events import HandDrawn, HandWon
from truc_rules.positions.match import Hand, Match, Phase, Step
from truc_rules.scoring.score import award, score_after

_OVER = Phase.OVER  # looked up once: a lookup in an Enum is costly in the engine's loops


def won(match: Match, hand: Hand, side: Side, *, points: int, reason: str) -> Step:
    """End `hand` in favour of `side`; if more than points is locked in, that is won instead of `points`."""
    owed = () if match.variant.flor is None else settlements(match, hand)
    settled = match._replace(score=score_after(match.score, owed)) if owed else match
    gained = award(settled, hand, side, points=points, reason=reason)
    return over(hand, side), (HandWon(side), *owed, *gained)


def drawn(match: Match, hand: Hand) -> Step:
    """End `hand` with no winner."""
    owed = () if match.variant.flor is None else settlements(match, hand)
    return over(hand, None), (HandDrawn(), *owed)


def over(hand: Hand, winner: Side | None) -> Hand:
    """Return the hand at its end."""
    rest = (winner, hand.contests, hand.orders, hand.proven)
    return Hand(_OVER, hand.dealt, hand.row, hand.bets, (), *rest)

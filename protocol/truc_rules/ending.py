"""The end of a hand: who has it and what it brings."""

from .events import HandDrawn, HandWon, PointsScored
from .seats import Side
from .state import Hand, Phase, Step
from .table import Match

AWARD_HAND = "hand"
AWARD_DECLINED = "declined"
AWARD_CONCEDED = "conceded"
AWARD_GAME = "game"


def won(match: Match, hand: Hand, side: Side, *, points: int, reason: str) -> Step:
    """End `hand` in favour of `side`; under a locked stake it wins the game, whatever the points."""
    over = Hand(Phase.OVER, hand.dealt, hand.row, hand.bets, (), side)
    if hand.bets.locked:
        points, reason = _points_to_target(match, side), AWARD_GAME
    return over, (HandWon(side), PointsScored(side, points, reason))


def drawn(hand: Hand) -> Step:
    """End `hand` with nobody having it."""
    return Hand(Phase.OVER, hand.dealt, hand.row, hand.bets, (), None), (HandDrawn(),)


def _points_to_target(match: Match, side: Side) -> int:
    # rules.md 13b.11: after a game won otherwise than by points the score is set to the target
    return max(match.variant.scoring.target - match.score[side].points, 0)

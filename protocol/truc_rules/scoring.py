"""The score: how a hand ends and what it awards, how events change the score, and who has won the game.

What the side bets left open is settled before the hand scores. A game is counted in points, or in units of several
points each (rules.md 7). Where the game ends as soon as a side has the target, events are counted one by one, and those
after the one that ends the game never happen. A game that was itself the stake always ends like this.
"""

from truc_rules.contests.claims import leaves_open, settlements
from truc_rules.positions.actions import TRUT
from truc_rules.positions.events import Event, HandDrawn, HandWon, PointsScored, UnitScored
from truc_rules.positions.match import Hand, HandPhase, Match, Score, Step
from truc_rules.seats import SIDES, Side, other_side
from truc_rules.variants.variant import Scoring

AWARD_HAND = "hand"
AWARD_DECLINED = "declined"
AWARD_CONCEDED = "conceded"
AWARD_GAME = "game"
AWARD_UNIT = TRUT

Scores = tuple[Score, Score]
PointCount = tuple[tuple[Event, ...], Scores, Side | None]

_SCORING = (PointsScored, UnitScored)
# looked up once: a lookup in an Enum is costly in the engine's loops
_OVER = HandPhase.OVER


def hand_won(match: Match, hand: Hand, side: Side, *, points: int, reason: str) -> Step:
    """End `hand` in favour of `side`; if more than points is locked in, that is won instead of `points`."""
    owed = settlements(match, hand) if match.variant.is_settled_late else ()
    # what is owed is scored first: a game that was staked then pays only what is still lacking
    settled = match._replace(score=score_after(match.score, owed)) if owed else match
    gained = award(settled, hand, side, points=points, reason=reason)
    return ended(hand, side), (HandWon(side), *owed, *gained)


def hand_drawn(match: Match, hand: Hand) -> Step:
    """End `hand` with no winner."""
    owed = settlements(match, hand) if match.variant.is_settled_late else ()
    return ended(hand, None), (HandDrawn(), *owed)


def ended(hand: Hand, winner: Side | None) -> Hand:
    """Return the hand at its end."""
    rest = (winner, hand.contests, hand.orders, hand.earlier_duels)
    return Hand(_OVER, hand.dealt, hand.row, hand.bets, (), *rest)


def award(match: Match, hand: Hand, side: Side, *, points: int, reason: str) -> tuple[Event, ...]:
    """Return what `side` scores for the hand: `points`, or what was played for instead of points."""
    mine, scoring = match.score[side], match.variant.scoring
    if hand.bets.locked == TRUT:
        # rules.md 7: the winner of a trut that was bet keeps its odd points
        return (UnitScored(side, mine.points, AWARD_UNIT),)
    if hand.bets.locked is not None:
        # rules.md 13b.11: after a game won otherwise than by points the score is set to the target
        return (PointsScored(side, max(scoring.target - mine.points, 0), AWARD_GAME),)
    scored = PointsScored(side, points, reason)
    over = mine.points + points - scoring.points_per_unit
    # rules.md 7: points that fill a unit become one
    if scoring.points_per_unit and over >= 0:
        return scored, UnitScored(side, over, reason)
    return (scored,)


def count_points(match: Match, hand: Hand, events: tuple[Event, ...]) -> PointCount:
    """Return the events that happen, the score after them, and who has won the game."""
    score, rule = match.score, match.variant.scoring
    at_once, is_over = rule.end_check == "immediate", hand.phase is _OVER
    # a claim is settled before the hand is scored: while it is open, who has the game is too
    is_open = is_over and leaves_open(match, hand)
    for place, event in enumerate(events):
        if isinstance(event, _SCORING):
            score = _after(score, event)
            # rules.md 1.7: whoever wins the remainder has the game, whatever the scores
            is_won = event.reason == AWARD_GAME or (at_once and _reached(score[event.side], rule))
            if is_won and not is_open:
                # rules.md 8.1: what was still to be scored never is
                return events[: place + 1], score, event.side
    at_end = is_over and not (at_once or is_open or more_duels(match, hand))
    return events, score, _winner_at_end(score, rule) if at_end else None


def score_after(score: Scores, events: tuple[Event, ...]) -> Scores:
    """Return `score` after `events`, whether or not one of them ends the game."""
    for event in events:
        if isinstance(event, _SCORING):
            score = _after(score, event)
    return score


def more_duels(match: Match, hand: Hand) -> bool:
    """Tell whether further duels follow in this deal (rules.md 8.7)."""
    row = hand.row
    # the duels begin one, two and three seats after the dealer
    return row.stride > 1 and (row.eldest - match.dealer) % match.seats < row.stride


def _after(score: Scores, event: PointsScored | UnitScored) -> Scores:
    mine, theirs = score[event.side], score[other_side(event.side)]
    if isinstance(event, UnitScored):
        # rules.md 7: with a unit the other side's odd points are lost
        mine, theirs = Score(mine.upper + 1, event.kept), Score(theirs.upper, 0)
    else:
        mine = Score(mine.upper, mine.points + event.points)
    return (mine, theirs) if event.side == SIDES[0] else (theirs, mine)


def _reached(score: Score, scoring: Scoring) -> bool:
    return (score.upper if scoring.points_per_unit else score.points) >= scoring.target


def _winner_at_end(score: Scores, scoring: Scoring) -> Side | None:
    there = [side for side in SIDES if _reached(score[side], scoring)]
    if len(there) < len(SIDES):
        return there[0] if there else None
    # rules.md 8.1: at the end of the hand the higher score wins, on equality another hand is played
    return None if score[0] == score[1] else max(there, key=lambda side: score[side])

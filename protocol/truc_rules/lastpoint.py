"""The question to a side at its last point (rules.md 2, "Eleven points"): play for a raised stake, or decline."""

from . import ending
from .actions import Action, Kind, yes_or_no
from .events import GameStaked, LastPointAsked, LastPointDeclined, LastPointTaken
from .seats import SIDES, Seat, Side, other_side, side_after, side_of
from .state import Bets, Hand, LastPointAsk, Phase, Step
from .table import Match
from .variant import LastPoint


def begin(match: Match, hand: Hand) -> Step:
    """Begin the play: ask the one side at its last point, or let the hand decide the game if both are."""
    rule = match.variant.last_point
    at_last = () if rule is None else _sides_at_last_point(match, rule)
    if rule is None or not at_last:
        return Hand(Phase.PLAY, hand.dealt, hand.row, hand.bets, (), None), ()
    if len(at_last) == len(SIDES):
        bets = Bets(hand.bets.stake, locked=True, right=(), offered=())
        return Hand(Phase.PLAY, hand.dealt, hand.row, bets, (), None), (GameStaked(),)
    question = LastPointAsk(at_last[0], rule.stake, rule.decline)
    return Hand(Phase.PLAY, hand.dealt, hand.row, hand.bets, (question,), None), (LastPointAsked(at_last[0]),)


def _sides_at_last_point(match: Match, rule: LastPoint) -> tuple[Side, ...]:
    least = match.variant.scoring.target - rule.at
    return tuple(side for side in SIDES if match.score[side].points >= least)


def deciders(match: Match, question: LastPointAsk) -> tuple[Seat, ...]:
    """Return the seats that may answer, in order of play after the dealer."""
    return side_after(match.dealer, question.side, match.seats)


def answers(seat: Seat, question: LastPointAsk) -> tuple[Action, ...]:
    """Return the answers of `seat`."""
    if side_of(seat) != question.side:
        return ()
    return yes_or_no(seat)


def answer(match: Match, action: Action, question: LastPointAsk) -> Step:
    """Play for the raised stake without betting, or pay for declining."""
    hand, seat = match.hand, action.seat
    if action.kind is Kind.ACCEPT:
        bets = Bets(question.stake, locked=False, right=(), offered=())
        return Hand(hand.phase, hand.dealt, hand.row, bets, (), None), (LastPointTaken(seat, question.stake),)
    side = other_side(question.side)
    over, events = ending.won(match, hand, side, points=question.decline, reason=ending.AWARD_DECLINED)
    return over, (LastPointDeclined(seat), *events)


def shares(match: Match) -> tuple[tuple[Seat, Seat], ...]:
    """Return who must be shown whose cards before answering: (from, to), ascending."""
    rule, offers = match.variant.last_point, match.hand.offers
    if rule is None or not rule.share or not offers or not isinstance(offers[-1], LastPointAsk):
        return ()
    asked = sorted(deciders(match, offers[-1]))
    return tuple((giver, taker) for giver in asked for taker in asked if giver != taker)

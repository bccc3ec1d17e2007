"""The question to a side at its last point (rules.md 2, "Eleven points"): play for a raised stake, or decline."""

from truc_rules.cards.seats import SIDES, Seat, Side, other_side, side_after, side_of
from truc_rules.positions.actions import REST, Action, Kind, yes_or_no
from truc_rules.positions.events import (
    Event,
    GameStaked,
    LastPointAsked,
    LastPointDeclined,
    LastPointTaken,
    PlayedBlind,
)
from truc_rules.positions.match import Bets, Hand, HandPhase, LastPointAsk, Match, Offer, Score, Step
from truc_rules.scoring.score import AWARD_DECLINED, hand_won
from truc_rules.variants.variant import Variant


def begin(match: Match, hand: Hand) -> Step:
    """Begin the play: ask the side that is at its last point, or let the hand decide the game if both are."""
    rule, at_last, bets = (
        match.variant.last_point,
        _sides_at_last_point(match.variant, match.score),
        hand.bets,
    )
    offers: tuple[Offer, ...] = ()
    told: tuple[Event, ...] = ()
    if len(at_last) == len(SIDES):
        bets = Bets(bets.stake, locked=REST, right=(), offered=())
        told = (GameStaked(), PlayedBlind()) if hand.dealt.blind else (GameStaked(),)
    elif rule is not None and at_last:
        offers = (LastPointAsk(at_last[0], rule.stake, rule.decline),)
        told = (LastPointAsked(at_last[0]),)
    rest = (None, hand.contests, hand.orders, hand.proven)
    return Hand(HandPhase.PLAY, hand.dealt, hand.row, bets, offers, *rest), told


def decides_game(variant: Variant, score: tuple[Score, Score]) -> bool:
    """Tell whether both sides are at their last point."""
    return len(_sides_at_last_point(variant, score)) == len(SIDES)


def _sides_at_last_point(variant: Variant, score: tuple[Score, Score]) -> tuple[Side, ...]:
    rule = variant.last_point
    if rule is None:
        return ()
    least = variant.scoring.target - rule.at
    return tuple(side for side in SIDES if score[side].points >= least)


def deciders(match: Match, question: LastPointAsk) -> tuple[Seat, ...]:
    """Return the seats that may answer, in order of play after the dealer."""
    return side_after(match.dealer, question.side, match.seats)


def answers(seat: Seat, question: LastPointAsk) -> tuple[Action, ...]:
    """Return the answers of `seat`."""
    return yes_or_no(seat) if side_of(seat) == question.side else ()


def answer(match: Match, action: Action, question: LastPointAsk) -> Step:
    """Play for the raised stake without betting, or pay for declining."""
    hand, seat = match.hand, action.seat
    if action.kind is Kind.ACCEPT:
        bets = Bets(question.stake, locked=None, right=(), offered=())
        return hand._replace(bets=bets, offers=()), (LastPointTaken(seat, question.stake),)
    side = other_side(question.side)
    over, events = hand_won(match, hand, side, points=question.decline, reason=AWARD_DECLINED)
    return over, (LastPointDeclined(seat), *events)


def owed_shares(match: Match) -> tuple[tuple[Seat, Seat], ...]:
    """Return, right after the deal, pairs of a seat and the partner who must be shown its cards, ascending."""
    rule = match.variant.last_point
    if rule is None or not rule.share:
        return ()
    offers = match.hand.offers
    if not offers or not isinstance(offers[-1], LastPointAsk):
        return ()
    asked = sorted(deciders(match, offers[-1]))
    return tuple((giver, taker) for giver in asked for taker in asked if giver != taker)

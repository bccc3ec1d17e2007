"""The side bets as one: which of envido, flor and the saying of values handles a call or an open offer.

Flor comes before envido, envido before an unanswered ask for the stake (rules.md 8.2): a call is pushed on top of what
it comes before.
"""

from typing import assert_never

from truc_rules.cards.seats import Seat
from truc_rules.contests import claims, envido, flor, saying
from truc_rules.positions.actions import Action, Kind
from truc_rules.positions.hand import ContestOffer, ContraflorAsk, EnvidoAsk, FlorRound, Saying, Step
from truc_rules.positions.match import Match


def calls(match: Match, seat: Seat) -> tuple[Action, ...]:
    """Return the calls that open envido or flor, on a seat's turn or before it answers, and claims of a flor."""
    hand, variant = match.hand, match.variant
    found: tuple[Action, ...] = ()
    if len(hand.row.left[seat]) == hand.dealt.each:
        if not hand.contests.envido_closed:
            found = envido.calls(match, seat)
        if variant.flor is not None and not hand.contests.flores:
            found += flor.declarations(match, seat)
    if variant.flor is not None and hand.row.last is not None:
        found += claims.actions(match, seat)
    return found


def call(match: Match, action: Action) -> Step:
    """Open a contest."""
    return flor.declare(match, action) if action.kind is Kind.FLOR else envido.call(match, action)


def answerers(match: Match, offer: ContestOffer) -> tuple[Seat, ...]:
    """Return the seats that may answer; a ruling is made for the first of them."""
    match offer:
        case EnvidoAsk():
            return envido.answerers(match, offer)
        case FlorRound():
            return offer.waiting[:1]
        case ContraflorAsk():
            return flor.answerers(match, offer)
        case Saying():
            return saying.deciders(offer)
        case _:
            assert_never(offer)


def answers(match: Match, seat: Seat, offer: ContestOffer) -> tuple[Action, ...]:
    """Return the answers of `seat`."""
    match offer:
        case EnvidoAsk():
            return envido.answers(match, seat, offer)
        case FlorRound():
            return flor.round_answers(match, seat, offer)
        case ContraflorAsk():
            return flor.answers(match, seat, offer)
        case Saying():
            return saying.answers(match, seat, offer)
        case _:
            assert_never(offer)


def answer(match: Match, action: Action, offer: ContestOffer) -> Step:
    """Carry out an answer."""
    match offer:
        case EnvidoAsk():
            return envido.answer(match, action, offer)
        case FlorRound():
            return flor.round_answer(match, action, offer)
        case ContraflorAsk():
            return flor.answer(match, action, offer)
        case Saying():
            return saying.answer(match, action, offer)
        case _:
            assert_never(offer)


def comes_before(offer: object, kind: Kind) -> bool:
    """Tell whether a call does not answer `offer` but opens a contest that is decided before it."""
    return not isinstance(offer, FlorRound if kind is Kind.FLOR else EnvidoAsk)

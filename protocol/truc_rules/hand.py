"""The hand: which machine is asked, for what a seat may do and for what an action does.

A hand is a row of tricks and a stack of open offers; the newest offer comes first, then the phase. `legal` and
`step` dispatch alike, so that an action is carried out by the machine that offered it.
"""

from typing import assert_never

from . import lastpoint, play, predeal, redeal, stake
from .actions import Action, Kind
from .seats import Seat, seat_after
from .state import LastPointAsk, Offer, Phase, RedealAsk, StakeAsk, Step, seat_to_act
from .table import Match

_PLAY_CARD, _RAISE = (
    Kind.PLAY,
    Kind.RAISE,
)  # looked up once: a lookup in an Enum is dear in the engine's loops


def deciders(match: Match) -> tuple[Seat, ...]:
    """Return the seats that hold the decision the hand waits for, the first to be ruled for first."""
    hand = match.hand
    if hand.offers:
        return _answerers(match, hand.offers[-1])
    if hand.phase is play.PLAYING:
        return (seat_to_act(hand.row, match.seats),)
    match hand.phase:
        case Phase.REDEAL:
            return (seat_after(match.dealer, match.seats),)
        case Phase.CUT:
            return (predeal.cutter(match),)
        case Phase.COUNT:
            return (match.dealer,)
        case _:
            return ()


def _answerers(match: Match, offer: Offer) -> tuple[Seat, ...]:
    match offer:
        case StakeAsk():
            return stake.answerers(match, offer)
        case RedealAsk():
            return offer.waiting[:1]
        case LastPointAsk():
            return lastpoint.deciders(match, offer)
        case _:
            assert_never(offer)


def legal(match: Match, seat: Seat) -> tuple[Action, ...]:
    """Return every action open to `seat`, in a fixed order."""
    hand = match.hand
    if not 0 <= seat < match.seats:
        return ()
    if hand.offers:
        answers = _answers(match, seat, hand.offers[-1])
        return (*answers, *play.accepting_cards(match, seat)) if answers else ()
    found = (
        play.turn_actions(match, seat) if hand.phase is play.PLAYING else _before_play_actions(match, seat)
    )
    return (*found, Action(seat, Kind.CONCEDE)) if stake.may_concede(match, seat) else found


def allows(match: Match, action: Action) -> bool:
    """Tell whether `legal` yields `action`."""
    seat, kind = action.seat, action.kind
    if kind is _PLAY_CARD:
        return play.allows(match, action)
    offers = match.hand.offers
    if offers:
        return 0 <= seat < match.seats and action in _answers(match, seat, offers[-1])
    if kind is _RAISE and match.hand.phase is play.PLAYING:
        return not action.cards and action.value in stake.asks(match, seat)
    return action in legal(match, seat)


def _before_play_actions(match: Match, seat: Seat) -> tuple[Action, ...]:
    match match.hand.phase:
        case Phase.REDEAL:
            return redeal.actions(match, seat)
        case Phase.CUT:
            return predeal.cut_actions(match, seat)
        case Phase.COUNT:
            return predeal.count_actions(match, seat)
        case _:
            return ()


def _answers(match: Match, seat: Seat, offer: Offer) -> tuple[Action, ...]:
    match offer:
        case StakeAsk():
            return stake.answers(match, seat, offer)
        case RedealAsk():
            return redeal.answers(seat, offer)
        case LastPointAsk():
            return lastpoint.answers(seat, offer)
        case _:
            assert_never(offer)


def step(match: Match, action: Action) -> Step:
    """Carry out an action that `legal` yields."""
    hand, kind, value = match.hand, action.kind, action.value
    if kind is _PLAY_CARD:
        return play.play(match, action)
    if hand.offers:
        return _answer(match, action, hand.offers[-1])
    if kind is _RAISE and value is not None:
        return stake.ask(hand, action.seat, value)
    if kind is Kind.CONCEDE:
        return play.concede(match, action.seat)
    return _before_play(match, action)


def _answer(match: Match, action: Action, offer: Offer) -> Step:
    match offer:
        case StakeAsk():
            return stake.answer(match, action, offer)
        case RedealAsk():
            return redeal.answer(match, action, offer)
        case LastPointAsk():
            return lastpoint.answer(match, action, offer)
        case _:
            assert_never(offer)


def _before_play(match: Match, action: Action) -> Step:
    match match.hand.phase:
        case Phase.CUT:
            return predeal.cut(match, action)
        case Phase.COUNT:
            return predeal.choose(match, action)
        case _:
            return redeal.decide(match, action)

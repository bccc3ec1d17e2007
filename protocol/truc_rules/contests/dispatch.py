"""The side bets as one: which of envido, flor and the saying of values handles a call or an open offer.

Flor comes before envido, envido before an unanswered ask for the stake (rules.md 8.2): a call is pushed on top of what
it comes before. Whoever keeps the time also asks here for windows, in which a hand, as everybody sees it, waits for
seats that may have nothing to say.
"""

from typing import assert_never

from truc_rules.contests import envido, flor, saying
from truc_rules.positions.actions import Action, Kind
from truc_rules.positions.match import (
    ContestOffer,
    ContraflorAsk,
    EnvidoAsk,
    FlorRound,
    Match,
    Saying,
    Step,
)
from truc_rules.seats import Seat


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
    # a flor answers a round of flores, an envido another envido; any other offer waits below the new contest
    return not isinstance(offer, FlorRound if kind is Kind.FLOR else EnvidoAsk)


def as_seen_by_all(match: Match) -> Match:
    """Return the match as everybody sees it: without the cards that have not been played or shown."""
    dealt, left = match.hand.dealt, match.hand.row.left
    cards = tuple(
        tuple(
            None if slot in left[seat] and (seat, card) not in dealt.shown else card
            for slot, card in enumerate(held)
        )
        for seat, held in enumerate(dealt.cards)
    )
    return match._replace(hand=match.hand._replace(dealt=dealt._replace(cards=cards)))


def is_flor_window(match: Match) -> bool:
    """Tell whether the hand of an `as_seen_by_all` match waits for seats that may have nothing to say."""
    # a server knows all cards and could go on at once when nobody holds a flor, but that would tell what
    # nobody has said (rules.md 13b.3)
    return flor.waits_for_unknown(match)

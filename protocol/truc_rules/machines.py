"""The hand: which machine says what a seat may do, and which carries an action out.

A hand is a row of tricks and a stack of open offers; the newest offer comes first, then the phase. `legal` and
`attempt` dispatch alike, so that an action is carried out by the machine that offered it.
"""

from types import MappingProxyType
from typing import assert_never

from truc_rules import deals, orders, shows, stakes, tricks
from truc_rules.contests import claims, envido, flor, saying
from truc_rules.positions.actions import CONTEST_CALLS, Action, Kind, plain_actions
from truc_rules.positions.match import (
    ContraflorAsk,
    EnvidoAsk,
    FlorRound,
    HandPhase,
    LastPointAsk,
    Match,
    Offer,
    RedealAsk,
    Saying,
    StakeAsk,
    Step,
)
from truc_rules.seats import Seat, seat_after
from truc_rules.tricks import PLAYING

# looked up once: a lookup in an Enum is costly in the engine's loops
_RAISE, _CONCEDE = Kind.RAISE, Kind.CONCEDE
_OF_A_CARD = frozenset({Kind.PLAY, Kind.COVER, Kind.BLIND})
_BESIDE_THE_STAKE = CONTEST_CALLS | {Kind.CLAIM, Kind.ORDER}
_WHATEVER_IS_OPEN = MappingProxyType(
    {Kind.ORDER: orders.give, Kind.CLAIM: claims.claim, Kind.SHOW: shows.show}
)


def deciders(match: Match) -> tuple[Seat, ...]:
    """Return the seats that hold the decision the hand waits for; a ruling is made for the first of them."""
    hand = match.hand
    if hand.offers:
        return _answerers(match, hand.offers[-1])
    if hand.phase is PLAYING:
        return (hand.row.to_act,)
    match hand.phase:
        case HandPhase.REDEAL:
            return (seat_after(match.dealer, match.seats),)
        case HandPhase.CUT:
            return (deals.cutter(match),)
        case HandPhase.COUNT:
            return (match.dealer,)
        case _:
            return ()


def deciders_in_view(match: Match) -> tuple[Seat, ...]:
    """Return the deciders that everybody can name: without those who may answer only by an undeclared flor."""
    offers, waiting = match.hand.offers, deciders(match)
    if not offers or not isinstance(offers[-1], ContraflorAsk):
        return waiting
    # a seat that may answer a contraflor without having declared holds a flor: naming it would reveal that
    return tuple(seat for seat in waiting if seat in match.hand.contests.flores)


def _answerers(match: Match, offer: Offer) -> tuple[Seat, ...]:
    match offer:
        case StakeAsk():
            return stakes.answerers(match, offer)
        case RedealAsk():
            return offer.waiting[:1]
        case LastPointAsk():
            return stakes.last_point_deciders(match, offer)
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


def legal(match: Match, seat: Seat) -> tuple[Action, ...]:
    """Return every action open to `seat`, in a fixed order."""
    hand, variant = match.hand, match.variant
    if not 0 <= seat < match.seats:
        return ()
    # in most games no other seat has anything to do then, so that no machine need be asked
    if variant.waits_its_turn and not hand.offers and hand.phase is PLAYING and hand.row.to_act != seat:
        return ()
    if hand.phase is not PLAYING:
        found = _besides_play(match, seat)
    elif hand.offers:
        found = _answers(match, seat, hand.offers[-1])
        if found and variant.accept == "implicit":
            found += tricks.accepting_cards(match, seat)
    else:
        found = tricks.turn_actions(match, seat)
        # rules.md 13b.6: never while an ask is open, which is declined instead
        if variant.concede != "vs_ask" and tricks.may_concede(match, seat):
            found += plain_actions(seat, _CONCEDE)
    return tuple(found) if variant.is_plain else (*found, *_beside_the_stake(match, seat))


def _beside_the_stake(match: Match, seat: Seat) -> tuple[Action, ...]:
    """Return the calls of side bets and the orders open to `seat`, whether or not an offer is open."""
    hand, variant = match.hand, match.variant
    found: tuple[Action, ...] = ()
    if hand.phase is PLAYING and variant.has_contests:
        if len(hand.row.left[seat]) == hand.dealt.each:  # rules.md 8.4, 8.6: before one's first card
            if not hand.contests.envido_closed:
                found = envido.calls(match, seat)
            # once one is declared, the others declare theirs in the round that it opened, as answers
            if variant.flor is not None and not hand.contests.flores:
                found += flor.declarations(match, seat)
        # rules.md 13b.4: a target has played its first card
        if variant.flor is not None and hand.row.last is not None:
            found += claims.actions(match, seat)
    return (*found, *orders.actions(match, seat)) if variant.has_orders else found


def _besides_play(match: Match, seat: Seat) -> list[Action]:
    """Return what `seat` may do before play and after it."""
    hand = match.hand
    if hand.offers:
        return _answers(match, seat, hand.offers[-1])
    match hand.phase:
        case HandPhase.REDEAL:
            conceded = plain_actions(seat, _CONCEDE) if tricks.may_concede(match, seat) else ()
            return [*deals.redeal_actions(match, seat), *conceded]
        case HandPhase.CUT:
            return [*deals.cut_actions(match, seat)]
        case HandPhase.COUNT:
            return [*deals.count_actions(match, seat)]
        case HandPhase.OVER:
            return [*shows.actions(match, seat)]
        case _:
            return []


def _answers(match: Match, seat: Seat, offer: Offer) -> list[Action]:
    match offer:
        case StakeAsk():
            return [*stakes.answers(match, seat, offer)]
        case RedealAsk():
            return [*deals.redeal_answers(seat, offer)]
        case LastPointAsk():
            return [*stakes.last_point_answers(seat, offer)]
        case EnvidoAsk():
            return [*envido.answers(match, seat, offer)]
        case FlorRound():
            return [*flor.round_answers(match, seat, offer)]
        case ContraflorAsk():
            return [*flor.answers(match, seat, offer)]
        case Saying():
            return [*saying.answers(match, seat, offer)]
        case _:
            assert_never(offer)


def attempt(match: Match, action: Action) -> Step | None:
    """Carry out `action`, or return None if `legal` does not yield it; a show may name its cards in any order."""
    return step(match, action) if _allows(match, action) else None


def _allows(match: Match, action: Action) -> bool:
    seat, kind, hand = action.seat, action.kind, match.hand
    if kind in _OF_A_CARD:
        return tricks.allows(match, action)
    if not 0 <= seat < match.seats:
        return False
    if kind is Kind.SHOW:
        return shows.allows(match, action)
    if kind in _BESIDE_THE_STAKE:  # a flor may be an answer too
        return action in (legal(match, seat) if hand.offers else _beside_the_stake(match, seat))
    # checked alone, as `legal` would also build every card with each stake that could be asked with it
    if kind is _RAISE and not hand.offers and hand.phase is PLAYING:
        return not action.cards and action.value in stakes.askable_stakes(match, seat)
    return action in (_answers(match, seat, hand.offers[-1]) if hand.offers else legal(match, seat))


def step(match: Match, action: Action) -> Step:
    """Carry out an action that `legal` yields."""
    hand, kind = match.hand, action.kind
    if kind in _OF_A_CARD:
        return tricks.play(match, action)
    if kind in _WHATEVER_IS_OPEN:
        return _WHATEVER_IS_OPEN[kind](match, action)
    if hand.offers and not (kind in CONTEST_CALLS and _comes_before(hand.offers[-1], kind)):
        return _answer(match, action, hand.offers[-1])
    return _begin(match, action)


def _comes_before(offer: Offer, kind: Kind) -> bool:
    """Tell whether a call does not answer `offer` but opens a contest that is decided before it (rules.md 8.2)."""
    # a flor answers a round of flores, an envido another envido; any other offer waits below the new contest
    return not isinstance(offer, FlorRound if kind is Kind.FLOR else EnvidoAsk)


def _begin(match: Match, action: Action) -> Step:
    hand, kind, value = match.hand, action.kind, action.value
    if kind is _RAISE and value is not None:
        return stakes.ask(hand, action.seat, value)
    if kind in CONTEST_CALLS:
        return flor.declare(match, action) if kind is Kind.FLOR else envido.call(match, action)
    match kind:
        case Kind.CONCEDE:
            return tricks.concede(match, action.seat)
        case Kind.CUT | Kind.TAP:
            return deals.cut(match, action)
        case Kind.DEAL:
            return deals.choose_count(match, action)
        case _:
            return deals.decide_redeal(match, action)


def _answer(match: Match, action: Action, offer: Offer) -> Step:
    match offer:
        case StakeAsk():
            return stakes.answer(match, action, offer)
        case RedealAsk():
            return deals.answer_redeal(match, action, offer)
        case LastPointAsk():
            return stakes.answer_last_point(match, action, offer)
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

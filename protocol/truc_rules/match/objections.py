"""Why a call beside the stake is refused: envido, flor, values, claims, orders, shows, covered and unseen cards.

Called only for an action that `legal` does not yield. Only the sender reads the text: it may name what the sender
holds, never what others hold.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import assert_never

from truc_rules.cards.seats import Seat, side_of
from truc_rules.contests import values
from truc_rules.positions.actions import Action, Kind
from truc_rules.positions.match import (
    ContestOffer,
    ContraflorAsk,
    EnvidoAsk,
    FlorRound,
    Match,
    Phase,
    Saying,
    governor,
    players,
)
from truc_rules.signs import orders

_TOO_LATE = "expected it before its first card"


def objection(match: Match, action: Action) -> str | None:
    """Return why a call of one of these kinds is refused; None if the action is of another kind."""
    answer = _OBJECTIONS.get(action.kind)
    return None if answer is None else answer(match, action)


def contest_named(offer: ContestOffer) -> str:
    """Return what is to be answered, in words."""
    match offer:
        case EnvidoAsk():
            return f"the call {offer.calls[-1]}"
        case FlorRound():
            return "the flor"
        case ContraflorAsk():
            return f"the call {offer.call}"
        case Saying():
            return f"the saying of {offer.contest} values"
        case _:
            assert_never(offer)


def _has_played(match: Match, seat: Seat) -> bool:
    return len(match.hand.row.left[seat]) < match.hand.dealt.each


def _to_envido(match: Match, action: Action) -> str:
    variant, hand = match.variant, match.hand
    if variant.envido is None:
        return f"there is no envido in {variant.name}"
    if hand.contests.flores:
        return "a flor has been declared"
    if hand.contests.envido_closed:
        return "envido is closed for this hand"
    if hand.bets.stake > variant.base_stake:
        return "a higher stake is accepted already"
    if _has_played(match, action.seat):
        return _TOO_LATE
    expected = "expected its turn, an ask to be answered, or a lower call"
    return expected if hand.bets.right else "there is no betting in this hand"


def _to_flor(match: Match, action: Action) -> str:
    variant, hand, seat = match.variant, match.hand, action.seat
    if variant.flor is None:
        return f"there is no flor in {variant.name}"
    if seat in hand.contests.flores:
        return "it has declared its flor"
    held = [card for card in hand.dealt.cards[seat] if card is not None]
    if len(held) == hand.dealt.each and not values.is_flor(variant, held):
        return "it holds no flor"
    if hand.contests.flor_closed:
        return "the flor contest is closed for this hand"
    if action.kind is not Kind.FLOR:
        return "expected an opponent's flor to answer"
    return _TOO_LATE if _has_played(match, seat) else "expected its turn, or a call to be answered"


def _to_value(match: Match, action: Action) -> str:
    offers = match.hand.offers
    if not offers or not isinstance(offers[-1], Saying):
        return "values are said after an envido or a flor contest was accepted"
    saying = offers[-1]
    if action.kind is not Kind.POINTS:
        return "a partner is neither best nor still to speak"
    if saying.best is not None and isinstance(action.value, int) and action.value <= saying.best[1]:
        return f"expected more than {saying.best[1]}, or another word"
    return "it does not hold that many points"


def _to_claim(match: Match, action: Action) -> str:
    flor, hand, target = match.variant.flor, match.hand, action.value
    if flor is None or not flor.claims:
        return f"no flor is claimed in {match.variant.name}"
    opponents = [seat for seat in players(hand.row, match.seats) if side_of(seat) != side_of(action.seat)]
    if action.seat not in players(hand.row, match.seats):
        return "it does not play in this duel"
    if target not in opponents:
        return f"expected an opponent, {' or '.join(map(str, opponents))}"
    if target in hand.contests.flores:
        return f"seat {target} has declared its flor"
    if any(claimed == target for _, claimed in hand.contests.claims):
        return f"a flor of seat {target} is claimed already"
    return f"expected seat {target} to have played its first card"


def _to_order(match: Match, action: Action) -> str:
    signals = match.variant.signals
    if signals is None or signals.orders == "none":
        return f"there are no orders in {match.variant.name}"
    if governor(match, side_of(action.seat)) != action.seat:
        return "only the governor of a side orders"
    if action.value not in orders.words(match.variant):
        return f"expected one of {', '.join(orders.words(match.variant))}"
    left, order = match.hand.row.left, match.hand.orders[side_of(action.seat)]
    if order is None or not left[orders.partner(match, action.seat)]:
        return "its partner has no card left"
    if order.given == orders.MOST_ORDERS:
        return f"its partner has had {orders.MOST_ORDERS} orders for this card"
    return "this order is in force already"


def _to_show(match: Match, action: Action) -> str:
    if match.variant.show == "none":
        return f"no cards are shown by choice in {match.variant.name}"
    over = match.hand.phase is Phase.OVER
    return "expected unplayed cards of its own" if over else "cards are shown when the hand is over"


def _to_cover(match: Match, action: Action) -> str:
    first = match.variant.cover_from_trick
    if not first:
        return f"no card is played face down in {match.variant.name}"
    if len(match.hand.row.tricks) + 1 < first:
        return f"no card is played face down before trick {first}"
    return "it does not hold that card"


def _to_blind(match: Match, action: Action) -> str:
    if not match.hand.dealt.blind:
        return "cards are played unseen only in a blind hand"
    return f"expected one of the slots {', '.join(map(str, match.hand.row.left[action.seat]))}"


_OBJECTIONS: Mapping[Kind, Callable[[Match, Action], str]] = MappingProxyType(
    {
        Kind.ENVIDO: _to_envido,
        Kind.REAL_ENVIDO: _to_envido,
        Kind.FALTA_ENVIDO: _to_envido,
        Kind.FLOR: _to_flor,
        Kind.FLOR_FOLD: _to_flor,
        Kind.CONTRAFLOR: _to_flor,
        Kind.CONTRAFLOR_REST: _to_flor,
        Kind.POINTS: _to_value,
        Kind.GOOD: _to_value,
        Kind.SILENT: _to_value,
        Kind.CLAIM: _to_claim,
        Kind.ORDER: _to_order,
        Kind.SHOW: _to_show,
        Kind.COVER: _to_cover,
        Kind.BLIND: _to_blind,
    }
)

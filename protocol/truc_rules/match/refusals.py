"""Why an action is refused, in the game's terms: what was expected, what came.

Called only for an action that `legal` does not yield. No text names a card that its reader may not know: cards held are
never listed. What is said of a call beside the stake only its sender reads: it may name what the sender holds.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import assert_never

from truc_rules.cards.packs import card_names
from truc_rules.cards.seats import Seat, seat_after, side_of
from truc_rules.contests import values
from truc_rules.errors import IllegalActionError, RefusalCode
from truc_rules.match import machines
from truc_rules.positions.actions import REST, Action, Kind
from truc_rules.positions.match import (
    ContestOffer,
    ContraflorAsk,
    EnvidoAsk,
    FlorRound,
    HandPhase,
    LastPointAsk,
    Match,
    RedealAsk,
    Saying,
    StakeAsk,
    governor,
    players,
)
from truc_rules.signs import orders
from truc_rules.stakes import stake

_WAITS = {
    HandPhase.CUT: "to cut or tap",
    HandPhase.COUNT: "to deal three cards or one",
    HandPhase.REDEAL: "to stand or propose a redeal",
    HandPhase.PLAY: "to play",
}
_OF_A_CARD = (Kind.PLAY, Kind.COVER, Kind.BLIND)
_AT_ANY_TIME = (Kind.CLAIM, Kind.ORDER, Kind.SHOW)
_NOBODY = {HandPhase.OVER: "the hand is over", HandPhase.DEAL: "the cards are not dealt yet"}


def refusal(match: Match, action: Action) -> IllegalActionError:
    """Return the error for an action that is not legal."""
    code, reason = _reason(match, action)
    return IllegalActionError(code, f"seat {action.seat} cannot {_said(match, action)}: {reason}")


def _said(match: Match, action: Action) -> str:
    pack = match.variant.pack
    words = [action.kind.value]
    if action.cards:
        known = all(card in range(len(pack)) for card in action.cards)
        words.append(card_names(pack, action.cards) if known else "a card outside the pack")
    if action.kind is Kind.RAISE:
        words.append("to")
    elif action.kind is Kind.PLAY and action.value is not None:
        words.append("and raise to")
    return " ".join(words if action.value is None else [*words, str(action.value)])


def _reason(match: Match, action: Action) -> tuple[RefusalCode, str]:
    seat, phase = action.seat, match.hand.phase
    if not 0 <= seat < match.seats:
        return "illegal_action", f"expected a seat of 0 to {match.seats - 1}"
    if phase in _NOBODY or action.kind in _AT_ANY_TIME:
        return "illegal_action", _why_not_at_all(match, action)
    waiting = machines.deciders(match)
    off_turn = match.variant.concede == "on_turn" and not match.hand.offers and seat not in waiting
    if action.kind is Kind.CONCEDE and not off_turn:
        return "illegal_action", _why_no_concession(match)
    if _is_late_ask(match, action):
        return "void_bet", "the next seat has played its card"
    if seat not in waiting:
        return "not_your_turn", f"expected {_seats(machines.deciders_in_view(match))} {_awaited(match)}"
    return "illegal_action", _why_not(match, action)


def _why_not_at_all(match: Match, action: Action) -> str:
    over = _NOBODY.get(match.hand.phase)
    reason = _objection(match, action) if over is None or action.kind is Kind.SHOW else over
    return reason or _NOBODY[HandPhase.OVER]


def _is_late_ask(match: Match, action: Action) -> bool:
    """Tell whether this is an ask after one's card that came too late: when the next card had been played."""
    seat, hand, side = action.seat, match.hand, side_of(action.seat)
    if action.kind is not Kind.RAISE or match.variant.ask_window != "ba" or hand.phase is not HandPhase.PLAY:
        return False
    if not _has_just_played(match, seat) or action.value not in stake.stakes_open(match, hand.bets, side):
        return False
    if hand.offers:  # the card that came between was played with an ask of its own
        offer = hand.offers[-1]
        return isinstance(offer, StakeAsk) and offer.side != side and offer.seat == hand.row.last
    return hand.row.to_act != seat


def _has_just_played(match: Match, seat: Seat) -> bool:
    """Tell whether a card of `seat` lies in the newest trick, or was the last before a card that has been led."""
    row = match.hand.row
    if row.last in (None, seat):
        return False
    if not row.table:
        return True
    places = range(0, len(row.table) * row.stride, row.stride)
    on_table = [seat_after(row.leader, match.seats, steps=place) for place in places]
    if len(on_table) > 1 or not row.tricks:
        return seat in on_table
    before = seat_after(row.tricks[-1].leader, match.seats, steps=match.seats - row.stride)
    return seat in (*on_table, before)


def _seats(seats: Sequence[Seat]) -> str:
    return " or ".join(f"seat {seat}" for seat in seats)


def _awaited(match: Match) -> str:
    offers = match.hand.offers
    return f"to answer {_asked(match)}" if offers else _WAITS[match.hand.phase]


def _asked(match: Match) -> str:
    offer = match.hand.offers[-1]
    match offer:
        case StakeAsk(stake="rest"):
            return "the ask for the remainder"
        case StakeAsk():
            return f"the ask for {offer.stake}"
        case RedealAsk():
            return "the proposed redeal"
        case LastPointAsk():
            return "whether its side plays at its last point"
        case _:
            return _contest_named(offer)


def _why_no_concession(match: Match) -> str:
    if match.hand.offers:
        return f"expected an answer to {_asked(match)} first"
    match match.variant.concede:
        case "vs_ask":
            return "a hand is given up only by declining an ask"
        case "on_turn":
            return "a hand is given up on one's turn to play"
        case "governor":
            return "a hand is given up by the governor of a side"
        case "any":
            dealt = match.hand.phase in (HandPhase.REDEAL, HandPhase.PLAY)
            return "it does not play in this duel" if dealt else "expected a hand whose cards are dealt"
        case _:
            assert_never(match.variant.concede)


def _why_not(match: Match, action: Action) -> str:
    hand = match.hand
    waits = bool(hand.offers) and action.kind in _OF_A_CARD
    if hand.phase is HandPhase.PLAY and not waits and (reason := _objection(match, action)) is not None:
        return reason
    if hand.offers and not (action.kind is Kind.RAISE and match.variant.raise_in_answer):
        return _why_no_answer(match, action)
    if hand.phase is not HandPhase.PLAY:
        return f"expected {_options(match, action.seat)}"
    match action.kind:
        case Kind.RAISE:
            return _why_no_ask(match, action)
        case Kind.PLAY:
            return _why_no_card(match, action)
        case _:
            return f"expected {_options(match, action.seat)}"


def _why_no_answer(match: Match, action: Action) -> str:
    offer = match.hand.offers[-1]
    if isinstance(offer, StakeAsk) and (action.kind is Kind.RAISE or action.kind in _OF_A_CARD):
        wanted = "the remainder" if offer.stake == REST else f"the stake {offer.stake}"
        return f"{wanted} is not accepted yet, expected {_options(match, action.seat)}"
    return f"expected {_options(match, action.seat)} in answer to {_asked(match)}"


def _why_no_ask(match: Match, action: Action) -> str:
    bets, seat = match.hand.bets, action.seat
    if match.hand.offers:
        return _why_no_raise(match, seat)
    if bets.locked is not None:
        return f"the stake is the whole {'game' if bets.locked == REST else 'trut'} already"
    if not bets.right:
        return "there is no betting in this hand any more"
    if side_of(seat) not in bets.right:
        return f"only side {bets.right[0]} may ask now"
    if seat in bets.offered and stake.stakes_open(match, bets, side_of(seat)):
        return "it has made the offer of this turn"
    return _expected_stakes(stake.asks(match, seat), bets.stake)


def _why_no_raise(match: Match, seat: Seat) -> str:
    offer = match.hand.offers[-1]
    if not isinstance(offer, StakeAsk) or isinstance(offer.stake, str):
        return f"expected {_options(match, seat)} in answer to {_asked(match)}"
    higher = [answer.value for answer in machines.legal(match, seat) if answer.kind is Kind.RAISE]
    return _expected_stakes(higher, offer.stake)


def _expected_stakes(stakes: Sequence[object], over: int) -> str:
    if not stakes:
        return f"no higher stake than {over} is left"
    return f"expected {' or '.join(map(str, stakes))} over the stake {over}"


def _why_no_card(match: Match, action: Action) -> str:
    if not any(
        play.cards == action.cards for play in machines.legal(match, action.seat) if play.kind is Kind.PLAY
    ):
        if match.hand.dealt.blind:
            return "the cards of this hand are played unseen"
        return _why_no_such_card(match, action)
    if match.variant.ask_window != "ba":
        return "an ask is made before one's card"
    ends = action.value in stake.asks(match, action.seat)
    return "the hand is decided by that card" if ends else _why_no_ask(match, action)


def _why_no_such_card(match: Match, action: Action) -> str:
    order = orders.binding(match, action.seat)
    held = match.hand.dealt.cards[action.seat]
    left = [held[slot] for slot in match.hand.row.left[action.seat]]
    ordered = order is not None and any(card in left for card in action.cards)
    return f"its governor ordered {order}" if ordered else "it does not hold that card"


def _options(match: Match, seat: Seat) -> str:
    """Name the kinds of moves open to `seat`; its cards are nobody else's business."""
    return " or ".join(dict.fromkeys(action.kind.value for action in machines.legal(match, seat)))


_TOO_LATE = "expected it before its first card"


def _objection(match: Match, action: Action) -> str | None:
    """Return why a call of one of these kinds is refused; None if the action is of another kind."""
    answer = _OBJECTIONS.get(action.kind)
    return None if answer is None else answer(match, action)


def _contest_named(offer: ContestOffer) -> str:
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
    over = match.hand.phase is HandPhase.OVER
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

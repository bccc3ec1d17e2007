"""Why an action is refused, in the game's terms: what was expected, what came.

Called only for an action that `legal` does not yield. No text names a card that its reader may not know: cards held are
never listed. What is said of a call beside the stake only its sender reads: it may name what the sender holds.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import assert_never

from truc_rules import machines, orders, stakes
from truc_rules.cards import card_names
from truc_rules.contests import values
from truc_rules.errors import BrokenRule, IllegalActionError, RefusalCode
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
from truc_rules.seats import Seat, seat_after, side_of

_WAITS = {
    HandPhase.CUT: "to cut or tap",
    HandPhase.COUNT: "to deal three cards or one",
    HandPhase.REDEAL: "to stand or propose a redeal",
    HandPhase.PLAY: "to play",
}
_OF_A_CARD = (Kind.PLAY, Kind.COVER, Kind.BLIND)
_AT_ANY_TIME = (Kind.CLAIM, Kind.ORDER, Kind.SHOW)
_NOT_DEALT = BrokenRule("not_dealt", "the cards are not dealt yet")
_NOBODY = {HandPhase.OVER: BrokenRule("hand_over", "the hand is over"), HandPhase.DEAL: _NOT_DEALT}
_NOT_HELD = BrokenRule("not_held", "it does not hold that card")
_NOT_IN_DUEL = BrokenRule("not_in_duel", "it does not play in this duel")


def refusal(match: Match, action: Action) -> IllegalActionError:
    """Return the error for an action that is not legal."""
    code, reason = _reason(match, action)
    return IllegalActionError(
        code, f"seat {action.seat} cannot {_said(match, action)}: {reason.text}", reason
    )


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


def _reason(match: Match, action: Action) -> tuple[RefusalCode, BrokenRule]:
    seat, phase = action.seat, match.hand.phase
    if not 0 <= seat < match.seats:
        return "illegal_action", BrokenRule("not_now", f"expected a seat of 0 to {match.seats - 1}")
    if phase in _NOBODY or action.kind in _AT_ANY_TIME:
        return "illegal_action", _why_not_at_all(match, action)
    waiting = machines.deciders(match)
    # where seats may concede on their turn, this one is merely out of turn; else it broke the rule on conceding
    off_turn = match.variant.concede == "on_turn" and not match.hand.offers and seat not in waiting
    if action.kind is Kind.CONCEDE and not off_turn:
        return "illegal_action", _why_no_concession(match)
    # rules.md 2, "Turn", and 13b.12: a seat that lost the race with the next card did nothing wrong
    if _is_late_ask(match, action):
        return "void_bet", BrokenRule("late_ask", "the next seat has played its card")
    if seat not in waiting:
        # not all deciders: that would tell the refused seat who holds an undeclared flor
        expected = f"expected {_seats(machines.deciders_in_view(match))} {_awaited(match)}"
        return "not_your_turn", BrokenRule("not_your_turn", expected)
    return "illegal_action", _why_not(match, action)


def _why_not_at_all(match: Match, action: Action) -> BrokenRule:
    over = _NOBODY.get(match.hand.phase)
    reason = _objection(match, action) if over is None or action.kind is Kind.SHOW else over
    return reason or _NOBODY[HandPhase.OVER]


def _is_late_ask(match: Match, action: Action) -> bool:
    """Tell whether this is an ask after one's card that came too late: when the next card had been played."""
    seat, hand, side = action.seat, match.hand, side_of(action.seat)
    if action.kind is not Kind.RAISE or match.variant.ask_window != "ba" or hand.phase is not HandPhase.PLAY:
        return False
    if not _has_just_played(match, seat) or action.value not in stakes.stakes_open(match, hand.bets, side):
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
        return True  # the trick that was just completed has a card of everybody who plays
    places = range(0, len(row.table) * row.stride, row.stride)
    on_table = [seat_after(row.leader, match.seats, steps=place) for place in places]
    if len(on_table) > 1 or not row.tricks:
        return seat in on_table
    # the seat that completed the previous trick could still ask until this card was led
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


def _why_no_concession(match: Match) -> BrokenRule:
    if match.hand.offers:
        return BrokenRule("answer_first", f"expected an answer to {_asked(match)} first")
    match match.variant.concede:
        case "vs_ask":
            return BrokenRule("concede_by_declining", "a hand is given up only by declining an ask")
        case "on_turn":
            return BrokenRule("concede_on_turn", "a hand is given up on one's turn to play")
        case "governor":
            return BrokenRule("concede_by_governor", "a hand is given up by the governor of a side")
        case "any":
            dealt = match.hand.phase in (HandPhase.REDEAL, HandPhase.PLAY)
            return _NOT_IN_DUEL if dealt else BrokenRule("not_dealt", "expected a hand whose cards are dealt")
        case _:
            assert_never(match.variant.concede)


def _why_not(match: Match, action: Action) -> BrokenRule:
    hand = match.hand
    # while an offer is open every card is refused alike: the offer has to be answered, unless a card does that
    waits = bool(hand.offers) and action.kind in _OF_A_CARD
    if hand.phase is HandPhase.PLAY and not waits and (reason := _objection(match, action)) is not None:
        return reason
    answers = (
        _cards_answer(match, action) if waits else action.kind is Kind.RAISE and match.variant.raise_in_answer
    )
    if hand.offers and not answers:
        return _why_no_answer(match, action)
    is_answer = action.kind in (Kind.ACCEPT, Kind.DECLINE)
    other = BrokenRule(
        "nothing_asked" if is_answer else "else_first", f"expected {_options(match, action.seat)}"
    )
    if hand.phase is not HandPhase.PLAY:
        return other
    match action.kind:
        case Kind.RAISE:
            return _why_no_ask(match, action)
        case Kind.PLAY:
            return _why_no_card(match, action)
        case _:
            return other


def _cards_answer(match: Match, action: Action) -> bool:
    """Tell whether a card alone would answer the newest offer."""
    legal = machines.legal(match, action.seat)
    return action.value is None and any(answer.kind is action.kind for answer in legal)


def _why_no_answer(match: Match, action: Action) -> BrokenRule:
    offer = match.hand.offers[-1]
    if isinstance(offer, StakeAsk) and (action.kind is Kind.RAISE or action.kind in _OF_A_CARD):
        wanted = "the remainder" if offer.stake == REST else f"the stake {offer.stake}"
        waits = f"{wanted} is not accepted yet, expected {_options(match, action.seat)}"
        return BrokenRule("answer_first", waits)
    return BrokenRule("answer_first", f"expected {_options(match, action.seat)} in answer to {_asked(match)}")


def _why_no_ask(match: Match, action: Action) -> BrokenRule:
    bets, seat = match.hand.bets, action.seat
    if match.hand.offers:
        return _why_no_raise(match, seat)
    if bets.locked is not None:
        whole = "game" if bets.locked == REST else "trut"
        return BrokenRule("all_at_stake", f"the stake is the whole {whole} already")
    if not bets.right:
        return BrokenRule("no_betting", "there is no betting in this hand any more")
    if side_of(seat) not in bets.right:
        return BrokenRule("their_ask", f"only side {bets.right[0]} may ask now")
    if seat in bets.offered and stakes.stakes_open(match, bets, side_of(seat)):
        return BrokenRule("asked_already", "it has made the offer of this turn")
    return _expected_stakes(stakes.askable_stakes(match, seat), bets.stake)


def _why_no_raise(match: Match, seat: Seat) -> BrokenRule:
    offer = match.hand.offers[-1]
    if not isinstance(offer, StakeAsk) or isinstance(offer.stake, str):
        return BrokenRule("answer_first", f"expected {_options(match, seat)} in answer to {_asked(match)}")
    higher = [answer.value for answer in machines.legal(match, seat) if answer.kind is Kind.RAISE]
    return _expected_stakes(higher, offer.stake)


def _expected_stakes(stakes: Sequence[object], over: int) -> BrokenRule:
    if not stakes:
        return BrokenRule("no_higher", f"no higher stake than {over} is left")
    return BrokenRule("other_stake", f"expected {' or '.join(map(str, stakes))} over the stake {over}")


def _why_no_card(match: Match, action: Action) -> BrokenRule:
    if not any(
        play.cards == action.cards for play in machines.legal(match, action.seat) if play.kind is Kind.PLAY
    ):
        if match.hand.dealt.blind:
            return BrokenRule("played_unseen", "the cards of this hand are played unseen")
        return _why_no_such_card(match, action)
    # the card alone is legal: what is refused is the ask that goes with it
    if match.variant.ask_window != "ba":
        return BrokenRule("ask_before_card", "an ask is made before one's card")
    ends = action.value in stakes.askable_stakes(match, action.seat)
    decided = BrokenRule("decided", "the hand is decided by that card")
    return decided if ends else _why_no_ask(match, action)


def _why_no_such_card(match: Match, action: Action) -> BrokenRule:
    order = orders.binding(match, action.seat)
    held = match.hand.dealt.cards[action.seat]
    left = [held[slot] for slot in match.hand.row.left[action.seat]]
    ordered = order is not None and any(card in left for card in action.cards)
    return BrokenRule("ordered", f"its governor ordered {order}") if ordered else _NOT_HELD


def _options(match: Match, seat: Seat) -> str:
    """Name the kinds of moves open to `seat`; its cards are nobody else's business."""
    return " or ".join(dict.fromkeys(action.kind.value for action in machines.legal(match, seat)))


_TOO_LATE = BrokenRule("after_first_card", "expected it before its first card")


def _objection(match: Match, action: Action) -> BrokenRule | None:
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


def _to_envido(match: Match, action: Action) -> BrokenRule:
    variant, hand = match.variant, match.hand
    if variant.envido is None:
        return BrokenRule("not_in_game", f"there is no envido in {variant.name}")
    if hand.contests.flores:
        return BrokenRule("flor_first", "a flor has been declared")
    if hand.contests.envido_closed:
        return BrokenRule("contest_closed", "envido is closed for this hand")
    if hand.bets.stake > variant.base_stake:
        return BrokenRule("late_envido", "a higher stake is accepted already")
    if _has_played(match, action.seat):
        return _TOO_LATE
    expected = BrokenRule("not_now", "expected its turn, an ask to be answered, or a lower call")
    return expected if hand.bets.right else BrokenRule("no_betting", "there is no betting in this hand")


def _to_flor(match: Match, action: Action) -> BrokenRule:
    variant, hand, seat = match.variant, match.hand, action.seat
    if variant.flor is None:
        return BrokenRule("not_in_game", f"there is no flor in {variant.name}")
    if seat in hand.contests.flores:
        return BrokenRule("flor_declared", "it has declared its flor")
    held = [card for card in hand.dealt.cards[seat] if card is not None]
    if len(held) == hand.dealt.each and not values.is_flor(variant, held, hand.dealt.up):
        return BrokenRule("no_flor", "it holds no flor")
    if hand.contests.flor_closed:
        return BrokenRule("contest_closed", "the flor contest is closed for this hand")
    if action.kind is not Kind.FLOR:
        return BrokenRule("no_flor_to_answer", "expected an opponent's flor to answer")
    expected = BrokenRule("not_now", "expected its turn, or a call to be answered")
    return _TOO_LATE if _has_played(match, seat) else expected


def _to_value(match: Match, action: Action) -> BrokenRule:
    offers = match.hand.offers
    if not offers or not isinstance(offers[-1], Saying):
        return BrokenRule("no_saying", "values are said after an envido or a flor contest was accepted")
    saying = offers[-1]
    if action.kind is not Kind.POINTS:
        return BrokenRule("not_silent", "a partner is neither best nor still to speak")
    if saying.best is not None and isinstance(action.value, int) and action.value <= saying.best[1]:
        return BrokenRule("too_few_points", f"expected more than {saying.best[1]}, or another word")
    return BrokenRule("not_your_points", "it does not hold that many points")


def _to_claim(match: Match, action: Action) -> BrokenRule:
    flor, hand, target = match.variant.flor, match.hand, action.value
    if flor is None or not flor.claims:
        return BrokenRule("not_in_game", f"no flor is claimed in {match.variant.name}")
    opponents = [seat for seat in players(hand.row, match.seats) if side_of(seat) != side_of(action.seat)]
    if action.seat not in players(hand.row, match.seats):
        return _NOT_IN_DUEL
    if target not in opponents:
        return BrokenRule("no_claim", f"expected an opponent, {' or '.join(map(str, opponents))}")
    if target in hand.contests.flores:
        return BrokenRule("no_claim", f"seat {target} has declared its flor")
    if any(claimed == target for _, claimed in hand.contests.claims):
        return BrokenRule("no_claim", f"a flor of seat {target} is claimed already")
    return BrokenRule("no_claim", f"expected seat {target} to have played its first card")


def _to_order(match: Match, action: Action) -> BrokenRule:
    signals = match.variant.signals
    if signals is None or signals.orders == "none":
        return BrokenRule("not_in_game", f"there are no orders in {match.variant.name}")
    if governor(match, side_of(action.seat)) != action.seat:
        return BrokenRule("not_governor", "only the governor of a side orders")
    if action.value not in orders.order_words(match.variant):
        return BrokenRule("no_order", f"expected one of {', '.join(orders.order_words(match.variant))}")
    left, order = match.hand.row.left, match.hand.orders[side_of(action.seat)]
    if order is None or not left[orders.partner(match, action.seat)]:
        return BrokenRule("no_order", "its partner has no card left")
    if order.given == orders.MOST_ORDERS:
        return BrokenRule("no_order", f"its partner has had {orders.MOST_ORDERS} orders for this card")
    return BrokenRule("no_order", "this order is in force already")


def _to_show(match: Match, action: Action) -> BrokenRule:
    if match.variant.show == "none":
        return BrokenRule("not_in_game", f"no cards are shown by choice in {match.variant.name}")
    over = match.hand.phase is HandPhase.OVER
    if over:
        return BrokenRule("not_held", "expected unplayed cards of its own")
    return BrokenRule("hand_not_over", "cards are shown when the hand is over")


def _to_cover(match: Match, action: Action) -> BrokenRule:
    first = match.variant.cover_from_trick
    if not first:
        return BrokenRule("not_in_game", f"no card is played face down in {match.variant.name}")
    if len(match.hand.row.tricks) + 1 < first:
        return BrokenRule("cover_later", f"no card is played face down before trick {first}")
    return _NOT_HELD


def _to_blind(match: Match, action: Action) -> BrokenRule:
    if not match.hand.dealt.blind:
        return BrokenRule("not_blind", "cards are played unseen only in a blind hand")
    slots = ", ".join(map(str, match.hand.row.left[action.seat]))
    return BrokenRule("not_held", f"expected one of the slots {slots}")


_OBJECTIONS: Mapping[Kind, Callable[[Match, Action], BrokenRule]] = MappingProxyType(
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

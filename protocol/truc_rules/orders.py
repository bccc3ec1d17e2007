"""Orders: a governor tells its partner what to play next (rules.md 6.4).

An order narrows the partner's choice of its next card. A later order replaces the earlier one.
"""

from functools import lru_cache

from truc_rules.cards import rank_of
from truc_rules.positions.actions import Action, Kind
from truc_rules.positions.events import OrderGiven
from truc_rules.positions.match import NO_ORDERS, HandPhase, Match, OrderInForce, Orders, Step, governor
from truc_rules.seats import Seat, side_of
from truc_rules.variants.variant import Variant

EXTREMES = LOW, HIGH, LEAVE = "low", "high", "leave"
"""What is ordered by strength instead of by rank."""
# an order ends no turn and restarts no clock, and its record is kept for good: nothing else bounds them
MOST_ORDERS = 16
"""How many orders a governor may give for one card of its partner."""
_CARDS_ARE_OUT = (HandPhase.PLAY, HandPhase.REDEAL)


def actions(match: Match, seat: Seat) -> tuple[Action, ...]:
    """Return the orders `seat` may give, where orders bind: at any time while its partner still holds a card."""
    hand = match.hand
    if hand.phase not in _CARDS_ARE_OUT or governor(match, side_of(seat)) != seat:
        return ()
    if not hand.row.left[partner(match, seat)]:
        return ()
    order = hand.orders[side_of(seat)]
    if order is None:
        return _every_order(seat, order_words(match.variant), None)
    return () if order.given == MOST_ORDERS else _every_order(seat, order_words(match.variant), order.word)


@lru_cache(maxsize=1024)
def _every_order(seat: Seat, ordered: tuple[str, ...], standing: str | None) -> tuple[Action, ...]:
    # to repeat the order that stands would say nothing
    return tuple(Action(seat, Kind.ORDER, (), word) for word in ordered if word != standing)


def order_words(variant: Variant) -> tuple[str, ...]:
    """Return what can be ordered: every rank of the pack, low, high, leave."""
    return (*variant.ranks, *EXTREMES)


def partner(match: Match, seat: Seat) -> Seat:
    """Return the seat opposite `seat`, which takes its orders."""
    return Seat((seat + match.seats // 2) % match.seats)


def give(match: Match, action: Action) -> Step:
    """Give an order in place of the one before it."""
    word, side, before = str(action.value), side_of(action.seat), match.hand.orders
    replaced = before[side]
    order = OrderInForce(word, 1 if replaced is None else replaced.given + 1)
    given = (order, before[1]) if side == 0 else (before[0], order)
    return match.hand._replace(orders=given), (OrderGiven(action.seat, word),)


def binding(match: Match, seat: Seat) -> str | None:
    """Return the order that `seat` is under."""
    order = match.hand.orders[side_of(seat)]
    return None if order is None or governor(match, side_of(seat)) == seat else order.word


def carried_out(match: Match, seat: Seat) -> Orders:
    """Return the orders in force after `seat` has played a card: the one that it was under is used up."""
    ours, theirs = match.hand.orders
    if binding(match, seat) is None:
        return match.hand.orders
    stand = (None, theirs) if side_of(seat) == 0 else (ours, None)
    return NO_ORDERS if stand == NO_ORDERS else stand


def open_slots(match: Match, seat: Seat) -> tuple[int, ...]:
    """Return the slots that `seat` may play from, under its order; all of them if one of its cards is unknown here."""
    left, order = match.hand.row.left[seat], binding(match, seat)
    if order is None:
        return left
    dealt, variant = match.hand.dealt, match.variant
    held = dealt.cards[seat]
    cards = {slot: card for slot in left if (card := held[slot]) is not None}
    # what the order allows depends on cards unknown here: C25 plays the hand again with all of them
    if len(cards) < len(left):
        return left
    if order not in EXTREMES:
        fitting = tuple(slot for slot in left if rank_of(variant.pack[cards[slot]]) == order)
        # rules.md 13b.8: not refused if it cannot be followed, which would tell what the partner lacks
        return fitting or left
    strengths = variant.strengths_by_turn_up[dealt.up[0]] if dealt.up else variant.strengths
    extreme = (max if order == HIGH else min)(strengths[card] for card in cards.values())
    return tuple(slot for slot in left if strengths[cards[slot]] == extreme)

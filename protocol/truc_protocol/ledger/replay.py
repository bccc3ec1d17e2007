"""What the rules are told: one move, or a whole hand again with the cards that are known by now.

A reader knows few cards, and the rules accept what the unknown ones might allow; so what a reader has during a hand is
a reading of it, not a proof. `replayed` is the proof, as far as the cards given to it reach: with all of them it is
complete.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from truc_protocol.bodies import Deal
from truc_protocol.ledger.state import Events, HandLog, LoggedMove
from truc_rules import (
    Action,
    Card,
    Event,
    Kind,
    Match,
    MatchError,
    Seat,
    apply,
    apply_ruled,
    awaits_deal,
    deal,
    deciders,
    is_hand_over,
    leaves_open,
    legal,
    lowest_slot,
    ruled,
    side_of,
    with_known_card,
    without_unknown_flor,
)

_OF_A_CARD: Final = (Kind.PLAY, Kind.COVER, Kind.BLIND)
Applied = tuple[Match, Events]
Hands = Sequence[Sequence[Card | None]]


def apply_logged(match: Match, step: LoggedMove) -> Applied:
    """Apply a move of the log by the rules, with the card that was played covered if it is known.

    Raises:
        RulesError: They refuse it.
    """
    action = with_known_card(match, step.action)
    return _apply_ruling(match, action) if step.ruled else apply(match, action)


def _apply_ruling(match: Match, action: Action) -> Applied:
    for reading, before in readings(match):
        if action == ruled(reading):
            after, events = apply_ruled(reading, action)
            return after, before + events
        if _may_be_ruled(reading, action):
            after, events = apply(reading, action)
            return after, before + events
    raise MatchError("expected the ruling on this state, with its card known")


def readings(match: Match) -> Iterator[Applied]:
    """Yield the state and, if it waits for unknown cards, the one in which they decide nothing, each with its events."""
    # the state as it stands first: a ruling that continues a flor contest must not close it
    yield match, ()
    closed, events = without_unknown_flor(match)
    if closed is not match:
        yield closed, events


def _may_be_ruled(match: Match, action: Action) -> bool:
    """Tell whether unknown cards may make this the ruling, though by the known ones it would be another."""
    fixed = ruled(match)
    # what unknown cards leave open is the seat or the card, never an ask or a value
    if fixed is None or fixed.kind is not action.kind or action.value is not None:
        return False
    return can_differ(match, action.seat, action.kind) and action in legal(match, action.seat)


def can_differ(match: Match, seat: Seat, kind: Kind) -> bool:
    """Tell whether the seat, or the slot, of a ruling of this kind depends on unknown cards."""
    if kind is Kind.PLAY:
        # the ruled card is the lowest that the order allows, and what it allows depends on the seat's cards
        row, held = match.hand.row, match.hand.dealt.cards[seat]
        under_order = match.hand.orders[side_of(seat)] is not None
        return seat in deciders(match) and under_order and any(held[slot] is None for slot in row.left[seat])
    # whoever holds a flor has to say so: who is to speak next depends on who has one
    return kind in (Kind.FLOR, Kind.GOOD)


def may_rule(match: Match, action: Action, slot: int | None) -> bool:
    """Tell, before a card is opened, whether this can be the ruling, by its seat, its kind and the slot it plays."""
    fixed = ruled(match)
    if fixed is None or fixed.kind is not action.kind:
        return False
    differs = can_differ(match, action.seat, action.kind)
    if fixed.seat != action.seat and not differs:
        return False
    if action.kind is Kind.PLAY:
        return slot == lowest_slot(match, action.seat) or (
            differs and slot in match.hand.row.left[action.seat]
        )
    return fixed.value == action.value


def is_unsure(match: Match) -> bool:
    """Tell whether unknown cards may change the score."""
    if match.variant.flor is None:
        # an envido that the cards settle when the hand is over (rules.md 18.4)
        return _waits_for_cards(match)
    # a flor scores by being held, said or not (rules.md 8.6)
    return any(card is None for cards in match.hand.dealt.cards for card in cards)


def _waits_for_cards(match: Match) -> bool:
    """Tell whether the hand is over, and cards unknown here settle a bet of it."""
    return is_hand_over(match) and leaves_open(match, match.hand)


def hangs_on_cards(match: Match, seat: Seat, kind: str) -> bool:
    """Tell whether cards unknown here may decide if the rules allow a seat of the open hand a decision of this kind.

    What else a seat decides, everybody can judge at once.
    """
    if awaits_deal(match) or all(card is not None for cards in match.hand.dealt.cards for card in cards):
        return False
    under_order = match.hand.orders[side_of(seat)] is not None
    # specification.md 8, "Unknown cards": a flor that is held may have ended the game, a value is that of the
    # seat's own cards, and an order forbids some of them
    if match.variant.flor is not None or kind == Kind.POINTS or (under_order and kind in _OF_A_CARD):
        return True
    # an envido that the cards settle may have ended the game, too
    return _waits_for_cards(match)


def known_hands(log: HandLog, match: Match) -> tuple[Hands, ...]:
    """Return the cards of each deal by seat and slot, as far as `match` knows them: those of its newest deal."""
    # new cards are granted before any card is played, so of the deals before the newest none has been opened
    unknown = tuple(tuple((None,) * len(leaves) for leaves in body.leaves) for body in log.deals)
    return unknown if awaits_deal(match) else (*unknown[:-1], match.hand.dealt.cards)


def replayed(log: HandLog, hands: Sequence[Hands]) -> Applied:
    """Play a hand again from its start, and return all that happens; `hands` are the cards of each deal.

    Raises:
        RulesError: The rules refuse a move.
    """
    waiting = iter(zip(log.deals, hands, strict=True))
    match, happened = _dealt(log.start, waiting)
    for step in log.steps:
        match, events = apply_logged(match, step)
        happened += events
        if awaits_deal(match):
            match, events = _dealt(match, waiting)
            happened += events
    # no further record of the hand continues a flor contest that only unknown cards could
    match, events = without_unknown_flor(match)
    return match, happened + events


def _dealt(match: Match, waiting: Iterator[tuple[Deal, Hands]]) -> Applied:
    newest = next(waiting, None)
    # new cards are granted, and the match ended before they came
    if newest is None:
        return match, ()
    body, cards = newest
    return deal(match, cards, tuple(Card(card) for card in body.up))


def untold(happened: Events, told: Events) -> Events:
    """Return what happened and has not been told, in its order; what can happen twice may have been told once."""
    # with their types: two kinds of event with equal fields are equal tuples
    left = Counter((type(event), event) for event in told)
    found: list[Event] = []
    for event in happened:
        if left[type(event), event]:
            left[type(event), event] -= 1
        else:
            found.append(event)
    return tuple(found)

"""Showing by choice: a seat opens unplayed cards of its own when the hand is over (rules.md 13b.14)."""

from itertools import combinations

from truc_rules.cards.packs import Card
from truc_rules.cards.seats import Seat
from truc_rules.positions.actions import Action, Kind
from truc_rules.positions.events import CardsShown
from truc_rules.positions.match import Match, Phase, Step, with_dealt


def actions(match: Match, seat: Seat) -> tuple[Action, ...]:
    """Return every choice of unplayed cards that `seat` may show."""
    hand = match.hand
    if match.variant.show == "none" or hand.phase is not Phase.OVER or not hand.dealt.cards:
        return ()
    cards = _hidden(match, seat)
    return tuple(
        Action(seat, Kind.SHOW, chosen)
        for size in range(1, len(cards) + 1)
        for chosen in combinations(cards, size)
    )


def _hidden(match: Match, seat: Seat) -> tuple[Card, ...]:
    dealt, left = match.hand.dealt, match.hand.row.left[seat]
    held = (dealt.cards[seat][slot] for slot in left)
    return tuple(card for card in held if card is not None and (seat, card) not in dealt.shown)


def allows(match: Match, action: Action) -> bool:
    """Tell whether a show is among `actions`, its cards in any order."""
    if not match.hand.dealt.cards:
        return False
    in_order = tuple(card for card in _hidden(match, action.seat) if card in action.cards)
    return len(in_order) == len(action.cards) and Action(action.seat, Kind.SHOW, in_order) in actions(
        match, action.seat
    )


def show(match: Match, action: Action) -> Step:
    """Show cards."""
    hand = match.hand
    shown = (*hand.dealt.shown, *((action.seat, card) for card in action.cards))
    return with_dealt(hand, hand.dealt._replace(shown=shown)), (CardsShown(action.seat, action.cards),)

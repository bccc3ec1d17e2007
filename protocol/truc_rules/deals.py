"""Cards in and out of a hand: the deal, cards learnt later, and the slot a card came from."""

from collections.abc import Sequence

from . import events, lastpoint, redeal
from .actions import Action
from .cards import Card
from .errors import CardError, MatchError
from .seats import Seat
from .state import Dealt, Hand, Phase, Step
from .table import Match
from .variant import Variant

Hands = Sequence[Sequence[Card | None]]


def turn_count(variant: Variant) -> int:
    """Return how many cards the rules turn up with the first deal; no machine here turns any up."""
    return 0


def deal_cards(match: Match, hands: Hands, turn: Sequence[Card]) -> Step:
    """Give every seat its cards and begin what comes before the lead.

    Raises:
        MatchError: The hand does not wait for cards.
        CardError: A wrong number of cards, or a card that is not in the pack or comes twice.
    """
    hand = match.hand
    if hand.phase is not Phase.DEAL:
        raise MatchError(f"expected a hand that waits for cards, got one in phase {hand.phase.name.lower()}")
    _check(match, hands, turn)
    cards = tuple(tuple(seat_cards) for seat_cards in hands)
    count, old = hand.dealt.each, hand.dealt
    left = (tuple(range(count)),) * match.seats
    dealt = Dealt(count, old.taken + match.seats * count, old.redeals, old.thrown, cards, left)
    told = events.Dealt(count)
    if redeal.possible(match, dealt):
        return Hand(Phase.REDEAL, dealt, hand.row, hand.bets, (), None), (told,)
    begun, further = lastpoint.begin(match, Hand(Phase.PLAY, dealt, hand.row, hand.bets, (), None))
    return begun, (told, *further)


def _check(match: Match, hands: Hands, turn: Sequence[Card]) -> None:
    pack, count = match.variant.pack, match.hand.dealt.each
    if len(hands) != match.seats or any(len(cards) != count for cards in hands):
        sizes = [len(cards) for cards in hands]
        raise CardError(f"expected {count} cards for each of {match.seats} seats, got {sizes}")
    if len(turn) != turn_count(match.variant):
        raise CardError(f"expected no card to be turned up, got {len(turn)}")
    seen = set(match.hand.dealt.thrown)
    for card in (card for cards in hands for card in cards if card is not None):
        if not 0 <= card < len(pack):
            raise CardError(f"expected a card of 0 to {len(pack) - 1}, got {card}")
        if card in seen:
            raise CardError(f"expected every card once in a hand, got {pack[card]} again")
        seen.add(card)


def with_card_known(match: Match, seat: Seat, slot: int, card: Card) -> Hand:
    """Return the hand in which `seat` holds `card` in `slot`.

    Raises:
        CardError: Another card stands there, or `card` stands elsewhere, or there is no such slot or card.
    """
    hand, pack = match.hand, match.variant.pack
    dealt = hand.dealt
    if not (0 <= seat < len(dealt.cards) and 0 <= slot < dealt.each and 0 <= card < len(pack)):
        raise CardError(
            f"expected a slot and a card of this deal, got slot {slot} of seat {seat} and card {card}"
        )
    held = dealt.cards[seat][slot]
    if held == card:
        return hand
    if held is not None:
        raise CardError(f"expected {pack[held]} in slot {slot} of seat {seat}, got {pack[card]}")
    if card in dealt.thrown or any(card in cards for cards in dealt.cards):
        raise CardError(
            f"expected every card once in a hand, got {pack[card]} again in slot {slot} of seat {seat}"
        )
    mine = dealt.cards[seat]
    cards = (*dealt.cards[:seat], (*mine[:slot], card, *mine[slot + 1 :]), *dealt.cards[seat + 1 :])
    known = Dealt(dealt.each, dealt.taken, dealt.redeals, dealt.thrown, cards, dealt.left)
    return Hand(hand.phase, known, hand.row, hand.bets, hand.offers, hand.winner)


def slot_of(match: Match, action: Action) -> int:
    """Return the slot, in its seat's deal, of the card `action` plays.

    Raises:
        CardError: The seat is not known to hold that card.
    """
    cards = match.hand.dealt.cards
    if (
        len(action.cards) != 1
        or not 0 <= action.seat < len(cards)
        or action.cards[0] not in cards[action.seat]
    ):
        raise CardError(
            f"expected one card that seat {action.seat} is known to hold, got {list(action.cards)}"
        )
    return cards[action.seat].index(action.cards[0])


def lowest_slot(match: Match, seat: Seat) -> int:
    """Return the lowest slot of `seat` that has not been played.

    Raises:
        CardError: It has no card left.
    """
    left = match.hand.dealt.left
    if not 0 <= seat < len(left) or not left[seat]:
        raise CardError(f"expected a seat with a card left, got seat {seat}")
    return left[seat][0]

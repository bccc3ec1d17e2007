"""Cards in and out of a hand: the deal, cards learnt later, and the slot a card came from."""

from collections.abc import Iterable, Sequence
from itertools import chain

from truc_rules.cards.packs import Card
from truc_rules.cards.seats import Seat
from truc_rules.deals import pica, redeal
from truc_rules.errors import CardError, MatchError
from truc_rules.positions import events
from truc_rules.positions.actions import Action, Kind
from truc_rules.positions.match import Hand, HandCards, HandPhase, Match, Row, Step
from truc_rules.signs import orders
from truc_rules.stakes import last_point

_COVER = Kind.COVER  # looked up once: a lookup in an Enum is costly in the engine's loops
Hands = Sequence[Sequence[Card | None]]
KnownCard = tuple[Seat, int, Card]
"""A seat, one of its slots, and the card that it holds there."""


def deal_cards(match: Match, hands: Hands, turn: Sequence[Card]) -> Step:
    """Give every seat its cards and begin what comes before the lead.

    Raises:
        MatchError: The hand does not wait for cards.
        CardError: A wrong number of cards, or a card that is not in the pack or comes twice.
    """
    hand = match.hand
    if hand.phase is not HandPhase.DEAL:
        raise MatchError(f"expected a hand that waits for cards, got one in phase {hand.phase.name.lower()}")
    _check(match, hands, turn)
    dealt = _dealt(match, hands, turn)
    old = hand.row
    left = (tuple(range(dealt.each)),) * match.seats
    row = Row(old.eldest, old.stride, old.leader, old.leader, (), (), None, left)
    told = (events.Dealt(dealt.each), *map(events.TurnedUp, dealt.up), *pica.begun(row, match.seats))
    with_cards = Hand(
        HandPhase.REDEAL, dealt, row, hand.bets, (), None, hand.contests, hand.orders, hand.proven
    )
    if redeal.may_propose(match, dealt):
        return with_cards, told
    begun, further = last_point.begin(match, with_cards)
    return begun, (*told, *further)


def _dealt(match: Match, hands: Hands, turn: Sequence[Card]) -> HandCards:
    before = match.hand.dealt
    taken = before.taken + match.seats * before.each + len(turn)
    return before._replace(taken=taken, cards=tuple(map(tuple, hands)), up=tuple(turn) or before.up)


def _check(match: Match, hands: Hands, turn: Sequence[Card]) -> None:
    pack, count = match.variant.pack, match.hand.dealt.each
    if len(hands) != match.seats or any(len(cards) != count for cards in hands):
        sizes = [len(cards) for cards in hands]
        raise CardError(f"expected {count} cards for each of {match.seats} seats, got {sizes}")
    expected = 0 if match.hand.dealt.redeals else match.variant.turn_count
    if len(turn) != expected:
        raise CardError(f"expected {expected} cards to be turned up, got {len(turn)}")
    seen = set(match.hand.dealt.thrown)
    for card in (card for cards in (turn, *hands) for card in cards if card is not None):
        if not 0 <= card < len(pack):
            raise CardError(f"expected a card of 0 to {len(pack) - 1}, got {card}")
        if card in seen:
            raise CardError(f"expected every card once in a hand, got {pack[card]} again")
        seen.add(card)


def with_cards_known(match: Match, known: Iterable[KnownCard]) -> Hand:
    """Return the hand in which these cards are known to be in these slots.

    Raises:
        CardError: A slot holds another card, a card is elsewhere, or there is no such slot or card.
    """
    hand, pack = match.hand, match.variant.pack
    dealt = hand.dealt
    cards: Sequence[Sequence[Card | None]] = dealt.cards
    learnt: list[list[Card | None]] = []
    out: set[Card | None] = set()
    seats, each, size = len(cards), dealt.each, len(pack)
    for seat, slot, card in known:
        if not (0 <= seat < seats and 0 <= slot < each and 0 <= card < size):
            raise CardError(
                f"expected a slot and a card of this deal, got slot {slot} of seat {seat} and card {card}"
            )
        held = cards[seat][slot]
        if held == card:
            continue
        if held is not None:
            raise CardError(f"expected {pack[held]} in slot {slot} of seat {seat}, got {pack[card]}")
        if not learnt:
            cards = learnt = [list(mine) for mine in dealt.cards]
            out = {*dealt.thrown, *dealt.up, *chain.from_iterable(learnt)}
        if card in out:
            raise CardError(
                f"expected every card once in a hand, got {pack[card]} again in slot {slot} of seat {seat}"
            )
        learnt[seat][slot] = card
        out.add(card)
    return hand._replace(dealt=dealt._replace(cards=tuple(map(tuple, learnt)))) if learnt else hand


def named(match: Match, action: Action) -> Action:
    """Return the play of a card face down with the card in it, if that is known here; other actions unchanged."""
    if action.kind is not _COVER:
        return action
    slot, cards = action.value, match.hand.dealt.cards
    if not isinstance(slot, int) or not 0 <= action.seat < len(cards):
        return action
    card = cards[action.seat][slot] if 0 <= slot < len(cards[action.seat]) else None
    return action if card is None else Action(action.seat, Kind.COVER, (card,))


def lowest_slot(match: Match, seat: Seat) -> int:
    """Return the lowest slot that `seat`, which has a card left, may play from."""
    return orders.open_slots(match, seat)[0]


def is_blind(match: Match) -> bool:
    """Tell whether nobody sees a card of this hand before it is played."""
    return match.hand.dealt.blind

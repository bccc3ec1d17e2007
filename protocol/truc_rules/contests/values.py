"""What cards are worth in the side bets, and who holds a flor as far as the cards are known here.

A card that is unknown may be any card: a seat whose known cards decide it holds a flor or not, any other may hold one.
A contest is never stuck behind seats that only may: the next seat that surely holds one may speak, and those before it
have none. Who may say a value, and when, is in saying.py.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations

from truc_rules.cards import CARDS_EACH, Card, rank_of
from truc_rules.positions.match import Hand, Match, players
from truc_rules.seats import Seat
from truc_rules.variants.variant import PAIRED, Variant

TurnUpCard = tuple[Card, ...]
"""The card turned up, where there is one: pieces are of its suit, and count as of any (rules.md 17.4)."""


def envido_value(variant: Variant, cards: Sequence[Card], up: TurnUpCard = ()) -> int:
    """Return what `cards` are worth in envido: the best two of one suit, else the highest single card."""
    suits, numbers = (
        variant.counts_by_turn_up[up[0]] if variant.counts_by_turn_up else (variant.suits, variant.numbers)
    )
    best = max(numbers[card] for card in cards)
    for one, other in combinations(cards, 2):
        # rules.md 17.4: a piece has suit "" here, and goes with any
        if suits[one] == suits[other] or not (suits[one] and suits[other]):
            best = max(best, PAIRED + numbers[one] + numbers[other])
    return best


def envido_cards(variant: Variant, cards: Sequence[Card], up: TurnUpCard = ()) -> tuple[Card, ...]:
    """Return the two cards, or the one, that make the envido value; among equals those given first."""
    value = envido_value(variant, cards, up)
    made = (*((card,) for card in cards), *combinations(cards, 2))
    return next(chosen for chosen in made if envido_value(variant, chosen, up) == value)


def is_flor(variant: Variant, cards: Sequence[Card], up: TurnUpCard = ()) -> bool:
    """Tell whether `cards` are a flor; fewer than three never are."""
    return len(cards) == CARDS_EACH and may_be_flor(variant, cards, up)


def may_be_flor(variant: Variant, cards: Sequence[Card | None], up: TurnUpCard = ()) -> bool:
    """Tell whether three cards may be a flor; one that is unknown here might be any card."""
    suits, suit = variant.counts_by_turn_up[up[0]][0] if variant.counts_by_turn_up else variant.suits, None
    for card in cards:
        # rules.md 17.5: a piece goes with any suit, and an unknown card might be of any
        if card is None or not suits[card]:
            continue
        if suit is None:
            suit = suits[card]
        elif suits[card] != suit:
            return False
    return variant.flor is None or variant.flor.kind == "suit" or _may_follow(variant.pack, cards)


def _may_follow(pack: tuple[str, ...], cards: Sequence[Card | None]) -> bool:
    """Tell whether cards of one suit can belong to one run of three."""
    places = [_places(pack)[card] for card in cards if card is not None]
    return not places or max(places) - min(places) < CARDS_EACH


@lru_cache(maxsize=64)
def _places(pack: tuple[str, ...]) -> tuple[int, ...]:
    """Return each card's place in its suit, by card: numbers ascend, other ranks stand as in the pack."""
    ranks = list(dict.fromkeys(map(rank_of, pack)))
    if all(rank.isdecimal() for rank in ranks):
        ranks.sort(key=int)
    return tuple(ranks.index(rank_of(name)) for name in pack)


def flor_value(variant: Variant, cards: Sequence[Card], up: TurnUpCard = ()) -> int:
    """Return what a flor is worth: 20 and all its numbers, and where that is the rule 20 for each piece but one."""
    suits, numbers = (
        variant.counts_by_turn_up[up[0]] if variant.counts_by_turn_up else (variant.suits, variant.numbers)
    )
    value = PAIRED + sum(numbers[card] for card in cards)
    if variant.flor is None or not variant.flor.reserved:
        return value
    # rules.md 19.5: both pieces and a third card, 30 + 29 + its number
    return value + PAIRED * max(sum(not suits[card] for card in cards) - 1, 0)


def may_hold(match: Match, hand: Hand, seat: Seat) -> bool:
    """Tell whether `seat` holds a flor, or might because one of its cards is unknown."""
    return may_be_flor(match.variant, hand.dealt.cards[seat], hand.dealt.up)


def holds(match: Match, hand: Hand, seat: Seat) -> bool:
    """Tell whether `seat` is known to hold a flor."""
    cards = hand.dealt.cards[seat]
    return None not in cards and may_be_flor(match.variant, cards, hand.dealt.up)


def unheard(match: Match, hand: Hand) -> tuple[Seat, ...]:
    """Return, from eldest, the seats that must or may have to declare a flor: they have neither played nor declared."""
    order = players(hand.row, match.seats)
    quiet = [seat for seat in order if seat not in hand.contests.flores and may_hold(match, hand, seat)]
    return tuple(seat for seat in quiet if len(hand.row.left[seat]) == hand.dealt.each)


def is_sure(match: Match, seat: Seat) -> bool:
    """Tell whether `seat` declared a flor, or is known to hold one."""
    return seat in match.hand.contests.flores or holds(match, match.hand, seat)


def has_turn(match: Match, waiting: tuple[Seat, ...], seat: Seat) -> bool:
    """Tell whether `seat` is the next of `waiting` to speak: nobody before it surely holds a flor."""
    for other in waiting:
        if other == seat:
            return True
        if is_sure(match, other):
            return False
    return False

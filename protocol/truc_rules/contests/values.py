"""What cards are worth in the side bets: envido values, flores and their values, as functions of cards alone.

Who may say a value, and when, is in saying.py. A card that is unknown here may be any card.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import Final

from truc_rules.cards.packs import CARDS_EACH, Card, rank_of
from truc_rules.variants.variant import Variant

_PAIRED: Final = 20
"""What two cards of one suit count for besides their numbers, and the three of a flor."""

ENVIDO_VALUES: Final = (*range(8), *range(20, 34))
"""Every value a hand can have in envido (rules.md 8.4)."""
FLOR_VALUES: Final = tuple(range(20, 39))
"""Every value a flor can have (rules.md 8.6)."""


def envido_value(variant: Variant, cards: Sequence[Card]) -> int:
    """Return what `cards` are worth in envido: the best two of one suit, else the highest single card."""
    suits, numbers = variant.suits, variant.numbers
    best = max(numbers[card] for card in cards)
    for one, other in combinations(cards, 2):
        if suits[one] == suits[other]:
            best = max(best, _PAIRED + numbers[one] + numbers[other])
    return best


def envido_cards(variant: Variant, cards: Sequence[Card]) -> tuple[Card, ...]:
    """Return the two cards, or the one, that make the envido value; among equals those given first."""
    value = envido_value(variant, cards)
    made = (*((card,) for card in cards), *combinations(cards, 2))
    return next(chosen for chosen in made if envido_value(variant, chosen) == value)


def is_flor(variant: Variant, cards: Sequence[Card]) -> bool:
    """Tell whether `cards` are a flor; fewer than three never are."""
    return len(cards) == CARDS_EACH and may_be_flor(variant, cards)


def may_be_flor(variant: Variant, cards: Sequence[Card | None]) -> bool:
    """Tell whether three cards may be a flor; one that is unknown here might be any card."""
    suits, suit = variant.suits, None
    for card in cards:
        if card is None:
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


def flor_value(variant: Variant, cards: Sequence[Card]) -> int:
    """Return what a flor is worth: 20 and all its numbers."""
    return _PAIRED + sum(variant.numbers[card] for card in cards)

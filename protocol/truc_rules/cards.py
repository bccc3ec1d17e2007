"""Cards: packs as lists of names, and the strength of every card of a pack.

A card is its index in the variant's pack. Its name is its rank and a suit letter, `7e` or `Kh`. Strength is a plain
number in which equal cards tie; suits count only where an order names single cards.
"""

from collections.abc import Iterable, Sequence
from typing import NewType

from .errors import CardError, VariantError

Card = NewType("Card", int)

SPANISH_SUITS = "oceb"
FRENCH_SUITS = "shdc"


def pack_of(ranks: str, suits: str) -> tuple[str, ...]:
    """Return the names of all cards with these ranks (words) and suits (letters)."""
    return tuple(rank + suit for suit in suits for rank in ranks.split())


def card_named(pack: Sequence[str], name: str) -> Card:
    """Return the card called `name`.

    Raises:
        CardError: The pack has no such card.
    """
    try:
        return Card(pack.index(name))
    except ValueError:
        raise CardError(f"expected a card of the pack, such as {pack[0]}, got {name!r}") from None


def card_names(pack: Sequence[str], cards: Iterable[Card]) -> str:
    """Return the names of `cards`, with a space between them."""
    return " ".join(pack[card] for card in cards)


def rank_of(name: str) -> str:
    """Return the rank in a card's name."""
    return name[:-1]


def strengths(pack: Sequence[str], order: Sequence[str]) -> tuple[int, ...]:
    """Return each card's strength, by card.

    `order` has the strongest first. An entry is a rank or a card, or several of them, separated by spaces, that tie;
    a card named by itself no longer counts with its rank.

    Raises:
        VariantError: An entry stands twice or is not in the pack, or a card has no place.
    """
    place = _places(order)
    known = {*pack, *map(rank_of, pack)}
    if strange := [entry for entry in place if entry not in known]:
        raise VariantError(f"order: expected ranks or cards of the pack, got {strange[0]!r}")
    missing = [name for name in pack if name not in place and rank_of(name) not in place]
    if missing:
        raise VariantError(f"order: expected a place for every card of the pack, got none for {missing[0]}")
    return tuple(place.get(name, place.get(rank_of(name), 0)) for name in pack)


def _places(order: Sequence[str]) -> dict[str, int]:
    place: dict[str, int] = {}
    for below, entry in enumerate(reversed(order), start=1):
        for name in entry.split():
            if name in place:
                raise VariantError(f"order: expected every rank and card once, got {name!r} twice")
            place[name] = below
    return place

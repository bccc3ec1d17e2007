"""Cards: packs as lists of names, and the strength of every card of a pack.

A card is its index in the variant's pack. Its name is its rank and a suit letter, `7e` or `Kh`. Strength is a plain
number: cards of equal strength tie. Suits count only where an order names single cards.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NewType

from truc_rules.errors import CardError, VariantError

Card = NewType("Card", int)

# -1 is the index of the last strength, so that a covered card needs no branch where strengths are looked up
COVERED = Card(-1)
"""On the table, a card played face down; every table of strengths ends with its strength, 0."""

CARDS_EACH = 3
"""Cards dealt to each seat, except in a short deal."""

LARGEST_PACK = 128
"""The most cards that a pack may have (docs/fairness/specification.md, C5): the index of each takes one byte in a box.

With more, the length of a box, which everybody sees, would tell how many high cards a hand holds.
"""

# other names would read otherwise elsewhere: with a space two entries of an order, `01` the number 1
_NAME: Final = re.compile(r"([1-9][0-9]*|[A-Z])[a-z]")

SPANISH_SUITS = "oceb"
FRENCH_SUITS = "shdc"


def pack_of(ranks: str, suits: str) -> tuple[str, ...]:
    """Return the names of all cards with these ranks (words) and suits (letters)."""
    # suit by suit: a card is its index in the pack, so this order is part of every rule document
    # (specification.md, "Setup")
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
    return " ".join([pack[card] for card in cards])


def is_card_name(name: str) -> bool:
    """Tell whether a name is a rank, a number or a capital letter, and a small letter of suit."""
    return _NAME.fullmatch(name) is not None


def rank_of(name: str) -> str:
    """Return the rank in a card's name."""
    return name[:-1]


def suit_of(name: str) -> str:
    """Return the suit letter in a card's name."""
    return name[-1]


def envido_numbers(pack: Sequence[str]) -> tuple[int, ...]:
    """Return what each card counts for in envido and flor, by card: its number up to 7, an ace 1, others 0."""
    # rules.md 8.4, "Value of a hand"
    counted = {"A": 1, **{str(number): number for number in range(1, 8)}}
    return tuple(counted.get(rank_of(name), 0) for name in pack)


def turned_strengths(
    pack: Sequence[str], plain: Sequence[int], raised: Iterable[Sequence[str]]
) -> tuple[tuple[int, ...], ...]:
    """Return the strengths of all cards, for each card that may be turned up, by that card.

    `raised` has for each of them the names of the cards that it raises above all others, strongest first; no two tie.
    """
    top = max(plain)
    above = ({name: top + len(names) - place for place, name in enumerate(names)} for names in raised)
    return tuple(
        (*(over.get(name, plain[card]) for card, name in enumerate(pack)), plain[-1]) for over in above
    )


def strengths(pack: Sequence[str], order: Sequence[str]) -> tuple[int, ...]:
    """Return each card's strength, by card, and last that of a covered card: 0, less than any other.

    `order` has the strongest first. An entry is a rank or a card, or several that tie, separated by spaces; a card
    named by itself no longer counts with its rank.

    Raises:
        VariantError: An entry appears twice or is not in the pack, or a card has no place.
    """
    place = _places(order)
    known = {*pack, *map(rank_of, pack)}
    if strange := [entry for entry in place if entry not in known]:
        raise VariantError(f"order: expected ranks or cards of the pack, got {strange[0]!r}")
    missing = [name for name in pack if name not in place and rank_of(name) not in place]
    if missing:
        raise VariantError(f"order: expected a place for every card of the pack, got none for {missing[0]}")
    return (*(place.get(name, place.get(rank_of(name), 0)) for name in pack), 0)


def _places(order: Sequence[str]) -> dict[str, int]:
    place: dict[str, int] = {}
    for below, entry in enumerate(reversed(order), start=1):
        # by each single space: an empty word names no card, and is refused
        for name in entry.split(" "):
            if name in place:
                raise VariantError(f"order: expected every rank and card once, got {name!r} twice")
            place[name] = below
    return place

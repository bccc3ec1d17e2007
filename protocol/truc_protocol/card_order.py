"""How the cards of a game stand to each other, for who teaches it: no decision of a match is made by this."""

from collections.abc import Mapping
from types import MappingProxyType

from truc_rules import Variant


def stronger(variant: Variant, turned_up: str | None = None) -> Mapping[str, int]:
    """Return by each card how many of the pack are stronger; cards with the same number tie.

    `turned_up` is the card that raises a rank, where the game has one.
    """
    raises = turned_up is not None and bool(variant.turned)
    by_card = variant.turned[variant.pack.index(str(turned_up))] if raises else variant.strengths
    strengths = by_card[: len(variant.pack)]
    return MappingProxyType(
        {
            name: sum(other > own for other in strengths)
            for name, own in zip(variant.pack, strengths, strict=True)
        }
    )


def order_line(variant: Variant) -> str:
    """Return the cards from strong to weak, those that tie joined."""
    return ", ".join(entry.replace(" ", " = ") for entry in variant.order)

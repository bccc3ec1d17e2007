"""Seats, cards and the deal, in sentences."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from truc_rules import CARDS_EACH, Variant
from truc_words.rules_text.wording import listed, points, times

_SEATED: Final[Mapping[int, str]] = MappingProxyType(
    {
        2: "Two players, one against the other.",
        4: "Four players in two sides; partners sit across.",
        6: "Six players in two sides of three; every second seat is of one side.",
    }
)
_SUITS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "o": "oros",
        "c": "copas",
        "e": "espadas",
        "b": "bastos",
        "s": "spades",
        "h": "hearts",
        "d": "diamonds",
    }
)
_FRENCH_ONLY: Final = "shd"
_CONSENT: Final = {
    "dealer": "The dealer alone agrees or refuses.",
    "all": "The others are asked in seat order; the first refusal ends it.",
}


def players(variant: Variant) -> tuple[str, ...]:
    """Return who plays against whom."""
    return tuple(_SEATED[seats] for seats in variant.players)


def pack(variant: Variant) -> tuple[str, ...]:
    """Return the cards, whole ranks together."""
    cards = variant.pack
    suits = tuple(dict.fromkeys(card[-1] for card in cards))
    ranks = tuple(dict.fromkeys(card[:-1] for card in cards))
    whole = [rank for rank in ranks if all(rank + suit in cards for suit in suits)]
    rest = [card for card in cards if card[:-1] not in whole]
    told = f"{' '.join(whole)} in {listed([_suit(suit, suits) for suit in suits], 'and')}" if whole else ""
    return (f"{len(cards)} cards: {'; and '.join(part for part in (told, ' '.join(rest)) if part)}.",)


def _suit(suit: str, suits: Sequence[str]) -> str:
    french = any(other in _FRENCH_ONLY for other in suits)
    name = "clubs" if french and suit == "c" else _SUITS.get(suit, "")
    return f"`{suit}` ({name})" if name else f"`{suit}`"


def order(variant: Variant) -> tuple[str, ...]:
    """Return the strength of the cards."""
    entries = [entry.replace(" ", " = ") for entry in variant.order]
    single = [name for entry in variant.order for name in entry.split() if name in variant.pack]
    apart = "; a card named here by itself does not count with its rank" if single else ""
    below = " below the manilhas" if variant.turnup is not None else ""
    return (
        f"From strong to weak{below}: {', '.join(entries)}. Cards of one rank are equal, whatever their suits{apart}.",
    )


def turnup(variant: Variant) -> tuple[str, ...]:
    """Return what the card turned up does."""
    rule = variant.turnup
    if rule is None:
        return ()
    cycle = f"{' '.join(rule.cycle)}, and {rule.cycle[0]} again"
    suits = listed([_suit(suit, rule.suits) for suit in rule.suits], "then")
    return (
        "After the deal the next card of the pack, the *vira*, is turned up; nobody plays it.",
        f"The cards of the rank that follows it are the *manilhas*, stronger than all others. The ranks follow each"
        f" other as {cycle}.",
        f"Manilhas are never equal: from strong to weak {suits}.",
    )


def short_deal(variant: Variant) -> tuple[str, ...]:
    """Return what cut and tap decide."""
    if not variant.short_deal:
        return ()
    barred = variant.scoring.target - 1
    return (
        "Before the deal the seat before the dealer cuts the pack or taps it. After a cut every player gets"
        f" {CARDS_EACH} cards.",
        f"After a tap the dealer chooses whether every player gets {CARDS_EACH} cards or one; once a side has"
        f" {points(barred)} or more there is no choice, and {CARDS_EACH} are dealt.",
        "With one card each the hand is a single trick; stakes are asked for as ever.",
    )


def redeal(variant: Variant) -> tuple[str, ...]:
    """Return who proposes new cards and who must agree."""
    rule = variant.redeal
    if rule is None:
        return ()
    return (
        "Before anything else eldest plays the cards or proposes new ones.",
        _CONSENT[rule.consent],
        f"If it is agreed, all cards are put aside unseen and {CARDS_EACH} new ones are dealt to each player from the"
        f" rest of the pack. Otherwise these are played.",
        f"New cards can be proposed {_often(variant, rule.max)}.",
    )


def _often(variant: Variant, most: int | str) -> str:
    if isinstance(most, int):
        return f"{times(most)} in a hand, if the pack still has enough"
    supplied = [
        f"{times(len(variant.pack) // (CARDS_EACH * seats) - 1)} with {seats} players"
        for seats in variant.players
    ]
    return f"as often as the pack can supply a whole deal: {listed(supplied, 'and')}"


def blind(variant: Variant) -> tuple[str, ...]:
    """Return when cards are played unseen."""
    if not variant.blind:
        return ()
    covered = " In such a hand none is played face down." if variant.cover_from_trick else ""
    return (
        "If both sides are at their last point, nobody looks at the cards: every player plays its own unseen, and sees"
        f" them only on the table.{covered}",
    )

"""What a game's lessons are made from: how its cards rank, what they count, what wins. Nothing is decided by it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from truc_rules import Card, TurnUp, Variant, card_named
from truc_rules.contests.values import TurnUpCard, envido_value, flor_value, is_flor

Bet = Literal["envido", "flor"]
"""A side bet on what the cards of a hand count."""

_VALUES: Final[Mapping[Bet, Callable[[Variant, Sequence[Card], TurnUpCard], int]]] = MappingProxyType(
    {"envido": envido_value, "flor": flor_value}
)


def counted_pieces(rule: TurnUp) -> str:
    """Return what each piece counts in the side bets, as `2 = 10, 4 = 9`."""
    return ", ".join(f"{rank} = {number}" for rank, number in zip(rule.pieces, rule.numbers, strict=True))


class Primer(NamedTuple):
    """What a beginner must know about a game, whether a preset or a house variant."""

    variant: Variant

    @property
    def order(self) -> str:
        """The cards from strong to weak, with those that tie joined."""
        return ", ".join(entry.replace(" ", " = ") for entry in self.variant.order)

    def stronger(self, turned_up: str | None = None) -> Mapping[str, int]:
        """Return for each card how many of the pack are stronger; cards with the same number tie.

        `turned_up` is the card that raises a rank, where the game has one.
        """
        raises = turned_up is not None and bool(self.variant.strengths_by_turn_up)
        variant = self.variant
        by_card = (
            variant.strengths_by_turn_up[card_named(variant.pack, str(turned_up))]
            if raises
            else variant.strengths
        )
        strengths = by_card[: len(variant.pack)]
        counted = (sum(other > own for other in strengths) for own in strengths)
        return MappingProxyType(dict(zip(variant.pack, counted, strict=True)))

    @property
    def pieces(self) -> str:
        """What each piece counts, strongest first; empty where the game has none."""
        rule = self.variant.turnup
        return "" if rule is None else counted_pieces(rule)

    def worth(self, cards: Iterable[str], turned_up: str | None = None) -> tuple[Bet, int] | None:
        """Return the bet in which cards count and what they are worth there: flor if they are one, else envido, if played."""
        variant, named, up = self.variant, self._named(cards), self._up(turned_up)
        if variant.flor is not None and is_flor(variant, named, up):
            return "flor", flor_value(variant, named, up)
        return None if variant.envido is None else ("envido", envido_value(variant, named, up))

    def value(self, bet: Bet, cards: Iterable[str], turned_up: str | None = None) -> int:
        """Return what cards count in a bet; in one on flor they are a flor."""
        return _VALUES[bet](self.variant, self._named(cards), self._up(turned_up))

    def beats_of_100(self, bet: Bet, cards: Iterable[str], turned_up: str | None = None) -> int:
        """Return about how many of 100 hands dealt from the other cards count less in a bet; of 100 flores in one on flor."""
        variant, own, up = self.variant, self._named(cards), self._up(turned_up)
        others = {*range(len(variant.pack))} - {*own, *up}
        hands = [[*map(Card, hand)] for hand in combinations(others, len(own))]
        # in a flor contest only other flores are compared
        rivals = [hand for hand in hands if bet == "envido" or is_flor(variant, hand, up)]
        lower = [hand for hand in rivals if _VALUES[bet](variant, hand, up) < _VALUES[bet](variant, own, up)]
        return round(100 * len(lower) / len(rivals))

    def _named(self, cards: Iterable[str]) -> list[Card]:
        return [card_named(self.variant.pack, card) for card in cards]

    def _up(self, turned_up: str | None) -> tuple[Card, ...]:
        return () if turned_up is None else (card_named(self.variant.pack, turned_up),)

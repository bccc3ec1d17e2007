"""Small wordings that the sentences of several fields share."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from truc_rules import SIDES, Variant

Sentences: TypeAlias = Callable[[Variant], tuple[str, ...]]
Rows: TypeAlias = Callable[[Variant], tuple[tuple[str, ...], ...]]


def points(count: int) -> str:
    """Return a number of points in words."""
    return "1 point" if count == 1 else f"{count} points"


def truts(count: int) -> str:
    """Return a number of truts in words."""
    return "1 trut" if count == 1 else f"{count} truts"


def times(count: int) -> str:
    """Return a number of times in words."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def listed(words: Sequence[str], last: str) -> str:
    """Return `words` with commas, and `last` before the last of them."""
    return f"{', '.join(words[:-1])} {last} {words[-1]}" if len(words) > 1 else "".join(words)


def has_partners(variant: Variant) -> bool:
    """Tell whether the game is also, or only, played by sides of several seats."""
    return max(variant.players) > len(SIDES)


def the_side(variant: Variant) -> str:
    """Return who scores: a player, or a side."""
    return "side" if has_partners(variant) else "player"

"""What this package raises, and the known names that a message about an unknown one ends with."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final, Literal

RefusalCode = Literal["not_your_turn", "illegal_action", "void_bet"]
_LIKE: Final = 0.7
"""A lower cutoff would find names that have no more than the family's name in common."""


class RulesError(Exception):
    """The root of every error of the rules."""


class CardError(RulesError):
    """A card that cannot be where it was put: not in the pack, twice, or in a slot that another card holds."""


class VariantError(RulesError):
    """A variant, preset or table option that does not exist or contradicts itself."""


class UnknownOptionError(VariantError):
    """A table option that no variant has."""


class MoveError(RulesError):
    """A line that is not a move in the notation."""


class MatchError(RulesError):
    """A call that the state of the match does not allow: a fault of the caller, not of a player."""


class IllegalActionError(RulesError):
    """An action that the rules do not allow this seat now; the state is unchanged."""

    def __init__(self, code: RefusalCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def most_like(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names most like `name`, at most three, the nearest first."""
    return get_close_matches(name, [*known], cutoff=_LIKE)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return `; the nearest is NAME`, up to three names, or nothing if no known name is like `name`."""
    found = most_like(name, known)
    match found:
        case []:
            return ""
        case [only]:
            return f"; the nearest is {only}"
        case _:
            return f"; the nearest are {', '.join(found)}"

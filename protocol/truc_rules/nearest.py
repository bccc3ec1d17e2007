"""The end of a message about an unknown name: which known names are most like it."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

_LIKE: Final = 0.7
"""A lower cutoff would find names that have no more than the family's name in common."""


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

"""The end of a message about a name that is not known: which known names are most like it."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

_LIKE: Final = 0.7
"""Less would find names that share the name of the family and no more."""


def most_like(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names that are most like a name, three at most, the nearest first."""
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

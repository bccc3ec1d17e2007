"""Which characters look alike, and which script each belongs to: the tables of Unicode (UTS 39), read when first needed.

They come as data of the package confusable_homoglyphs, which lists each pair both ways; here each character leads to the
one that stands for all of its kind. Invariant: nothing is read before the first question, so that no start waits for it.
"""

import json
from bisect import bisect_right
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

_MARK: Final = "\u200e"  # around what is written from right to left
_PACKAGE: Final = "confusable_homoglyphs"
_UNKNOWN: Final = "UNKNOWN"


class _Scripts(NamedTuple):
    """Ranges of characters, ascending: where each begins, where it ends, and its script."""

    firsts: tuple[int, ...]
    lasts: tuple[int, ...]
    scripts: tuple[str, ...]


def prototype(text: str) -> str:
    """Return a text with each character replaced by what stands for all that look like it; that may be several."""
    return text.translate(_prototypes())


def script(character: str) -> str:
    """Return the script of a character by the name that Unicode gives it: LATIN, GREEK, COMMON."""
    ranges, point = _scripts(), ord(character)
    at = bisect_right(ranges.firsts, point) - 1
    return ranges.scripts[at] if at >= 0 and point <= ranges.lasts[at] else _UNKNOWN


@lru_cache(maxsize=1)
def _prototypes() -> Mapping[int, str]:
    listed = {
        written.strip(_MARK): tuple(entry["c"].strip(_MARK) for entry in entries)
        for written, entries in _read("confusables.json").items()
    }
    return {ord(one): others[0] for one, others in listed.items() if _leads(one, others, listed)}


def _leads(one: str, others: tuple[str, ...], listed: Mapping[str, tuple[str, ...]]) -> bool:
    """Tell whether a character leads to its only look-alike; of two that have only each other, the later does."""
    if len(one) != 1 or len(others) != 1:
        return False
    (other,) = others
    return len(other) != 1 or len(listed.get(other, ())) > 1 or other < one


@lru_cache(maxsize=1)
def _scripts() -> _Scripts:
    table = _read("categories.json")
    names, ranges = table["iso_15924_aliases"], table["code_points_ranges"]
    return _Scripts(
        tuple(first for first, *_ in ranges),
        tuple(last for _, last, *_ in ranges),
        tuple(names[name] for _, _, name, _ in ranges),
    )


def _read(name: str) -> Any:
    return json.loads(files(_PACKAGE).joinpath(name).read_text(encoding="utf-8"))

"""What has changed between two schemas of the messages, and whether that needs a new protocol number.

The rules are those of docs/protocol/evolution.md: a new message, a new optional field, or a new value of a closed list
may come at any time; anything that is removed, becomes required, or gets another type or bound may not, nor may a new
kind of record. Words are not part of the wire.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

Schema = dict[str, Any]

_WORDS: Final = frozenset({"description", "title", "$id", "$schema", "examples"})
_MAPS: Final = frozenset({"$defs", "properties", "codes", "answers", "capabilities", "facts"})
_SETS: Final = frozenset({"required", "enum", "anyOf", "fields", "errors", "brings"})


class Change(NamedTuple):
    """One difference: where it is, and what has changed."""

    where: str
    what: str
    is_breaking: bool

    @property
    def verdict(self) -> str:
        """Say what the change requires."""
        return "needs a new protocol number" if self.is_breaking else "may be added"


def changes(before: Schema, after: Schema) -> tuple[Change, ...]:
    """Return every difference that is more than words."""
    return tuple(_of_maps(before, after, ""))


def _of_maps(before: Mapping[str, Any], after: Mapping[str, Any], where: str) -> Iterator[Change]:
    for key in sorted({*before, *after} - _WORDS):
        place = f"{where}/{key}".lstrip("/")
        old, new = before.get(key), after.get(key)
        if old == new:
            continue
        if key in _MAPS:
            yield from _of_named(old or {}, new or {}, place)
        elif key in _SETS and isinstance(old, list) and isinstance(new, list):
            yield from _of_lists(key, old, new, place)
        elif isinstance(old, dict) and isinstance(new, dict):
            yield from _of_maps(old, new, place)
        else:
            yield Change(place, f"was {_told(old)}, is {_told(new)}", is_breaking=True)


def _of_named(before: Mapping[str, Any], after: Mapping[str, Any], place: str) -> Iterator[Change]:
    """Compare messages or fields by their names; whether a new field is required shows in the list beside it."""
    for name in sorted({*before, *after}):
        here = f"{place}/{name}"
        if name not in after:
            yield Change(here, "is gone", is_breaking=True)
        elif name not in before:
            yield Change(here, "is new", is_breaking=False)
        else:
            yield from _of_maps(before[name], after[name], here)


def _of_lists(key: str, before: list[Any], after: list[Any], place: str) -> Iterator[Change]:
    """Compare lists whose order means nothing."""
    for item in before:
        if item not in after:
            yield Change(place, f"has no {_told(item)} any more", is_breaking=True)
    for item in after:
        if item not in before:
            yield Change(place, f"has {_told(item)} besides", is_breaking=_narrows(key, place))


def _narrows(key: str, place: str) -> bool:
    """Tell whether an added item is breaking: a field that is now required, or that may be of another type."""
    return key == "required" or (key == "anyOf" and place != "anyOf")


def _told(value: object) -> str:
    match value:
        case {"$ref": str(name)}:
            return name.rpartition("/")[2]
        case None:
            return "absent"
        case _:
            return repr(value)

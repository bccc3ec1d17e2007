"""A variant as named plain values, and back: what a canonical document can hold.

`variant_from_params(v.name, v.version, v.pack, params(v)) == v` for every variant. Values that come from a document
(arrays as lists or tuples) are checked field by field before a variant is built of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import TypeAlias, TypeVar

from .errors import VariantError
from .variant import ENGINE, Ladder, LastPoint, Redeal, Scoring, Variant

Param: TypeAlias = "bool | int | str | tuple[Param, ...] | None"
T = TypeVar("T")

_APART = ("name", "version", "pack", "strengths")
_NAMES = tuple(sorted(entry.name for entry in fields(Variant) if entry.name not in _APART))
_ENTRY = 2


def params(variant: Variant) -> tuple[tuple[str, Param], ...]:
    """Return every rule of `variant` as (name, value), names ascending; a group of fields is such a tuple again."""
    return tuple((name, _plain(getattr(variant, name))) for name in _NAMES)


def _plain(value: object) -> Param:
    if is_dataclass(value):
        names = sorted(entry.name for entry in fields(value))
        return tuple((name, _plain(getattr(value, name))) for name in names)
    if isinstance(value, tuple):
        return tuple(_plain(item) for item in value)
    if value is None or isinstance(value, bool | int | str):
        return value
    raise VariantError(f"expected a plain value, got {type(value).__name__}")


def variant_from_params(name: str, version: int, pack: Sequence[str], params: Sequence[object]) -> Variant:
    """Build the variant that `params` describes.

    Raises:
        VariantError: A field is missing, unknown or of a wrong value, or the fields contradict each other.
    """
    read = _Fields("", params, _NAMES)
    return Variant(
        name=_text("name", name),
        version=_number("version", version),
        pack=tuple(_text("pack", card) for card in pack),
        players=read.numbers("players"),
        order=read.texts("order"),
        short_deal=read.flag("short_deal"),
        redeal=_redeal(read.value("redeal")),
        tie_leader=read.one_of("tie_leader", ("same", "spoiler")),
        partner_tie=read.one_of("partner_tie", ("earlier", "leader_only")),
        all_tied=read.one_of("all_tied", ("eldest", "draw")),
        hand_rule=read.one_of("hand_rule", ("standard", "put")),
        ladder=_ladder(read),
        cap=read.one_of("cap", ("target", "strict", "no_overkill")),
        ask_window=read.one_of("ask_window", ("b", "ba")),
        accept=read.one_of("accept", ("explicit", "implicit")),
        answerer=read.one_of("answerer", ("any",)),
        alternate=read.one_of("alternate", ("yes", "no", "once")),
        raise_in_answer=read.flag("raise_in_answer"),
        remainder=read.one_of("remainder", ("none", "accept", "counter")),
        concede=read.one_of("concede", ("vs_ask", "any", "on_turn")),
        last_point=_last_point(read.value("last_point")),
        scoring=_scoring(read.value("scoring")),
        match=read.number("match"),
        absent=read.one_of("absent", ("play", "concede")),
        reveal=read.one_of("reveal", ("hand", "match")),
    )


def _redeal(value: object) -> Redeal | None:
    if value is None:
        return None
    read = _Fields("redeal.", value, ("consent", "max"))
    often = read.value("max")
    return Redeal(
        consent=read.one_of("consent", ("dealer", "all")),
        max="pack" if often == "pack" else _number("redeal.max", often),
    )


def _last_point(value: object) -> LastPoint | None:
    if value is None:
        return None
    read = _Fields("last_point.", value, ("at", "decline", "share", "stake"))
    return LastPoint(
        at=read.number("at"),
        stake=read.number("stake"),
        decline=read.number("decline"),
        share=read.flag("share"),
    )


def _scoring(value: object) -> Scoring:
    read = _Fields("scoring.", value, ("end_check", "target"))
    return Scoring(
        target=read.number("target"), end_check=read.one_of("end_check", ("immediate", "hand_end"))
    )


def _ladder(read: "_Fields") -> Ladder:
    if isinstance(read.value("ladder"), str):
        return read.one_of("ladder", ("x2", "+2", "any", "game"))
    return read.numbers("ladder")


class _Fields:
    """A group of fields of a document, read by name and type."""

    def __init__(self, prefix: str, entries: object, expected: Iterable[str]) -> None:
        self.prefix = prefix
        self.entries = _entries(prefix, entries)
        for name in expected:
            if name not in self.entries:
                raise VariantError(f"{prefix}{name}: expected this field, got none")
        if strange := sorted(self.entries.keys() - {*expected}):
            raise VariantError(f"{prefix}{strange[0]}: expected no such field in engine version {ENGINE}")

    def value(self, name: str) -> object:
        return self.entries[name]

    def number(self, name: str) -> int:
        return _number(self.prefix + name, self.entries[name])

    def numbers(self, name: str) -> tuple[int, ...]:
        return tuple(
            _number(self.prefix + name, item) for item in _items(self.prefix + name, self.entries[name])
        )

    def texts(self, name: str) -> tuple[str, ...]:
        return tuple(
            _text(self.prefix + name, item) for item in _items(self.prefix + name, self.entries[name])
        )

    def flag(self, name: str) -> bool:
        value = self.entries[name]
        if isinstance(value, bool):
            return value
        raise VariantError(f"{self.prefix}{name}: expected true or false, got {value!r}")

    def one_of(self, name: str, options: Sequence[T]) -> T:
        value = self.entries[name]
        for option in options:
            if option == value:
                return option
        raise VariantError(
            f"{self.prefix}{name}: expected one of {', '.join(map(str, options))}, got {value!r}"
        )


def _entries(prefix: str, entries: object) -> Mapping[str, object]:
    read: dict[str, object] = {}
    for entry in _items(f"{prefix}params", entries):
        pair = _items(f"{prefix}params", entry)
        if len(pair) != _ENTRY or not isinstance(pair[0], str) or pair[0] in read:
            raise VariantError(f"{prefix}params: expected a name, once, and its value, got {entry!r}")
        read[pair[0]] = pair[1]
    return read


def _items(name: str, value: object) -> Sequence[object]:
    if isinstance(value, list | tuple):
        return value
    raise VariantError(f"{name}: expected a list, got {value!r}")


def _number(name: str, value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise VariantError(f"{name}: expected a number, got {value!r}")


def _text(name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    raise VariantError(f"{name}: expected text, got {value!r}")

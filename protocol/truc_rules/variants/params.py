"""A variant as named plain values, and back: what a canonical document can hold.

`variant_from_params(v.name, v.version, v.pack, params(v)) == v` for every variant. Values that come from a document
(arrays as lists or tuples) are checked field by field before a variant is built from them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType
from typing import Literal, TypeAlias, TypeVar, get_args, get_type_hints

from truc_rules.errors import VariantError
from truc_rules.variants.presets import ORDERS
from truc_rules.variants.toml_text import as_toml
from truc_rules.variants.variant import (
    ENGINE,
    Envido,
    Flor,
    Ladder,
    LastPoint,
    Pica,
    Redeal,
    Scoring,
    Signals,
    TurnUp,
    Variant,
)

Param: TypeAlias = "bool | int | str | tuple[Param, ...] | None"
T = TypeVar("T")

_APART = ("name", "version", "pack")
_NAMES = tuple(sorted(entry.name for entry in fields(Variant) if entry.init and entry.name not in _APART))
_ENTRY = 2
_MOST_BITS = 64
"""How long a number can be in a document."""
_LADDERS: tuple[Literal["x2", "+2", "any", "game", "trut"], ...] = ("x2", "+2", "any", "game", "trut")
_PACK_AND_ORDER = ("pack", "order")
_MEMBERS = {name: get_args(hint) or (hint,) for name, hint in get_type_hints(Variant).items()}
_GROUPS = {name for name, members in _MEMBERS.items() if any(map(is_dataclass, members))}


def params(variant: Variant) -> tuple[tuple[str, Param], ...]:
    """Return every rule of `variant` as (name, value), names ascending; a group of fields is itself such a tuple.

    A field of a group that has a default is left out while it has it: older documents stay what they are.
    """
    return tuple((name, _plain(getattr(variant, name))) for name in _NAMES)


def defaults(group: type) -> dict[str, object]:
    """Return the fields of a group that a document leaves out while they have these values."""
    entries = fields(group) if is_dataclass(group) else ()
    return {entry.name: entry.default for entry in entries if entry.default is not MISSING}


def _plain(value: object) -> Param:
    if is_dataclass(value):
        held = ((entry, getattr(value, entry.name)) for entry in fields(value))
        return tuple(sorted((entry.name, _plain(own)) for entry, own in held if own != entry.default))
    if isinstance(value, tuple):
        return tuple(_plain(item) for item in value)
    if value is None or isinstance(value, bool | int | str):
        return value
    raise VariantError(f"expected a plain value, got {type(value).__name__}")


def variant_from_params(name: str, version: int, pack: Sequence[str], params: Sequence[object]) -> Variant:
    """Build the variant that `params` describes.

    Raises:
        VariantError: A field is missing or unknown or has a wrong value, or the fields contradict each other.
    """
    read = _Fields("", params, _NAMES)
    return Variant(
        name=_text("name", name),
        version=_number("version", version),
        pack=tuple(_text("pack", card) for card in pack),
        players=read.numbers("players"),
        order=read.texts("order"),
        turnup=_turnup(read.value("turnup")),
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
        answerer=read.one_of("answerer", ("any", "governor")),
        alternate=read.one_of("alternate", ("yes", "no", "once")),
        raise_in_answer=read.flag("raise_in_answer"),
        remainder=read.one_of("remainder", ("none", "accept", "counter", "last")),
        concede=read.one_of("concede", ("vs_ask", "any", "on_turn", "governor")),
        last_point=_last_point(read.value("last_point")),
        blind=read.flag("blind"),
        cover_from_trick=read.number("cover_from_trick"),
        envido=_envido(read.value("envido")),
        flor=_flor(read.value("flor")),
        pica=_pica(read.value("pica")),
        signals=_signals(read.value("signals")),
        phrases=read.texts("phrases"),
        show=read.one_of("show", ("none", "owner")),
        scoring=_scoring(read.value("scoring")),
        match=read.number("match"),
        words=_text("words", read.value("words")),
        absent=read.one_of("absent", ("play", "concede")),
        reveal=read.one_of("reveal", ("hand", "match")),
    )


def variant_from_fields(fields: Mapping[str, object], base: Variant | None = None) -> Variant:
    """Build the variant with these fields, by name; all others except name and version are taken from `base`.

    A group is itself a mapping, of the fields that differ, or False for none. Pack and order are lists, or the name of
    a pack and order that presets have.

    Raises:
        VariantError: A field is missing or unknown or has a wrong value, or the fields contradict each other.
    """
    known: dict[str, object] = {} if base is None else {"pack": base.pack, **dict(params(base))}
    for name, value in fields.items():
        known[name] = _over(name, known.get(name), value)
    if missing := [name for name in _APART if name not in known]:
        raise VariantError(f"{missing[0]}: expected this field, got none")
    own, version = _text("name", known.pop("name")), _number("version", known.pop("version"))
    cards = tuple(_text("pack", card) for card in _items("pack", known.pop("pack")))
    return variant_from_params(own, version, cards, tuple(known.items()))


def _over(name: str, known: object, value: object) -> object:
    if name in _PACK_AND_ORDER and isinstance(value, str):
        return _ordered(name, value)
    if name not in _GROUPS:
        return value
    optional = NoneType in _MEMBERS[name]
    if value is False and optional:
        return None
    if isinstance(value, Mapping):
        return tuple({**_entries(f"{name}.", known or ()), **value}.items())
    expected = "a group of fields, or false for none" if optional else "a group of fields"
    raise VariantError(f"{name}: expected {expected}, got {as_toml(value)}")


def _ordered(name: str, value: str) -> tuple[str, ...]:
    if value not in ORDERS:
        raise VariantError(f"{name}: expected a list, or one of {', '.join(ORDERS)}, got {as_toml(value)}")
    return ORDERS[value][_PACK_AND_ORDER.index(name)]


def _redeal(value: object) -> Redeal | None:
    if value is None:
        return None
    read = _Fields("redeal.", value, ("consent", "max"))
    often = read.value("max")
    return Redeal(
        consent=read.one_of("consent", ("dealer", "all")),
        max="pack" if often == "pack" else _number("redeal.max", often, least=1, other=', or "pack"'),
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


def _turnup(value: object) -> TurnUp | None:
    if value is None:
        return None
    read = _Fields("turnup.", value, (), TurnUp)
    return TurnUp(
        cycle=read.texts("cycle"),
        suits=read.texts("suits"),
        pieces=read.texts("pieces"),
        numbers=read.numbers("numbers"),
        stand_in=_text("turnup.stand_in", read.value("stand_in")),
    )


def _envido(value: object) -> Envido | None:
    if value is None:
        return None
    read = _Fields("envido.", value, ("falta", "fold_bonus", "max_envido", "max_real"), Envido)
    return Envido(
        max_envido=read.number("max_envido"),
        max_real=read.number("max_real"),
        falta=read.one_of("falta", ("leader", "malas-game", "malas-15")),
        fold_bonus=read.number("fold_bonus"),
        settle=read.one_of("settle", ("said", "hand_end")),
    )


def _flor(value: object) -> Flor | None:
    if value is None:
        return None
    read = _Fields("flor.", value, ("claims", "kind"), Flor)
    return Flor(
        kind=read.one_of("kind", ("suit", "run")),
        claims=read.flag("claims"),
        challenge=read.flag("challenge"),
        pays=read.one_of("pays", ("all", "own")),
        reserved=read.flag("reserved"),
    )


def _pica(value: object) -> Pica | None:
    if value is None:
        return None
    read = _Fields("pica.", value, ("max", "min"))
    return Pica(min=read.number("min"), max=read.number("max"))


def _signals(value: object) -> Signals | None:
    if value is None:
        return None
    read = _Fields("signals.", value, ("orders", "truth", "visible_to", "vocabulary"))
    return Signals(
        vocabulary=read.texts("vocabulary"),
        visible_to=read.one_of("visible_to", ("partner", "governor", "table")),
        truth=read.one_of("truth", ("free", "enforced")),
        orders=read.one_of("orders", ("none", "binding")),
    )


def _scoring(value: object) -> Scoring:
    read = _Fields("scoring.", value, ("end_check", "points_per_unit", "target"))
    return Scoring(
        target=read.number("target"),
        points_per_unit=read.number("points_per_unit"),
        end_check=read.one_of("end_check", ("immediate", "hand_end")),
    )


def _ladder(read: "_Fields") -> Ladder:
    value = read.value("ladder")
    for word in _LADDERS:
        if word == value:
            return word
    if isinstance(value, list | tuple):
        return read.numbers("ladder")
    raise VariantError(
        f"ladder: expected a list of stakes, or one of {_listed(_LADDERS)}, got {as_toml(value)}"
    )


class _Fields:
    """A group of fields of a document, read by name and type."""

    def __init__(
        self, prefix: str, entries: object, expected: Iterable[str], group: type | None = None
    ) -> None:
        """Read the fields expected, and those of `group` that have a default, which they have if they are left out."""
        self.prefix = prefix
        known = {} if group is None else defaults(group)
        read = _entries(prefix, entries)
        for name in expected:
            if name not in read:
                raise VariantError(f"{prefix}{name}: expected this field, got none")
        if strange := sorted(read.keys() - {*expected} - known.keys()):
            raise VariantError(f"{prefix}{strange[0]}: expected no such field in engine version {ENGINE}")
        self.entries: dict[str, object] = {**known, **read}

    def value(self, name: str) -> object:
        return self.entries[name]

    def number(self, name: str) -> int:
        return _number(self.prefix + name, self.entries[name])

    def numbers(self, name: str) -> tuple[int, ...]:
        return tuple(
            _number(self.prefix + name, item, least=1)
            for item in _items(self.prefix + name, self.entries[name])
        )

    def texts(self, name: str) -> tuple[str, ...]:
        return tuple(
            _text(self.prefix + name, item) for item in _items(self.prefix + name, self.entries[name])
        )

    def flag(self, name: str) -> bool:
        value = self.entries[name]
        if isinstance(value, bool):
            return value
        raise VariantError(f"{self.prefix}{name}: expected true or false, got {as_toml(value)}")

    def one_of(self, name: str, options: Sequence[T]) -> T:
        value = self.entries[name]
        for option in options:
            if option == value:
                return option
        raise VariantError(f"{self.prefix}{name}: expected one of {_listed(options)}, got {as_toml(value)}")


def _entries(prefix: str, entries: object) -> dict[str, object]:
    read: dict[str, object] = {}
    for entry in _items(f"{prefix}params", entries):
        pair = _items(f"{prefix}params", entry)
        if len(pair) != _ENTRY or not isinstance(pair[0], str) or pair[0] in read:
            raise VariantError(f"{prefix}params: expected a name, once, and its value, got {as_toml(entry)}")
        read[pair[0]] = pair[1]
    return read


def _items(name: str, value: object) -> Sequence[object]:
    if isinstance(value, list | tuple):
        return value
    raise VariantError(f"{name}: expected a list, got {as_toml(value)}")


def _listed(options: Iterable[object]) -> str:
    return ", ".join(map(as_toml, options))


def _number(name: str, value: object, *, least: int = 0, other: str = "") -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise VariantError(f"{name}: expected a number from {least} on{other}, got {as_toml(value)}")
    if value.bit_length() > _MOST_BITS:
        raise VariantError(
            f"{name}: expected a number of at most {_MOST_BITS} bits, got {value.bit_length()}"
        )
    return value


def _text(name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    raise VariantError(f"{name}: expected text, got {as_toml(value)}")

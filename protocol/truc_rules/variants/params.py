"""A variant as named plain values, and back: what a canonical document can hold.

`variant_from_params(v.name, v.version, v.pack, params(v)) == v` for every variant. Values that come from a document
(arrays as lists or tuples) are checked field by field before a variant is built from them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, TypeAlias, Union, get_args, get_origin, get_type_hints

from truc_rules.errors import VariantError
from truc_rules.variants.presets import ORDERS
from truc_rules.variants.toml_text import as_toml
from truc_rules.variants.variant import ENGINE, Variant

Param: TypeAlias = "bool | int | str | tuple[Param, ...] | None"

_APART = ("name", "version", "pack")
# ascending, as a rule document has them (specification.md, "Setup")
_NAMES = tuple(sorted(entry.name for entry in fields(Variant) if entry.init and entry.name not in _APART))
_ENTRY = 2
_MOST_BITS = 64
"""How long a number can be in a document."""
_PACK_AND_ORDER = ("pack", "order")


class FieldForm(NamedTuple):
    """What a field may hold: some words, anything else of a kind, and whether it may be nil."""

    words: tuple[str, ...]
    kind: Any
    is_optional: bool


def field_forms(group: type) -> dict[str, FieldForm]:
    """Return the forms of the fields of a class, by their types, in their order."""
    return {name: _form(hint) for name, hint in get_type_hints(group).items()}


def _form(hint: Any) -> FieldForm:
    members = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    words = tuple(word for member in members if get_origin(member) is Literal for word in get_args(member))
    kinds = (member for member in members if member is not NoneType and get_origin(member) is not Literal)
    return FieldForm(words, next(kinds, None), NoneType in members)


_RULES = {name: form for name, form in field_forms(Variant).items() if name in _NAMES}
GROUPS: dict[str, Any] = {name: form.kind for name, form in _RULES.items() if is_dataclass(form.kind)}
"""The class of each field that is a group of fields."""
_OF_GROUPS = {kind: field_forms(kind) for kind in GROUPS.values()}


def params(variant: Variant) -> tuple[tuple[str, Param], ...]:
    """Return every rule of `variant` as (name, value), names ascending; a group of fields is itself such a tuple.

    A field of a group that has a default is left out while it has it.
    """
    return tuple((name, _plain(getattr(variant, name))) for name in _NAMES)


def defaults(group: type) -> dict[str, object]:
    """Return the fields of a group that a document leaves out while they have these values."""
    entries = fields(group) if is_dataclass(group) else ()
    return {entry.name: entry.default for entry in entries if entry.default is not MISSING}


def _plain(value: object) -> Param:
    if is_dataclass(value):
        # fields with a default came later: without them the documents of older games, and their hashes (C5),
        # stay what they were
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
    read = _fields("", params, _NAMES, {})
    values: dict[str, Any] = {
        "name": _text("name", name),
        "version": _number("version", version),
        "pack": tuple(_text("pack", card) for card in pack),
        **{field: _typed(field, read[field], form) for field, form in _RULES.items()},
    }
    return Variant(**values)


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
    if name not in GROUPS:
        return value
    optional = _RULES[name].is_optional
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


def _typed(name: str, value: object, form: FieldForm) -> Any:
    """Read a value by its field's form: a flag, a number, a text, a list of either, one of some words, a group of fields."""
    words, kind, is_optional = form
    for word in words:
        if word == value:
            return word
    if is_dataclass(kind):
        return None if value is None and is_optional else _group(name, value, kind)
    if get_origin(kind) is tuple and (isinstance(value, list | tuple) or not words):
        return tuple(_single(name, item, get_args(kind)[0], least=1) for item in _items(name, value))
    if words and kind is not int:
        stakes = "a list of stakes, or " if kind else ""
        raise VariantError(f"{name}: expected {stakes}one of {_listed(words)}, got {as_toml(value)}")
    other = "".join(f", or {as_toml(word)}" for word in words)
    return _single(name, value, kind, least=1 if words else 0, other=other)


def _single(name: str, value: object, kind: Any, *, least: int, other: str = "") -> bool | int | str:
    if kind is bool:
        if isinstance(value, bool):
            return value
        raise VariantError(f"{name}: expected true or false, got {as_toml(value)}")
    return _text(name, value) if kind is str else _number(name, value, least=least, other=other)


def _group(name: str, value: object, kind: Any) -> Any:
    forms, known = _OF_GROUPS[kind], defaults(kind)
    read = _fields(f"{name}.", value, sorted(forms.keys() - known.keys()), known)
    return kind(**{field: _typed(f"{name}.{field}", read[field], form) for field, form in forms.items()})


def _fields(
    prefix: str, entries: object, expected: Iterable[str], known: Mapping[str, object]
) -> dict[str, object]:
    """Return the entries of a group by name: those expected, and the known ones, which have these values if left out."""
    read = _entries(prefix, entries)
    for name in expected:
        if name not in read:
            raise VariantError(f"{prefix}{name}: expected this field, got none")
    if strange := sorted(read.keys() - {*expected} - known.keys()):
        raise VariantError(f"{prefix}{strange[0]}: expected no such field in engine version {ENGINE}")
    return {**known, **read}


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
    # bool is a kind of int to Python
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

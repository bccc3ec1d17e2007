"""The fields of messages in words: names, types with their bounds, and the lines that stand under them in the source."""

import inspect
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

import msgspec
from msgspec import inspect as types

from truc_words.house_variants import own_lines

_OTHER_TYPES: Final[Mapping[type[types.Type], str]] = MappingProxyType(
    {types.BoolType: "bool", types.NamedTupleType: "record", types.CustomType: "anything"}
)
_POWERS: Final[Mapping[int | None, str]] = MappingProxyType({2**53 - 1: "2^53-1", 2**32 - 1: "2^32-1"})


def summary(kind: type) -> str:
    """Return the first paragraph of a class's docstring, on one line."""
    return (inspect.getdoc(kind) or "").split("\n\n", maxsplit=1)[0].replace("\n", " ")


class FieldText(NamedTuple):
    """What the reference says of a field: its name on the wire, its type with bounds, and the line under it."""

    name: str
    type: str
    line: str
    required: bool

    def __str__(self) -> str:
        return f"* `{self.name}`, {'' if self.required else 'optional '}{self.type}: {self.line}"


def field_texts(kind: type[msgspec.Struct]) -> list[FieldText]:
    """Describe each field."""
    described = field_lines(kind)
    return [
        FieldText(
            name=field.encode_name,
            type=type_text(types.type_info(field.type)),
            line=described[field.name],
            required=field.required,
        )
        for field in msgspec.structs.fields(kind)
    ]


def field_lines(kind: type[msgspec.Struct]) -> dict[str, str]:
    """Return the line that stands under each field in the source, inherited fields included."""
    lines: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if issubclass(base, msgspec.Struct) and base.__module__.startswith("truc_protocol."):
            lines |= own_lines(base)
    return lines


def type_text(kind: types.Type) -> str:
    """Say a field's type in the words of the reference."""
    match kind:
        case types.UnionType(members):
            return " or ".join(
                type_text(member) for member in members if not isinstance(member, types.NoneType)
            )
        case types.VarTupleType(item):
            return f"array of {type_text(item)}" + _count(kind.min_length, kind.max_length)
        case types.TupleType(items):
            return "array of (" + ", ".join(type_text(item) for item in items) + ")"
        case types.DictType(key, value):
            return _map_text(key, value) + _count(kind.min_length, kind.max_length)
        case _:
            return _single_text(kind)


def _single_text(kind: types.Type) -> str:
    match kind:
        case types.LiteralType(values):
            return " or ".join(f'`"{value}"`' for value in values)
        case types.IntType():
            return f"int {_range(kind.ge, kind.le)}".rstrip()
        case types.StrType():
            return f"str {_range(kind.min_length, kind.max_length)}".rstrip()
        case types.BytesType():
            return f"bin {_range(kind.min_length, kind.max_length)}".rstrip()
        case types.StructType(cls):
            return _link(cls)
        case _:
            return _OTHER_TYPES[type(kind)]


def _map_text(key: types.Type, value: types.Type) -> str:
    values = type_text(value)
    return "map" if values == "anything" else f"map of {type_text(key)} to {values}"


def _link(cls: type[msgspec.Struct]) -> str:
    tag = cls.__struct_config__.tag
    name = str(tag) if tag else cls.__name__
    return f"[{name}](#{name.lower()})"


def _range(low: int | None, high: int | None) -> str:
    if low is None and high is None:
        return ""
    return str(low) if low == high else f"{low}..{_POWERS.get(high, high)}"


def _count(low: int | None, high: int | None) -> str:
    if high is None:
        return ""
    return f", {low} to {high}" if low else f", at most {high}"

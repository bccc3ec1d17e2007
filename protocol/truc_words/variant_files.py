"""The file of a variant: TOML with every field, to read, to change and to give to a server.

Each field stands under the line that explains it in the code. Invariant: `read_variant` reads what is written here as
the same variant; only a preset gets another name, as its own is taken.

The fields of messages in words: names, types with their bounds, and the lines that stand under them in the source.
"""

import ast
import inspect
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import groupby, pairwise
from types import MappingProxyType, UnionType
from typing import Final, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import inspect as types

from truc_rules import Variant, presets

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


def own_lines(kind: type) -> dict[str, str]:
    """Return the line that stands under each field of this class alone."""
    (definition,) = ast.parse(inspect.getsource(kind)).body
    body = definition.body if isinstance(definition, ast.ClassDef) else []
    return {
        field.target.id: under.value.value
        for field, under in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(under, ast.Expr)
        and isinstance(under.value, ast.Constant)
        and isinstance(under.value.value, str)
    }


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


_OWN: Final = "house-"
_OTHERS: Final[Mapping[object, str]] = {int: "a number", tuple[int, ...]: "a list of numbers"}
_HEAD: Final = """\
# A variant of Truc. Change what you like, give it a name of its own, and put it in the folder `variants` of a server.
# With base = "NAME", the name of a preset, only the fields that differ are needed. What is nil below is false here."""


def variant_file(variant: Variant) -> str:
    """Write a variant as TOML, complete and with comments."""
    if variant.name in presets():
        variant = replace(variant, name=f"{_OWN}{variant.name}")
    values = {field.name: getattr(variant, field.name) for field in fields(Variant) if field.init}
    groups = {name: value for name, value in values.items() if is_dataclass(value)}
    lines = own_lines(Variant)
    blocks = _fields(Variant, {name: value for name, value in values.items() if name not in groups})
    for name, group in groups.items():
        inner = _fields(type(group), {field.name: getattr(group, field.name) for field in fields(group)})
        blocks.append("\n".join((f"# {lines[name]}", f"[{name}]", *inner)))
    return "\n\n".join((_HEAD, *blocks)) + "\n"


def _fields(kind: type, values: Mapping[str, object]) -> list[str]:
    """Write each field of a class under the line that explains it, and the values it takes if words are among them."""
    lines, hints = own_lines(kind), get_type_hints(kind)
    written = []
    for name, value in values.items():
        about = (lines[name], " or ".join(_values(hints[name])))
        written.append(
            "\n".join((*(f"# {line}" for line in about if line), f"{name} = {_value(name, value)}"))
        )
    return written


def _values(hint: object) -> Iterator[str]:
    """Yield the words that a field takes, and what else it takes."""
    if get_origin(hint) is Literal:
        yield from map(json.dumps, get_args(hint))
    elif get_origin(hint) in (Union, UnionType):
        yield from (_OTHERS[member] for member in get_args(hint) if member in _OTHERS)
        for member in get_args(hint):
            yield from _values(member)


def _value(field: str, value: object) -> str:
    match value:
        case None:
            return "false"
        case tuple() if field == "pack":
            suits = (", ".join(map(_text, suit)) for _, suit in groupby(value, key=lambda card: card[-1:]))
            return "[\n  " + ",\n  ".join(suits) + ",\n]"
        case tuple():
            return f"[{', '.join(map(_text, value))}]"
        case _:
            return _text(value)


def _text(value: object) -> str:
    # JSON's form of text, numbers and booleans is TOML's, but for one character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

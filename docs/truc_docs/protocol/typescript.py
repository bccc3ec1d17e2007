"""The messages as TypeScript types, docs/protocol/schema/messages.d.ts: the decoded maps, `bin` as Uint8Array."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

import msgspec
from msgspec import inspect as types

from truc_docs.field_words import field_lines, summary
from truc_docs.protocol.messages import PARTS
from truc_protocol.messages import MESSAGES, Direction

_HEAD: Final = """\
// Made by `python -m truc_docs.protocol docs/protocol`. Change the code, not this file.
// What a msgpack decoder gives: bin is Uint8Array. Fields that are not listed are to be ignored.

/** A record: signer (0 the server, i + 1 seat i), body, signature. */
export type SignedRecord = [number, Uint8Array, Uint8Array];
"""
_SINGLE: Final[Mapping[type[types.Type], str]] = MappingProxyType(
    {
        types.BoolType: "boolean",
        types.IntType: "number",
        types.StrType: "string",
        types.BytesType: "Uint8Array",
        types.NamedTupleType: "SignedRecord",
        types.CustomType: "unknown",
        types.AnyType: "unknown",
        types.NoneType: "null",
    }
)


def types_file() -> str:
    """Write messages.d.ts: an interface for each form of each message, and a union for each direction."""
    kinds = dict.fromkeys([*PARTS, *(form.message for row in MESSAGES for form in row.forms)])
    text = _HEAD + "".join("\n" + "\n".join(_interface(kind)) + "\n" for kind in kinds)
    for direction, name in ((Direction.TO_SERVER, "ClientMessage"), (Direction.TO_CLIENT, "ServerMessage")):
        forms = [
            form.message.__name__ for row in MESSAGES if row.direction is direction for form in row.forms
        ]
        text += f"\n/** {direction.value} */\nexport type {name} =\n  | " + "\n  | ".join(forms) + ";\n"
    return text


def _interface(kind: type[msgspec.Struct]) -> Iterator[str]:
    lines, tag = field_lines(kind), kind.__struct_config__.tag
    yield f"/** {summary(kind)} */"
    yield f"export interface {kind.__name__} {{"
    if tag is not None:
        yield f'  t: "{tag}";'
    for field in msgspec.structs.fields(kind):
        mark = "" if field.required else "?"
        yield f"  /** {lines[field.name]} */"
        yield f"  {field.encode_name}{mark}: {_type(types.type_info(field.type))};"
    yield "}"


def _type(kind: types.Type) -> str:
    match kind:
        case types.UnionType(members):
            return " | ".join(_type(member) for member in members if not isinstance(member, types.NoneType))
        case types.VarTupleType(item):
            return f"Array<{_type(item)}>"
        case types.TupleType(items):
            return "[" + ", ".join(_type(item) for item in items) + "]"
        case types.DictType(_, value):
            return f"{{ [name: string]: {_type(value)} }}"
        case _:
            return _single(kind)


def _single(kind: types.Type) -> str:
    match kind:
        case types.LiteralType(values):
            return " | ".join(f'"{value}"' for value in values)
        case types.StructType(cls):
            return cls.__name__
        case _:
            return _SINGLE[type(kind)]

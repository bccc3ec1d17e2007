"""The file of a variant: TOML with every field, to read, to change and to give to a server.

Each field stands under the line that explains it in the code. Invariant: `read_variant` reads what is written here as
the same variant; only a preset gets another name, as its own is taken.
"""

import ast
import inspect
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import groupby, pairwise
from types import UnionType
from typing import Final, Literal, Union, get_args, get_origin, get_type_hints

from truc_rules import Variant, presets

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

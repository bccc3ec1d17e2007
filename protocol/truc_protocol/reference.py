"""The reference pages of docs/protocol, written from the tables of the code: `python -m truc_protocol.reference DIR`.

A page says what the code does because it is made from it: fields and their lines from the message classes, codes from
the registry, steps from the state table. A test fails when a page in the repository is not what this module writes.
"""

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from textwrap import wrap
from types import MappingProxyType
from typing import Final, get_args

import msgspec
from msgspec import inspect as types

from truc_protocol.connection import STATES, TRANSITIONS, Role, State
from truc_protocol.errors import REGISTRY, Code, Row, Topic
from truc_protocol.examples import example_of
from truc_protocol.meaning import RECORD_FACTS
from truc_protocol.messages import (
    MESSAGES,
    Choice,
    Direction,
    Info,
    Message,
    PastRecord,
    PlayerState,
    SeatHeld,
    SeatState,
    Software,
    encode,
)
from truc_protocol.messages.info import Limits, VariantOffer
from truc_protocol.messages.wire import Form
from truc_protocol.messages.wire import Row as MessageRow
from truc_rules import Event

_PARTS: Final[tuple[type[msgspec.Struct], ...]] = (
    Software,
    Info,
    Limits,
    VariantOffer,
    SeatHeld,
    SeatState,
    PlayerState,
    PastRecord,
    Choice,
)
_OTHER_TYPES: Final[Mapping[type[types.Type], str]] = MappingProxyType(
    {types.BoolType: "bool", types.NamedTupleType: "record", types.CustomType: "anything"}
)
_POWERS: Final[Mapping[int | None, str]] = MappingProxyType({2**53 - 1: "2^53-1", 2**32 - 1: "2^32-1"})
_HEX_WIDTH: Final = 96
_GENERATED: Final = (
    "<!-- Made by `python -m truc_protocol.reference docs/protocol`. Change the code, not this page. -->"
)
_TOPICS: Final[Mapping[Topic, str]] = MappingProxyType(
    {
        Topic.PROTOCOL: "Protocol",
        Topic.LOGIN: "Login",
        Topic.LIMITS: "Limits",
        Topic.TABLE: "Tables and seats",
        Topic.PLAY: "Play",
        Topic.SERVER: "Server",
    }
)


def messages_page() -> str:
    """Write messages.md: every message with its fields."""
    lines = [
        "# Messages",
        "",
        _GENERATED,
        "",
        "Every message is a msgpack map. `t` names its kind; the other fields stand below. *Required* fields are always",
        "there. An optional field that is absent and one that is nil mean the same; an absent `bool` is false, an absent",
        "`array` or `map` is empty unless its line says otherwise. Fields that are not listed are to be ignored.",
        "Types: `int` with its range, `str` and `bin` with their length (`str` in characters), `array`, `map`,",
        "`bool`. A *record* is an array `[signer: int, body: bin, sig: bin]`.",
        "",
        "Each form has an example: first in JSON, with `bin` as base64, then the msgpack bytes in hex, without the length",
        "before them. Bodies in the examples are cut short and signatures are made up.",
        "",
    ]
    for direction in Direction:
        lines += [f"## {direction.value[0].upper()}{direction.value[1:]}", ""]
        lines += [f"* [`{row.tag}`](#{_anchor(row)}): {_purpose(row)}" for row in _rows(direction)]
        lines.append("")
        for row in _rows(direction):
            lines += _message(row)
    lines += ["## Maps inside messages", ""]
    for part in _PARTS:
        lines += [f"### {part.__name__}", "", _summary(part), "", *_fields(part), ""]
    return "\n".join(lines).rstrip() + "\n"


def errors_page() -> str:
    """Write errors.md: the registry, and the codes that close a connection."""
    lines = [
        "# Errors",
        "",
        _GENERATED,
        "",
        "`error` and `bye` carry a code of this registry. A program decides by `code`, `retryable` and `close`; `msg` is",
        "English for people and logs and may change at any time. A client treats a code it does not know by the flags",
        "beside it.",
        "",
        "* **Closes**: the connection ends after this error, and `bye` with the same code is sent first. Before `welcome`",
        "  every error closes, whatever this table says.",
        "* **Again**: the same request may succeed later, unchanged.",
        "",
        _codes("These close the connection", lambda row: row.closes),
        "",
        _codes("These do not", lambda row: not row.closes),
        "",
    ]
    for topic in Topic:
        lines += [f"## {_TOPICS[topic]}", ""]
        for code, row in REGISTRY.items():
            if row.topic is topic:
                lines += _code(code, row)
    return "\n".join(lines).rstrip() + "\n"


def connection_page() -> str:
    """Write connection.md: the states of a connection and every step between them."""
    lines = [
        "# States of a connection",
        "",
        _GENERATED,
        "",
        "Both ends run through the same states. A step that is not in the table is an error: `auth_required` for a",
        "message that needs a login first, `not_now` for any other.",
        "",
        "| state | what it means |",
        "|---|---|",
        *(f"| {state.name} | {meaning} |" for state, meaning in STATES.items()),
        "",
        "## Steps",
        "",
        "| in state | sender | message | next state |",
        "|---|---|---|---|",
        *_steps(),
    ]
    return "\n".join(lines).rstrip() + "\n"


_RECORD_FACTS_INTRO: Final = (
    "What the records themselves say. Last in every `means` stands `state`: `phase`, `score` ([games, upper, points] of",
    "each side), `waiting` (the seats whose release or decision comes next), and in a hand `dealer`, `stake`, and `tricks`",
    "(the side that won each, nil for a tie). `ruled` stands before what the ruling brings about.",
)


def facts_page() -> str:
    """Write facts.md: what the rules' events say in `means`."""
    lines = [
        "# Facts",
        "",
        _GENERATED,
        "",
        "What stands in `means` of a record: maps with `what` and the fields below. They are derived from the",
        "records and not signed. Seats and sides are numbers; cards are written as people write them. A client passes over",
        "a `what` that it does not know.",
        "",
        "## Of the rules",
        "",
        "| what | fields | meaning |",
        "|---|---|---|",
    ]
    for event in get_args(Event):
        fields = ", ".join(f"`{name}`" for name in event._fields) or "none"
        lines.append(f"| `{_snake(event)}` | {fields} | {_summary(event)} |")
    lines += [
        "",
        "## Of the records",
        "",
        *_RECORD_FACTS_INTRO,
        "",
        "| what | fields | meaning |",
        "|---|---|---|",
    ]
    for what, (names, summary) in RECORD_FACTS.items():
        lines.append(f"| `{what}` | {', '.join(f'`{name}`' for name in names)} | {summary} |")
    return "\n".join(lines) + "\n"


PAGES: Final[Mapping[str, Callable[[], str]]] = MappingProxyType(
    {
        "messages.md": messages_page,
        "errors.md": errors_page,
        "connection.md": connection_page,
        "facts.md": facts_page,
    }
)


def write(folder: Path) -> None:
    """Write every page into `folder`."""
    for name, page in PAGES.items():
        (folder / name).write_text(page(), encoding="utf-8")


def _rows(direction: Direction) -> list[MessageRow]:
    return [row for row in MESSAGES if row.direction is direction]


def _anchor(row: MessageRow) -> str:
    """The heading's own anchor; a tag that goes both ways has a second heading of the same name."""
    second = row.direction is Direction.TO_CLIENT and any(
        other.tag == row.tag for other in _rows(Direction.TO_SERVER)
    )
    return f"{row.tag}-1" if second else row.tag


def _purpose(row: MessageRow) -> str:
    return " Or: ".join(_summary(form.message) for form in row.forms)


def _message(row: MessageRow) -> list[str]:
    lines = [f"### {row.tag}", ""]
    for form in row.forms:
        lines += [_summary(form.message) + _told_apart(form, row), "", *_fields(form.message), ""]
        lines += _example(row.direction, form.message)
    if row.replies:
        lines += ["Reply: " + " or ".join(f"`{tag}`" for tag in _all_replies(row)) + ".", ""]
    return lines


def _example(direction: Direction, kind: type[Message]) -> list[str]:
    message = example_of(direction, kind)
    projected = msgspec.json.encode(message).decode()
    return ["```json", projected, "```", "```hex", *wrap(encode(message).hex(), _HEX_WIDTH), "```", ""]


def _all_replies(row: MessageRow) -> tuple[str, ...]:
    return row.replies if row.tag == "ping" else (*row.replies, "error")


def _told_apart(form: Form, row: MessageRow) -> str:
    if len(row.forms) == 1:
        return ""
    if form.mark is not None:
        return f" This form has `{form.mark}`."
    marks = " or ".join(f"`{other.mark}`" for other in row.forms if other.mark is not None)
    return f" This form has no {marks}."


def _snake(kind: type) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


def _summary(kind: type) -> str:
    return (inspect.getdoc(kind) or "").split("\n\n", maxsplit=1)[0].replace("\n", " ")


def _fields(kind: type[msgspec.Struct]) -> list[str]:
    described = field_lines(kind)
    lines = ["| field | type | required | meaning |", "|---|---|---|---|"]
    for field in msgspec.structs.fields(kind):
        type_ = type_text(types.type_info(field.type))
        needed = "yes" if field.required else "no"
        lines.append(f"| `{field.encode_name}` | {type_} | {needed} | {described[field.name]} |")
    return lines


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
            return f"array of {type_text(item)}" + _at_most(kind.max_length)
        case types.TupleType(items):
            return "array of (" + ", ".join(type_text(item) for item in items) + ")"
        case types.DictType(key, value):
            return _map_text(key, value) + _at_most(kind.max_length)
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


def _at_most(length: int | None) -> str:
    return "" if length is None else f", at most {length}"


def _codes(title: str, wanted: Callable[[Row], bool]) -> str:
    return f"**{title}:** " + ", ".join(f"`{code}`" for code, row in REGISTRY.items() if wanted(row)) + "."


def _code(code: Code, row: Row) -> list[str]:
    closes = "closes" if row.closes else "does not close"
    again = "again: later" if row.retryable else "again: no"
    return [
        f"### {code}",
        "",
        f"{row.meaning}  ",
        f"*What to do:* {row.remedy}  ",
        f"*{closes}; {again}; since protocol {row.since}*",
        "",
    ]


def _steps() -> Iterable[str]:
    """Write one line for each step, the messages that change nothing in READY on one line a sender."""
    for (state, sender, tag), after in TRANSITIONS.items():
        if not (state is after is State.READY):
            yield f"| {state.name} | {sender} | `{tag}` | {after.name} |"
    for role in Role:
        tags = [
            tag for (state, sender, tag), after in TRANSITIONS.items() if state is after and sender is role
        ]
        yield f"| READY | {role} | {', '.join(f'`{tag}`' for tag in tags if tag != 'error, close')} | READY |"


if __name__ == "__main__":
    write(Path(sys.argv[1]))

"""The page messages.md: every message with its fields, an example, its errors and what may follow."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import msgspec

from truc_docs.field_words import FieldText, field_texts, summary
from truc_docs.protocol import GENERATED
from truc_docs.protocol.examples import EXAMPLES, example_of
from truc_docs.protocol.exchanges import COURSES, EVERY
from truc_protocol.errors import Code
from truc_protocol.messages import (
    MESSAGES,
    AnyMessage,
    Choice,
    Direction,
    GuestAct,
    Info,
    Leaderboard,
    Message,
    Ok,
    PastRecord,
    PlayedMatch,
    PlayerState,
    SeatHeld,
    SeatState,
    Software,
    Standing,
)
from truc_protocol.messages.info import Limits, VariantOffer
from truc_protocol.messages.table import Form, MessageRow
from truc_protocol.wire.capabilities import BROUGHT_BY
from truc_protocol.wire.encoding import encode

PARTS: Final[tuple[type[msgspec.Struct], ...]] = (
    Software,
    Info,
    Limits,
    VariantOffer,
    SeatHeld,
    SeatState,
    PlayerState,
    PastRecord,
    PlayedMatch,
    Standing,
    Choice,
)
_COMMON: Final = tuple(
    text
    for kind, names in (
        (GuestAct, ("id", "table", "match")),
        (Ok, ("re",)),
        (Leaderboard, ("variant",)),
        (PlayerState, ("player", "name")),
        (SeatHeld, ("seat",)),
    )
    for text in field_texts(kind)
    if text.name in names
)
"""Fields that have the same type and line in most messages."""
_EVERYWHERE: Final = ("id", "re")
"""Those of them that every request or every reply has."""
_ANY_NUMBER: Final = "0..2^53-1"
"""The range of an integer of which none is told."""
_INTRODUCTION: Final = """
Every message is a msgpack map whose `t` names its kind. An *optional* field that is absent means the same as nil: a `bool` is then
false, an `array` or `map` empty, unless its line says otherwise. Ignore fields that are not listed. Types: `int` with its range, or from 0 to 2^53-1 where none is told (only `points`
can be negative), `str` (characters) and `bin` (bytes) with their length, `array`, `map`, `bool`; a *record* is an array `[signer: int, body: bin, sig: bin]`.
[schema/](schema/README.md) has the same as JSON Schema.

These fields mean the same in every message, which then only names them, as a later form of a message does with those of an
earlier one. `id` is in every request but `ping` and `pong`, `re` in every reply, and neither is named below:

{common}

The messages that a player needs stand first, with an example in JSON, `bin` as base64; behind a line follow all others.
[examples.json](schema/examples.json) has an example of each, with its msgpack in hex; [traces](../../tests/vectors/traces/README.md)
have real ones.

The reply to a request is `ok`, unless *Reply* says otherwise; to any but `ping` it may be `error` instead: with {every} after `welcome`, with `auth_required` before it, with `unknown_request` if the
server lacks its [capability](capabilities.md), or with the codes under *Errors*. *Then* is what may come next.
"""


_NEEDED: Final[Mapping[Direction, tuple[str, ...]]] = MappingProxyType(
    {
        Direction.TO_SERVER: ("hello", "login", "create", "join", "ready", "act", "resume", "ping", "pong"),
        Direction.TO_CLIENT: (
            *("hello", "welcome", "ok", "error", "bye", "table", "closed", "terms", "setup", "record"),
            *("options", "cards", "waiting", "seat_taken_over", "ping", "pong"),
        ),
    }
)
"""What a player must send or understand, in the order of a match; all else may be left out."""


def messages_page() -> str:
    """Write messages.md: every message with its fields, those that a player needs first."""
    common = "\n".join(map(str, _COMMON))
    introduction = _INTRODUCTION.format(every=_listed(EVERY), common=common)
    lines = ["# Messages", "", GENERATED, introduction]
    for direction in Direction:
        lines += [f"## {direction.value[0].upper()}{direction.value[1:]}", ""]
        for row in _rows(direction):
            lines += _message(row)
            if row.tag == _NEEDED[direction][-1]:
                lines += ["---", ""]
    lines += ["## Maps inside messages", ""]
    for part in PARTS:
        lines += [f"### {part.__name__}", "", summary(part), "", *_fields(part), ""]
    return "\n".join(lines).rstrip() + "\n"


def _rows(direction: Direction) -> list[MessageRow]:
    """Return the messages of one direction: those that a player needs, in their order, then the others."""
    needed = _NEEDED[direction]
    rows = [row for row in MESSAGES if row.direction is direction]
    return sorted(rows, key=lambda row: needed.index(row.tag) if row.tag in needed else len(needed))


def _message(row: MessageRow) -> list[str]:
    lines = [f"### {row.tag}", "", *_capability(row)]
    told: list[FieldText] = []
    for form in row.forms:
        fields = _fields(form.message, told)
        lines += [summary(form.message) + _told_apart(form, row), "", *([*fields, ""] if fields else [])]
        told += field_texts(form.message)
        if row.tag in _NEEDED[row.direction]:
            lines += _example(row.direction, form.message)
    return lines + _course(row)


def _fields(kind: type[msgspec.Struct], told: Sequence[FieldText] = ()) -> list[str]:
    """Describe the fields of a map; those that are common, or were told of an earlier form, are only named."""
    texts = field_texts(kind)
    common = [text for text in texts if text._replace(required=True) in _COMMON or text in told]
    named = ", ".join(
        f"`{text.name}`" + ("" if text.required else " (optional)")
        for text in common
        if text.name not in _EVERYWHERE
    )
    lines = (str(text).replace(f"int {_ANY_NUMBER}", "int") for text in texts if text not in common)
    return [*([f"* {named}"] if named else []), *lines]


def _capability(row: MessageRow) -> list[str]:
    name = BROUGHT_BY.get(row.tag)
    return [] if name is None else [f"*Capability [`{name}`](capabilities.md#{name})*", ""]


def _course(row: MessageRow) -> list[str]:
    course = COURSES[row.direction][row.tag]
    lines = []
    if row.replies and row.replies != ("ok",):
        lines.append("**Reply:** " + " or ".join(f"`{tag}`" for tag in row.replies) + ".  ")
    if course.errors:
        lines.append(f"**Errors:** {_listed(course.errors)}.  ")
    if course.then != "Nothing.":
        lines.append(f"**Then:** {course.then}")
    return [*lines, ""] if lines else []


def _listed(codes: tuple[Code, ...]) -> str:
    return ", ".join(f"[`{code}`](errors.md#{code})" for code in codes)


def _example(direction: Direction, kind: type[Message]) -> list[str]:
    projected = msgspec.json.encode(example_of(direction, kind)).decode()
    return ["```json", projected, "```", ""]


def examples_file() -> str:
    """Write examples.json: of every form of a message one example, as JSON and as the bytes of its frame."""
    return "[\n" + ",\n".join(_encoded(*example) for example in EXAMPLES) + "\n]\n"


def _encoded(direction: Direction, message: AnyMessage) -> str:
    projected = msgspec.json.encode(message).decode()
    head = f'{{"from": "{"client" if direction is Direction.TO_SERVER else "server"}", "msgpack": "{encode(message).hex()}",'
    return f'{head}\n "message": {projected}}}'


def _told_apart(form: Form, row: MessageRow) -> str:
    if len(row.forms) == 1:
        return ""
    if form.mark is not None:
        return f" This form has `{form.mark}`."
    marks = " or ".join(f"`{other.mark}`" for other in row.forms if other.mark is not None)
    return f" This form has no {marks}."

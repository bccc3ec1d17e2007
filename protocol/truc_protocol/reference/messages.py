"""The page messages.md: every message with its fields, an example, its errors and what may follow."""

from textwrap import wrap
from typing import Final

import msgspec

from truc_protocol.capabilities import BROUGHT_BY
from truc_protocol.errors import Code
from truc_protocol.examples import example_of
from truc_protocol.messages import (
    MESSAGES,
    Choice,
    Direction,
    Info,
    Message,
    PastRecord,
    PlayedMatch,
    PlayerState,
    SeatHeld,
    SeatState,
    Software,
    Standing,
    encode,
)
from truc_protocol.messages.course import COURSES, EVERY
from truc_protocol.messages.info import Limits, VariantOffer
from truc_protocol.messages.wire import Form, Row
from truc_protocol.reference import GENERATED
from truc_protocol.reference.fields import field_table, summary

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
_HEX_WIDTH: Final = 96
_INTRODUCTION: Final = """
Every message is a msgpack map. `t` names its kind; the other fields are listed below. *Required* fields are always
there. An optional field that is absent means the same as one that is nil; an absent `bool` is false, an absent
`array` or `map` is empty unless its line says otherwise. Fields that are not listed are to be ignored.
Types: `int` with its range, `str` and `bin` with their length (`str` in characters), `array`, `map`,
`bool`. A *record* is an array `[signer: int, body: bin, sig: bin]`. [envelope.md](envelope.md) says how messages work
together; [schema/](schema/README.md) has the same types as JSON Schema.

Each form has an example: first in JSON, with `bin` as base64, then the msgpack bytes in hex, without the length
before them. Bodies in the examples are shortened and signatures made up; [traces](../../tests/vectors/traces/README.md) show real ones.

*Errors* lists the codes that a request may be refused with; besides these, {every} may answer any request after
`welcome`, `auth_required` any before it, and `unknown_request` one whose [capability](capabilities.md) the server
does not have. *Then* says what may come next. Everything here has been there since protocol 1.
"""


def messages_page() -> str:
    """Write messages.md: every message with its fields."""
    lines = ["# Messages", "", GENERATED, _INTRODUCTION.format(every=_listed(EVERY))]
    for direction in Direction:
        lines += [f"## {direction.value[0].upper()}{direction.value[1:]}", ""]
        lines += [f"* [`{row.tag}`](#{_anchor(row)}): {_purpose(row)}" for row in _rows(direction)]
        lines.append("")
        for row in _rows(direction):
            lines += _message(row)
    lines += ["## Maps inside messages", ""]
    for part in PARTS:
        lines += [f"### {part.__name__}", "", summary(part), "", *field_table(part), ""]
    return "\n".join(lines).rstrip() + "\n"


def _rows(direction: Direction) -> list[Row]:
    return [row for row in MESSAGES if row.direction is direction]


def _anchor(row: Row) -> str:
    """Return the anchor of a heading; a tag that goes both ways has a second heading of the same name."""
    second = row.direction is Direction.TO_CLIENT and any(
        other.tag == row.tag for other in _rows(Direction.TO_SERVER)
    )
    return f"{row.tag}-1" if second else row.tag


def _purpose(row: Row) -> str:
    return " Or: ".join(summary(form.message) for form in row.forms)


def _message(row: Row) -> list[str]:
    lines = [f"### {row.tag}", "", f"*{row.direction.value}{_capability(row)}*", ""]
    for form in row.forms:
        lines += [summary(form.message) + _told_apart(form, row), "", *field_table(form.message), ""]
        lines += _example(row.direction, form.message)
    return lines + _course(row)


def _capability(row: Row) -> str:
    name = BROUGHT_BY.get(row.tag)
    return "" if name is None else f"; with the capability [`{name}`](capabilities.md#{name})"


def _course(row: Row) -> list[str]:
    course = COURSES[row.direction][row.tag]
    lines = []
    if row.replies:
        lines.append("**Reply:** " + " or ".join(f"`{tag}`" for tag in _all_replies(row)) + ".  ")
    if course.errors:
        lines.append(f"**Errors:** {_listed(course.errors)}.  ")
    return [*lines, f"**Then:** {course.then}", ""]


def _listed(codes: tuple[Code, ...]) -> str:
    return ", ".join(f"[`{code}`](errors.md#{code})" for code in codes)


def _example(direction: Direction, kind: type[Message]) -> list[str]:
    message = example_of(direction, kind)
    projected = msgspec.json.encode(message).decode()
    return ["```json", projected, "```", "```hex", *wrap(encode(message).hex(), _HEX_WIDTH), "```", ""]


def _all_replies(row: Row) -> tuple[str, ...]:
    return row.replies if row.tag == "ping" else (*row.replies, "error")


def _told_apart(form: Form, row: Row) -> str:
    if len(row.forms) == 1:
        return ""
    if form.mark is not None:
        return f" This form has `{form.mark}`."
    marks = " or ".join(f"`{other.mark}`" for other in row.forms if other.mark is not None)
    return f" This form has no {marks}."

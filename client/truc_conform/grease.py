"""What a newer server might send: fields, messages, codes, facts and capabilities that nobody knows yet.

docs/protocol/evolution.md says what a client does with each of them: it goes on. A frame with unknown fields is still
the message it was, so if a client breaks on it, its strictness is the only cause.
"""

from typing import Any, Final

import msgspec

from truc_conform.shown import CODE, INFO
from truc_protocol.codec import pack, unpack
from truc_protocol.messages import Capabilities, MatchRecord, Refusal, ServerMessage
from truc_protocol.wire.encoding import SERVER_LIMIT, encode, to_frame

UNKNOWN: Final[dict[str, Any]] = {"x-grease": {"x": [1, None, b"\x00"]}, "later": "a field of tomorrow"}
STRANGE_FACT: Final = {"what": "x_grease", "seat": 9, "later": [1, 2]}
_HEADER: Final = 4


def framed(fields: dict[str, Any]) -> bytes:
    """Return a frame of any map."""
    return to_frame(pack(fields), SERVER_LIMIT)


def raw(message: ServerMessage) -> bytes:
    """Return a message as a frame, without the server's connection counting it."""
    return to_frame(encode(message), SERVER_LIMIT)


def greased(frame: bytes) -> bytes:
    """Put unknown fields into a message and into the maps of its lists."""
    return framed(_grown(unpack(frame[_HEADER:])))


def _grown(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: _grown_items(value) for name, value in fields.items()} | UNKNOWN


def _grown_items(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return [_grown(item) if isinstance(item, dict) else item for item in value]


def padded(frame: bytes) -> bytes:
    """Lengthen a frame, by an unknown field, to the longest that a server may send."""
    fields = unpack(frame[_HEADER:])
    bare = len(pack({**fields, "x-pad": b"\x00" * 0x10000}))
    pad = 0x10000 - (bare - SERVER_LIMIT)
    # A shorter bin may say its length in fewer bytes, which are made up for here.
    while len(pack({**fields, "x-pad": b"\x00" * pad})) < SERVER_LIMIT:
        pad += 1
    return framed({**fields, "x-pad": b"\x00" * pad})


def strange_info() -> bytes:
    """Return an info with capabilities, limits and fields that nobody knows, and a clock that is days ahead."""
    fields = unpack(msgspec.msgpack.encode(INFO))
    fields["caps"] = {"example.org/grease": {"chars": 1}, "draft/grease-2": True, "grease": 7}
    fields["limits"] |= {"x-grease": 1, "grease_s": None}
    # session.md, "Clocks and deadlines": a client needs no correct clock.
    fields["now_ms"] = 4_000_000_000_000
    return pack(fields | UNKNOWN)


def strange_notices() -> tuple[ServerMessage | bytes, ...]:
    """Return notices that nobody knows, and changes to capabilities that nobody has."""
    return (
        framed({"t": "x-grease"}),
        framed({"t": "weather", "table": CODE, "seats": [1, 2], "why": {"wind": "west"}}),
        Capabilities(add={"example.org/grease": 3}, gone=("draft/grease-2", "grease")),
    )


def strange_error(request: int) -> Refusal:
    """Return an error with a code that nobody knows, which ends nothing."""
    return Refusal(re=request, code="x_grease", msg="a code of tomorrow", retryable=False, close=False)


def strange_facts(message: ServerMessage) -> ServerMessage:
    """Put facts that nobody knows before and after those of a record."""
    if not isinstance(message, MatchRecord):
        return message
    means = (STRANGE_FACT, *message.means, STRANGE_FACT)
    return msgspec.structs.replace(message, means=means)

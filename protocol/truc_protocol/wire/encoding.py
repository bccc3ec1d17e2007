"""Bytes on the wire: a length of four bytes, big-endian, then that many bytes of one message.

Bytes come in as they arrive and are cut into frames. A length that is 0 or above the limit ends the stream: there is no
way to get back into step, and none is tried. Because every limit is far below 2^24 the first byte of a connection is
always 0, so a peer that speaks another protocol is recognised, and told so in words. A frame is read as a message by the
table of messages: unknown fields are ignored, nil and absent mean the same, and everything else that does not fit is an
error that names the field. Whoever passes frames on unread reads only their head.
"""

import re
import string
import struct
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from truc_protocol.codec import EncodingError, enc_trusted, unpack
from truc_protocol.errors import Code, LocalError, RemoteError
from truc_protocol.messages import (
    MESSAGES,
    AnyMessage,
    Direction,
    GuestAct,
    Ok,
    SignedAct,
    TableState,
)
from truc_protocol.messages.table import Form, MessageRow

# A hostile frame takes up to 72 times its size while it is decoded (64 KiB of empty maps: 4.7 MB), so clients
# have what they need and no more: 8 KiB, some 0.6 MB. A mask in mode blind is the longest, with a body of up to
# 7,680 bytes
LOGIN_LIMIT: Final = 2_048
CLIENT_LIMIT: Final = 8_192
SERVER_LIMIT: Final = 65_536

_HEADER: Final = struct.Struct(">I")
LENGTH_BYTES: Final = _HEADER.size
SHORT_FRAME: Final = 1_024  # nearly all messages are shorter
SHORT_HEADERS: Final = tuple(_HEADER.pack(length) for length in range(SHORT_FRAME))
# recognised by four bytes, because a length is judged as soon as it is there
_HTTP: Final = (b"GET ", b"HEAD", b"POST", b"PUT ", b"DELE", b"OPTI", b"CONN", b"PATC", b"PRI ", b"HTTP")
_TLS_RECORDS: Final = (b"\x16\x03", b"\x15\x03")  # a handshake, an alert
_TEXT: Final = frozenset(string.printable.encode())
_ROWS: Final[Mapping[Direction, Mapping[str, MessageRow]]] = {
    direction: {row.tag: row for row in MESSAGES if row.direction is direction} for direction in Direction
}
_ACT: Final = enc_trusted({"t": "act"})[1:]
_SIGNED_ACT: Final = msgspec.msgpack.Decoder(SignedAct)
_GUEST_ACT: Final = msgspec.msgpack.Decoder(GuestAct)
_PLACE: Final = re.compile(r" - at (?:`key` in )?`\$\.?(?P<path>[^`]*)`$")
_MISSING: Final = re.compile(r"missing required field `(?P<name>[^`]+)`")
_LARGEST_ID: Final = 2**32 - 1


class FrameError(RemoteError):
    """The stream of frames is broken and cannot go on."""


class MistakenPeerError(FrameError):
    """The peer speaks something else; `line` tells it so, as text to send as it is."""

    def __init__(self, spoken: str) -> None:
        super().__init__(Code.BAD_FRAME, f"expected a frame, got {spoken}")
        self.line = f"This port speaks the Truc protocol (binary frames over TCP), not {spoken}.\r\n".encode()


class FrameSplitter:
    """Cuts a stream of bytes into frames.

    `limit` is the longest frame taken; it may be changed between two frames. `rest` is what has come and was not taken.
    """

    __slots__ = ("_fresh", "limit", "rest")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.rest = bytearray()
        self._fresh = True

    def feed(self, received: bytes) -> None:
        """Take bytes as they came from the peer."""
        self.rest += received

    def next_frame(self) -> bytes | None:
        """Return the next whole frame without its length, or None until more bytes come.

        Raises:
            FrameError: The length is 0 or above the limit, or the peer speaks another protocol.
        """
        received = len(self.rest)
        if received < LENGTH_BYTES:
            return None
        (length,) = _HEADER.unpack_from(self.rest)
        if not 0 < length <= self.limit:
            raise self._refused(length)
        end = LENGTH_BYTES + length
        if received < end:
            return None
        frame = bytes(self.rest[LENGTH_BYTES:end])
        del self.rest[:end]
        self._fresh = False
        return frame

    def _refused(self, length: int) -> FrameError:
        if length == 0:
            return FrameError(Code.BAD_FRAME, "expected a frame of at least 1 byte, got length 0")
        # only at the start of a connection: later on such bytes are just a wrong length
        spoken = _foreign_protocol(bytes(self.rest[: _HEADER.size])) if self._fresh else None
        if spoken is not None:
            return MistakenPeerError(spoken)
        return FrameError(
            Code.FRAME_TOO_LARGE, f"expected a frame of at most {self.limit} bytes, got length {length}"
        )


def to_frame(message: bytes, limit: int) -> bytes:
    """Put its length before an encoded message.

    Raises:
        LocalError: The message is empty or longer than the peer takes.
    """
    length = len(message)
    if not 0 < length <= limit:
        raise LocalError(f"expected a message of 1 to {limit} bytes, got {length}")
    return (SHORT_HEADERS[length] if length < SHORT_FRAME else _HEADER.pack(length)) + message


def _foreign_protocol(first: bytes) -> str | None:
    """Name the protocol that starts with these four bytes, or None if they do not tell."""
    if first.startswith(_TLS_RECORDS):
        return "TLS"
    if first in _HTTP:
        return "HTTP"
    if first == b"SSH-":
        return "SSH"
    return "text" if all(byte in _TEXT for byte in first) else None


class MessageError(RemoteError):
    """A frame that is not a message; `re` is its request id if that could be read."""


class FrameHead(msgspec.Struct, frozen=True):
    """What a frame is, and whether it answers a request; of any other field only what a link between servers needs."""

    t: str
    """The message's name."""
    re: int | None = None
    """The request that it answers."""
    n: Any = None
    """The number of a ping."""
    code: Any = None
    """The code of an error or a bye."""
    msg: Any = None
    """What it says in words."""
    table: Any = None
    """The code of the table that it is about; of an answer, or a list, none."""
    close: Any = False
    """Whether an error ends the connection."""


_HEADS: Final = msgspec.msgpack.Decoder(FrameHead)


def head_of(frame: bytes) -> FrameHead:
    """Return the head of an encoded message, without its length.

    Raises:
        ValueError: It is no message.
    """
    return _HEADS.decode(frame)


def encode(message: AnyMessage) -> bytes:
    """Return the bytes of a message, without the optional fields that are not set."""
    # msgspec writes the long header of a map that may have more than 15 fields even if most are left out
    if type(message) is TableState or (type(message) is Ok and message.tables):
        return enc_trusted(msgspec.to_builtins(message, builtin_types=(bytes,)))
    return enc_trusted(message)


def decode(frame: bytes, direction: Direction) -> AnyMessage:
    """Read one message.

    Raises:
        MessageError: bad_msgpack, unknown_request, or bad_message with the field.
    """
    if frame[1:7] == _ACT and direction is Direction.TO_SERVER:
        act = _usual_act(frame)
        if act is not None:
            return act
    try:
        fields = unpack(frame)
    except EncodingError as error:
        raise MessageError(Code.BAD_MSGPACK, str(error)) from error
    if None in fields.values():
        fields = {name: value for name, value in fields.items() if value is not None}
    form = _form(fields, direction)
    try:
        return msgspec.convert(fields, form.message, builtin_types=(bytes,))
    except msgspec.ValidationError as error:
        raise _explain(error, fields) from error


def _usual_act(frame: bytes) -> SignedAct | GuestAct | None:
    """Return an act that is encoded as our own clients do it, or None: anything else is read field by field.

    This takes a third of the time, and nearly every message is an act.
    """
    try:
        # only a signed act has the key `body`; where these bytes stand for something else, decoding fails
        act = (_SIGNED_ACT if b"\xa4body" in frame else _GUEST_ACT).decode(frame)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    # what encodes to the same bytes has only the fields of its class, each once and in its shortest form
    return act if enc_trusted(act) == frame else None


def _request_id(fields: Mapping[str, object]) -> int | None:
    # looked at by itself, so that the refusal of a bad request can still name it
    request = fields.get("id")
    return request if type(request) is int and 0 <= request <= _LARGEST_ID else None


def _form(fields: Mapping[str, object], direction: Direction) -> Form:
    match fields:
        case {"t": str(tag)}:
            pass
        case _:
            expected = "expected the message's name, a str, in `t`"
            raise MessageError(Code.BAD_MESSAGE, expected, field="t", re=_request_id(fields))
    rows = _ROWS[direction]
    if tag not in rows:
        known = "a message that goes from " + direction.value
        raise MessageError(
            Code.UNKNOWN_REQUEST, f"expected {known}, got {tag[:64]!r}", field="t", re=_request_id(fields)
        )
    *others, last = rows[tag].forms
    for form in others:
        if form.mark in fields:
            return form
    return last


def _explain(error: msgspec.ValidationError, fields: Mapping[str, object]) -> MessageError:
    # where a value does not fit, and why, msgspec says only in its text
    text = str(error)
    found = _PLACE.search(text)
    steps = _steps(found["path"]) if found else []
    said = _PLACE.sub("", text)
    missing = _MISSING.search(said)
    if missing:
        steps.append(missing["name"])
        said = "expected this field, got none"
    # for ranges and lengths msgspec says what was expected, but not what came
    elif not said.startswith("Invalid") and "got" not in said and found and "`key`" not in found[0]:
        said += f", got {_describe(fields, steps)}"
    place = "/".join(steps)
    said = said[0].lower() + said[1:]
    return MessageError(Code.BAD_MESSAGE, f"{place}: {said}", field=place, re=_request_id(fields))


def _steps(path: str) -> list[str]:
    """Split msgspec's `seats[0].name` into its steps; `[...]` stands for any key of a map."""
    return [
        step for step in path.replace("[...]", ".*").replace("[", ".").replace("]", "").split(".") if step
    ]


def _describe(fields: object, steps: list[str]) -> str:
    """Describe the value at `steps` without showing what may be secret."""
    value = fields
    for step in steps:
        match value:
            case dict() if step in value:
                value = value[step]
            case list() if step.isdigit():
                value = value[int(step)]
            case _:
                return "another"
    match value:
        case str() | bytes() | list() | dict():
            return f"length {len(value)}"
        case _:
            return repr(value)

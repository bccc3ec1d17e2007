"""The frames in a WebSocket: what both ends agree on besides RFC 6455 (docs/protocol/transport.md, "WebSocket").

One binary message is one frame without its length. Nothing is opened here. Invariant: what a hello binds a WebSocket to is
never the hash of a certificate, as it hashes something tagged.
"""

import struct
from typing import Final

from truc_protocol.codec import enc, sha256
from truc_protocol.errors import Code

SUBPROTOCOL: Final = "truc.1"
PATH: Final = "/ws"
BINDING: Final = "truc/1/web"
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
"""How this machine is written in an origin."""

_BINARY: Final = 0x82  # the one frame of a binary message
_SHORT, _MEDIUM = 125, 65_535  # the longest payloads of a length of 7 and of 16 bits
_LENGTH: Final = struct.Struct(">I")
_NORMAL, _GOING_AWAY, _MISTAKE, _POLICY, _TOO_BIG, _FAILED, _LATER = 1000, 1001, 1002, 1008, 1009, 1011, 1013

TEXT_STATUS: Final = 1003
"""What a text message is answered with."""

_STATUSES: Final = {
    Code.SHUTTING_DOWN: _GOING_AWAY,
    Code.MOVED: _GOING_AWAY,
    Code.FRAME_TOO_LARGE: _TOO_BIG,
    Code.TIMEOUT: _FAILED,
    Code.INTERNAL: _FAILED,
    Code.SLOW_CONSUMER: _LATER,
    Code.RATE_LIMITED: _LATER,
    Code.SERVER_FULL: _LATER,
    Code.BANNED: _POLICY,
    Code.KICKED: _POLICY,
    Code.FORGOTTEN: _POLICY,
    Code.KEY_NOT_ALLOWED: _POLICY,
}


def binding(origin: str) -> bytes:
    """Return what stands as `cert` in the hello on a WebSocket of this origin (C37)."""
    return sha256(enc([BINDING, origin]))


def web_link(origin: str, table: str | None = None, invite: str | None = None) -> str:
    """Return where a browser finds a table, or the server; an invite stands where neither log nor proxy sees it."""
    return f"{origin}/{'' if table is None else f't/{table}'}{'' if invite is None else f'#invite={invite}'}"


def status_of(code: Code | None) -> int:
    """Return the status of the close frame after a bye with this code; None is the end without a bye."""
    return _NORMAL if code is None else _STATUSES.get(code, _MISTAKE)


def header(length: int) -> bytes:
    """Return what stands before an unmasked binary message of so many bytes."""
    if length <= _SHORT:
        return bytes((_BINARY, length))
    if length <= _MEDIUM:
        return struct.pack(">BBH", _BINARY, 126, length)
    return struct.pack(">BBQ", _BINARY, 127, length)


def to_messages(frames: bytes) -> bytes:
    """Return whole frames as WebSocket messages of a server."""
    pieces: list[bytes] = []
    at = 0
    while at < len(frames):
        begin = at + _LENGTH.size
        at = begin + int(_LENGTH.unpack_from(frames, begin - _LENGTH.size)[0])
        pieces += (header(at - begin), frames[begin:at])
    return b"".join(pieces)

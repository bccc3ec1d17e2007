"""What lies below the frames: the two schemes of addresses, and what both ends of an encrypted connection or a WebSocket agree on.

docs/protocol/transport.md says the same in prose. In a WebSocket one binary message is one frame without its length. Nothing is
opened or encrypted here. Invariant: what a hello binds a WebSocket to is never the hash of a certificate.
"""

import struct
from typing import Final

from truc_protocol.codec import enc, sha256
from truc_protocol.errors import Code

PLAIN: Final = "truc://"
ENCRYPTED: Final = "trucs://"
ALPN: Final = "truc/1"
HANDSHAKE_BYTE: Final = 0x16
"""The first byte of a connection that begins with a TLS handshake."""
FRAME_BYTE: Final = 0x00
"""The first byte of a connection that begins with a frame: every limit is below 2^24."""

# alerts that TLS libraries report by name, so that a client can tell them apart (transport.md, "TLS")
_ACCESS_DENIED: Final = 49
_INTERNAL_ERROR: Final = 80


def _fatal_alert(description: int) -> bytes:
    """Return the TLS record that ends a connection on which nothing is encrypted yet (RFC 8446, 6.2)."""
    return bytes((0x15, 3, 3, 0, 2, 2, description))


SHUT_OUT_ALERT: Final = _fatal_alert(_ACCESS_DENIED)
"""What an encrypting server says to an address that its host has shut out, before any handshake."""
COME_LATER_ALERT: Final = _fatal_alert(_INTERNAL_ERROR)
"""What it says to one that may come in later: there are too many connections now, or they come too fast."""


def scheme(*, is_tls: bool) -> str:
    """Return the scheme with which a server's addresses begin."""
    return ENCRYPTED if is_tls else PLAIN


SUBPROTOCOL: Final = "truc.1"
WEBSOCKET_PATH: Final = "/ws"
BINDING: Final = "truc/1/web"
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
"""The ways in which an origin can name this machine."""

_BINARY: Final = 0x82  # the one frame of a binary message
# the longest payloads of a length of 7 and of 16 bits; 126 and 127 announce those of 16 and 64 (RFC 6455, 5.2)
_SHORT, _MEDIUM = 125, 65_535
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


def origin_binding(origin: str) -> bytes:
    """Return what stands as `cert` in the hello on a WebSocket of this origin (C37)."""
    # tagged, so it never equals a certificate's hash: a hello signed for one port fails at the other
    return sha256(enc([BINDING, origin]))


def web_link(origin: str, table: str | None = None, invite: str | None = None) -> str:
    """Return where a browser finds a table, or the server."""
    # behind #, which browsers do not send: neither logs nor proxies see the invite
    return f"{origin}/{'' if table is None else f't/{table}'}{'' if invite is None else f'#invite={invite}'}"


def close_status(code: Code | None) -> int:
    """Return the status of the close frame after a bye with this code; None is the end without a bye."""
    return _NORMAL if code is None else _STATUSES.get(code, _MISTAKE)


def websocket_header(length: int) -> bytes:
    """Return what stands before an unmasked binary message of so many bytes."""
    if length <= _SHORT:
        return bytes((_BINARY, length))
    if length <= _MEDIUM:
        return struct.pack(">BBH", _BINARY, 126, length)
    return struct.pack(">BBQ", _BINARY, 127, length)


def to_websocket_messages(frames: bytes) -> bytes:
    """Return whole frames as WebSocket messages of a server."""
    pieces: list[bytes] = []
    at = 0
    while at < len(frames):
        begin = at + _LENGTH.size
        at = begin + int(_LENGTH.unpack_from(frames, begin - _LENGTH.size)[0])
        pieces += (websocket_header(at - begin), frames[begin:at])
    return b"".join(pieces)

"""Frames: a length of four bytes, big-endian, then that many bytes of one message.

Bytes come in as they arrive and frames go out; nothing here knows what a frame holds. A length that is 0 or above the
limit ends the stream: there is no way to get back into step, and none is tried. Because every limit is far below 2^24
the first byte of a connection is always 0, so a peer that speaks another protocol is recognised, and told so in words.
"""

import string
import struct
from typing import Final

from truc_protocol.errors import Code, LocalError, RemoteError

LOGIN_LIMIT: Final = 2_048
CLIENT_LIMIT: Final = 8_192
SERVER_LIMIT: Final = 65_536

_HEADER: Final = struct.Struct(">I")
LENGTH_BYTES: Final = _HEADER.size
SHORT: Final = 1_024  # nearly all messages are shorter
HEADERS: Final = tuple(_HEADER.pack(length) for length in range(SHORT))
_HTTP: Final = (b"GET ", b"HEAD", b"POST", b"PUT ", b"DELE", b"OPTI", b"CONN", b"PATC", b"PRI ", b"HTTP")
_TLS_RECORDS: Final = (b"\x16\x03", b"\x15\x03")
_TEXT: Final = frozenset(string.printable.encode())


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
    return (HEADERS[length] if length < SHORT else _HEADER.pack(length)) + message


def _foreign_protocol(first: bytes) -> str | None:
    """Name the protocol that starts with these four bytes, or None if they do not tell."""
    if first.startswith(_TLS_RECORDS):
        return "TLS"
    if first in _HTTP:
        return "HTTP"
    if first == b"SSH-":
        return "SSH"
    return "text" if all(byte in _TEXT for byte in first) else None

"""A stream of frames that is carried by a WebSocket, for servers that browsers can reach (docs/protocol/transport.md).

wsproto, which only this needs, is imported when an address begins with `ws://` or `wss://`. What a case sends byte by byte
goes out byte by byte: a length becomes the header of a message, and the rest its payload. Invariant: every frame that
comes is handed on with its length before it, as on TCP.
"""

import ssl
import struct
from itertools import cycle
from secrets import token_bytes
from typing import TYPE_CHECKING, Final, NamedTuple

import trio

from truc_conform.expectations import InconclusiveError, UnexpectedError
from truc_protocol.errors import Code
from truc_protocol.messages import refusal
from truc_protocol.wire.connection import ConnectionEnd, Role
from truc_protocol.wire.encoding import CLIENT_LIMIT, LOGIN_LIMIT
from truc_protocol.wire.transport import SUBPROTOCOL, WEBSOCKET_PATH, origin_binding

if TYPE_CHECKING:
    from wsproto import WSConnection

_LENGTH: Final = struct.Struct(">I")
_CHUNK: Final = 65_536
_MOST: Final = 16_384  # of a message of which only the length is sent: above what any server takes
_LOGIN: Final = 2  # messages until a client is logged in
_FRAMES: Final = 1 << 24  # what begins with more is no frame
_TURNED_AWAY: Final = {403: Code.BANNED, 429: Code.RATE_LIMITED, 503: Code.SERVER_FULL}
_SHORT, _MEDIUM = 125, 65_535


class Origin(NamedTuple):
    """Where browsers reach a server."""

    host: str
    port: int
    is_secure: bool

    @property
    def authority(self) -> str:
        """What a browser sends as host."""
        place = f"[{self.host}]" if ":" in self.host else self.host
        return place if self.port == (443 if self.is_secure else 80) else f"{place}:{self.port}"

    def __str__(self) -> str:
        return f"http{'s' if self.is_secure else ''}://{self.authority}"


async def connect(origin: Origin) -> "WebSocketStream":
    """Return a WebSocket of a server, on which nothing has been said.

    Raises:
        UnexpectedError: The server does not upgrade the connection.
    """
    from wsproto import ConnectionType, WSConnection
    from wsproto.events import Request

    stream: trio.abc.Stream = await trio.open_tcp_stream(origin.host, origin.port)
    if origin.is_secure:
        stream = trio.SSLStream(stream, ssl.create_default_context(), server_hostname=origin.host)
    socket = WSConnection(ConnectionType.CLIENT)
    try:
        asked = Request(
            host=origin.authority,
            target=WEBSOCKET_PATH,
            subprotocols=[SUBPROTOCOL],
            extra_headers=[(b"Origin", str(origin).encode())],
        )
        await stream.send_all(socket.send(asked))
        return await _upgraded(stream, socket, origin)
    except BaseException:
        await trio.aclose_forcefully(stream)
        raise


async def _upgraded(stream: trio.abc.Stream, socket: "WSConnection", origin: Origin) -> "WebSocketStream":
    from wsproto.events import AcceptConnection, RejectConnection

    while True:
        received = await stream.receive_some(_CHUNK)
        socket.receive_data(bytes(received) if received else None)
        for event in socket.events():
            match event:
                case AcceptConnection(subprotocol=subprotocol) if subprotocol == SUBPROTOCOL:
                    return WebSocketStream(stream, socket, origin_binding(str(origin)))
                case RejectConnection(status_code=status) if status in _TURNED_AWAY:
                    return _turned_away(stream, socket, _TURNED_AWAY[status], dict(event.headers))
                case _:
                    words = f"expected a WebSocket with the subprotocol {SUBPROTOCOL}, got {event}"
                    raise UnexpectedError(words)


def _turned_away(
    stream: trio.abc.Stream, socket: "WSConnection", code: Code, headers: dict[bytes, bytes]
) -> "WebSocketStream":
    """Return a stream that says in frames what the answer to the request stands for."""
    if b"retry-after" not in headers:
        # transport.md, "WebSocket": 403, 429 and 503 come with it.
        raise UnexpectedError(f"expected Retry-After with {code}, got {headers}")
    refused = ConnectionEnd(Role.SERVER).refuse(refusal(code, "turned away before the upgrade"))
    return WebSocketStream(stream, socket, b"", last_words=refused)


class WebSocketStream(trio.abc.Stream):
    """Frames with their lengths, over a WebSocket.

    Attributes:
        stream: what carries it.
        cert: what the server's hello must bind it to.
        status: the status of the server's close frame, when that has come.
    """

    def __init__(
        self, stream: trio.abc.Stream, socket: "WSConnection", cert: bytes, *, last_words: bytes | None = None
    ) -> None:
        self.stream = stream
        self.cert = cert
        self.status: int | None = None
        self._socket = socket
        self._last_words = last_words  # of a server that has not upgraded the connection
        self._sent = 0  # messages that were begun
        self._taken = b""  # of a message that has not come whole
        self._unsent = b""  # of a length
        self._left = 0  # bytes of the payload under way
        self._mask = cycle(b"\0")

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send bytes of frames."""
        rest, out = self._unsent + bytes(data), b""
        while rest and self._last_words is None:
            if not self._left:
                if len(rest) < _LENGTH.size:
                    break
                (length,) = _LENGTH.unpack_from(rest)
                rest = rest[_LENGTH.size :]
                # What begins so is text or TLS, for cases about
                # the wrong port, which a WebSocket does not have.
                if length > _FRAMES and rest:
                    raise InconclusiveError("in a WebSocket nothing but frames can be sent: not tried")
                out += self._begin(length)
                if not rest and length > (LOGIN_LIMIT if self._sent <= _LOGIN else CLIENT_LIMIT):
                    rest = bytes(min(length, _MOST))  # only the length is said, which must be refused
                continue
            piece, rest = rest[: self._left], rest[self._left :]
            self._left -= len(piece)
            out += bytes(byte ^ next(self._mask) for byte in piece)
        self._unsent = rest
        await self.stream.send_all(out)

    def _begin(self, length: int) -> bytes:
        """Return the header of a binary message of so many bytes, masked as a client's is."""
        key, self._left = token_bytes(4), length
        self._sent += 1
        self._mask = cycle(key)
        if length <= _SHORT:
            return bytes((0x82, 0x80 | length)) + key
        if length <= _MEDIUM:
            return struct.pack(">BBH", 0x82, 0xFE, length) + key
        return struct.pack(">BBQ", 0x82, 0xFF, length) + key

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """Return what comes next, as frames with their lengths; empty at the end."""
        if self._last_words is not None:
            words, self._last_words = self._last_words, b""
            return words
        while not (found := await self._come()) and self.status is None:
            received = await self.stream.receive_some(max_bytes or _CHUNK)
            if not received:
                return b""
            self._socket.receive_data(bytes(received))
        return found

    async def _come(self) -> bytes:
        """Return the frames that have come whole."""
        from wsproto.events import BytesMessage, CloseConnection, Ping

        found = b""
        for event in self._socket.events():
            match event:
                case BytesMessage():
                    self._taken += event.data
                    # A message may come in pieces; the kit takes what this project's server does not send.
                    if event.message_finished:
                        found += _LENGTH.pack(len(self._taken)) + self._taken
                        self._taken = b""
                case CloseConnection():
                    self.status = event.code
                case Ping():
                    await self.stream.send_all(self._socket.send(event.response()))
                case _:
                    pass
        return found

    def setsockopt(self, level: int, option: int, value: int) -> None:
        """Set an option of the socket below."""
        stream = self.stream.transport_stream if isinstance(self.stream, trio.SSLStream) else self.stream
        if isinstance(stream, trio.SocketStream):
            stream.setsockopt(level, option, value)

    async def wait_send_all_might_not_block(self) -> None:
        """Wait until something may be sent."""
        await self.stream.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        """Close the connection, without a close frame."""
        await trio.aclose_forcefully(self.stream)

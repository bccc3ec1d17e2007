"""The protocol in a WebSocket: between the frames of a connection and its socket, as TLS is.

wsproto reads and closes; what is sent gets the header of 2 to 10 bytes that every frame of a server has, which is the same
for everybody. Invariants: no more than one message waits for its rest, and never more than a client may send; what is no
message of the binding is said once, by name, and then nothing is opened any more.
"""

import struct
from typing import Final

from wsproto.connection import Connection, ConnectionState
from wsproto.events import BytesMessage, CloseConnection, Event, Ping, TextMessage

from truc_protocol.errors import Code, RemoteError
from truc_protocol.wire.encoding import CLIENT_LIMIT
from truc_protocol.wire.transport import TEXT_STATUS, close_status, to_websocket_messages
from truc_web.serving.http_connection import Cipher

PIECES: Final = 64
"""Frames of a WebSocket for one message, fragments and control frames: each takes 15 µs, so that nobody sends thousands for it."""
_OPEN: Final = (ConnectionState.OPEN, ConnectionState.REMOTE_CLOSING)
_LENGTH: Final = struct.Struct(">I")


class WebSocketSealer:
    """One WebSocket, seen from the server; `tls` is what it lies in, if that is ours.

    Attributes:
        certificate: what the origin stands for in the hello.
    """

    __slots__ = (
        "_is_answered",
        "_is_over",
        "_own",
        "_pieces",
        "_socket",
        "_status",
        "_taken",
        "_tls",
        "certificate",
    )

    speaks_truc: Final = True  # as the subprotocol was asked for
    can_move: Final = False  # a page reaches its own origin only

    def __init__(self, certificate: bytes, tls: Cipher | None, socket: Connection) -> None:
        self.certificate = certificate
        self._tls = tls
        self._socket = socket
        self._taken = bytearray()  # of a message whose rest has not come
        self._pieces = 0  # since the last whole message
        self._own = b""  # answers to control frames
        self._status: int | None = None
        self._is_over = False
        self._is_answered = False  # the close frame of the client

    @property
    def owes_words(self) -> bool:
        """Whether a control frame is to be answered."""
        return bool(self._own)

    def feed(self, received: bytes) -> None:
        """Take what the peer has sent."""
        if self._tls is not None:
            self._tls.feed(received)
        elif not self._is_over:
            self._socket.receive_data(received)

    def take(self, opened: bytes) -> None:
        """Take what has come together with the request, already opened."""
        self._socket.receive_data(opened)

    def read(self) -> bytes | None:
        """Return the next message as a frame; None until more is fed, empty at the end.

        Raises:
            RemoteError: What has come is no message of the binding.
        """
        while True:
            if not self._is_over:
                for event in self._socket.events():
                    frame = self._take(event)
                    if frame is not None:
                        return frame
            opened = None if self._tls is None else self._tls.read()
            if not opened:
                return opened
            if not self._is_over:
                self._socket.receive_data(opened)

    def _take(self, event: Event) -> bytes | None:
        self._pieces += 1
        match event:
            case BytesMessage():
                self._taken += event.data
                if len(self._taken) > CLIENT_LIMIT:
                    self._is_over = True  # its length alone, which is refused
                    return _LENGTH.pack(len(self._taken))
                if event.message_finished:
                    frame = _LENGTH.pack(len(self._taken)) + self._taken
                    self._taken, self._pieces = bytearray(), 0
                    return frame
            case TextMessage():
                raise self._broken(Code.BAD_FRAME, "expected a binary message, got text", TEXT_STATUS)
            case CloseConnection():
                return self._close(event)
            case Ping():
                self._own += self._socket.send(event.response())
            case _:
                pass
        if self._pieces > PIECES:
            text = f"expected at most {PIECES} frames of WebSocket for one message"
            raise self._broken(Code.RATE_LIMITED, text)
        return None

    def _close(self, event: CloseConnection) -> bytes:
        # wsproto tells of whatever breaks RFC 6455 by the same event, but leaves the connection open
        if self._socket.state is ConnectionState.OPEN:
            raise self._broken(Code.BAD_FRAME, event.reason or "expected a frame of WebSocket", event.code)
        self._is_over = True
        if self._socket.state in _OPEN:
            self._own += self._socket.send(event.response())
            self._is_answered = True
        return b""

    def _broken(self, code: Code, text: str, status: int | None = None) -> RemoteError:
        self._is_over, self._status = True, status
        return RemoteError(code, text)

    def seal(self, frames: bytes) -> bytes:
        """Return what is to be written for some whole frames, and for what is owed.

        Raises:
            ssl.SSLError: The encryption is broken.
        """
        # behind an answer to a close frame nothing may come (RFC 6455, 5.5.1)
        messages = b"" if self._is_answered else to_websocket_messages(frames)
        if self._own:
            messages, self._own = self._own + messages, b""
        return messages if self._tls is None else self._tls.seal(messages)

    def part(self, code: Code | None) -> bytes:
        """Return the close frame, and what ends the encryption."""
        words = b""
        if self._socket.state in _OPEN:
            words = self._socket.send(CloseConnection(self._status or close_status(code)))
        self._is_over = True
        return words if self._tls is None else self._tls.seal(words) + self._tls.part()

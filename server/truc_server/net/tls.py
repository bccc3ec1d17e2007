"""Encryption of one connection: TLS 1.3 between its socket and its frames, without a task or a wait of its own.

What is sent is sealed at once and leaves like any other bytes, by the flusher; what is received is opened where it is read.
So nothing is written by two tasks, and no encrypted connection can hold up another. A peer that does not begin with TLS
is recognised by its first byte. Invariants: what has not been opened yet, and what TLS itself has to say, never takes
more than a few kilobytes; after an error nothing is sealed or opened any more.
"""

import ssl
from contextlib import suppress
from typing import Final

import trio

from truc_protocol.errors import Code
from truc_protocol.wire.transport import ALPN, HANDSHAKE_BYTE
from truc_server.identity.certificate import Tls

_READ: Final = 4_096
HANDSHAKE_BYTES: Final = 16_384  # from a client; a hello with keys of every kind takes 2,000
_OWN_WORDS: Final = 4_096  # bytes of TLS itself: new keys, for a peer that asks for them again and again


class MistakenSchemeError(Exception):
    """The peer does not begin with TLS; `first` is the byte it begins with."""

    def __init__(self, first: int) -> None:
        super().__init__(f"expected TLS, got a connection that begins with the byte {first}")
        self.first = first


class HandshakeFailedError(Exception):
    """The peer and this server cannot agree on how to encrypt; the text says why."""


class TlsSealer:
    """One encrypted connection, seen from the server.

    Attributes:
        certificate: the hash of the certificate that is shown to the peer.
    """

    __slots__ = ("_incoming", "_is_broken", "_is_ended", "_outgoing", "_tls", "certificate")

    can_move: Final = True  # a program can connect to any address
    owes_words: Final = False  # what TLS itself has to say leaves with the next frames

    def __init__(self, tls: Tls) -> None:
        self.certificate = tls.digest
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._tls = tls.context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._is_ended = False
        self._is_broken = False

    @property
    def speaks_truc(self) -> bool:
        """Whether the peer has named the protocol; one that has not may be looking for another."""
        return self._tls.selected_alpn_protocol() == ALPN

    async def shake_hands(self, stream: trio.SocketStream) -> bool:
        """Agree on keys with the peer at the other end of a stream; False if it leaves first.

        Raises:
            MistakenSchemeError: The peer does not begin with TLS.
            HandshakeFailedError: No agreement with it is possible.
            trio.BrokenResourceError: It is gone.
        """
        received = await stream.receive_some(_READ)
        # Before TLS sees it, which would answer with an alert that a client in clear cannot read.
        if received and received[0] != HANDSHAKE_BYTE:
            raise MistakenSchemeError(received[0])
        left = HANDSHAKE_BYTES
        while received:
            left -= len(received)
            if left < 0:
                raise HandshakeFailedError("it takes too many bytes")
            self._incoming.write(received)
            if await self._is_agreed(stream):
                return True
            received = await stream.receive_some(_READ)
        return False

    async def _is_agreed(self, stream: trio.SocketStream) -> bool:
        """Take the next step; False if more must come from the peer."""
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        except ssl.SSLError as error:
            raise HandshakeFailedError(str(error.reason)) from error
        finally:
            # An alert too. The one write that may wait: the connection has no outbox yet.
            if self._outgoing.pending:
                await stream.send_all(self._outgoing.read())
        return True

    def feed(self, received: bytes) -> None:
        """Take what the peer has sent; after an error it is ignored."""
        if not self._is_broken:
            self._incoming.write(received)

    def read(self) -> bytes | None:
        """Return what comes next, opened; None until more is fed, empty at the end, or when the encryption breaks."""
        # After the last words the end is not told, so that what still comes is read and ignored: a close with
        # it unread would be a reset, which can take back what was sent.
        if self._is_broken:
            return None if self._is_ended else b""
        try:
            opened = self._tls.read(_READ)
        except ssl.SSLWantReadError:
            opened = None
        except ssl.SSLError:  # the end, or what nobody has sealed
            self._is_broken = True
            opened = None if self._is_ended else b""
        return b"" if self._outgoing.pending > _OWN_WORDS else opened

    def seal(self, frames: bytes) -> bytes:
        """Return what is to be written for some frames.

        Raises:
            ssl.SSLError: The encryption is broken.
        """
        view = memoryview(frames)
        while view:
            view = view[self._tls.write(view) :]
        return self._outgoing.read()

    def part(self, _code: Code | None = None) -> bytes:
        """Return the last words, which say that nothing follows, whatever the reason."""
        self._is_ended = True
        with suppress(ssl.SSLError):  # it is said all the same, and the peer's own word is not waited for
            self._tls.unwrap()
        return self._outgoing.read()

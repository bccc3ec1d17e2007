"""A wire of the load generator over TLS: what a server costs that encrypts. The certificate is not looked at."""

import socket
import ssl
from typing import Final

from benchmarks.loop import CHUNK, Loop, Taker, Wire

ALPN: Final = "truc/1"


def _context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols([ALPN])
    return context


CONTEXT: Final = _context()


class SecuredWire(Wire):
    """One connection over TLS; what is sent before the handshake is done waits for it."""

    __slots__ = ("_early", "_from_server", "_is_secured", "_tls", "_to_server")

    def __init__(self, loop: Loop, connected: socket.socket, taker: Taker) -> None:
        super().__init__(loop, connected, taker)
        self._from_server, self._to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = CONTEXT.wrap_bio(self._from_server, self._to_server)
        self._early = b""
        self._is_secured = False

    def begin(self) -> None:
        """Begin the handshake."""
        self._shake()

    def send(self, raw: bytes) -> None:
        """Send bytes, now or when they may be sent."""
        if not self._is_secured:
            self._early += raw
            return
        self._tls.write(raw)
        self._pass_on()

    def read(self, most: int) -> None:
        """Read once, and pass whole frames on; whoever does not speak TLS is lost."""
        try:
            super().read(most)
        except ssl.SSLError:
            self.close()
            self.taker.lose()

    def opened(self, received: bytes) -> bytes:
        """Return what was in the bytes that came."""
        self._from_server.write(received)
        if not self._is_secured:
            self._shake()
        chunks = []
        while self._is_secured:
            try:
                chunks.append(self._tls.read(CHUNK))
            except (ssl.SSLWantReadError, ssl.SSLZeroReturnError):
                break
        return b"".join(chunks)

    def _shake(self) -> None:
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            self._pass_on()
            return
        self._is_secured = True
        early, self._early = self._early, b""
        if early:
            self._tls.write(early)
        self._pass_on()

    def _pass_on(self) -> None:
        if self._to_server.pending:
            self.send_raw(self._to_server.read())

"""The door for browsers under the load generator: frames in WebSockets, and pages loaded as a browser loads them.

A page load is what somebody's first visit takes, over as many connections as a browser has; each has an address of its own,
as the door paces by address.
"""

import re
import socket
import time
from base64 import b64encode
from collections.abc import Iterator
from http import HTTPStatus
from http.client import HTTPConnection
from typing import Any, Final

from benchmarks.loop import Line, Loop, Taker, Wire
from benchmarks.proc import usage

from truc_protocol.wire.transport import SUBPROTOCOL, WEBSOCKET_PATH, websocket_header

CONNECTIONS: Final = 6  # of a browser to one server
LINK: Final = "/t/K7PQ2"
_KEY: Final = b64encode(bytes(16)).decode()
_NO_MASK: Final = bytes(4)  # every client masks; with zeros the payload stays as it is
_MASKED: Final = 0x80
_NAMED: Final = re.compile(rb'(?:href|src)="(/a/[^"]+)"')
_WORDS: Final = ("words/en-seat.json", "words/en.json", "words/own.json")
_END: Final = b"\r\n\r\n"


def upgrade(port: int) -> bytes:
    """Return a browser's request for frames at http://localhost:PORT."""
    lines = [
        f"GET {WEBSOCKET_PATH} HTTP/1.1",
        f"Host: localhost:{port}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Key: {_KEY}",
        f"Sec-WebSocket-Protocol: {SUBPROTOCOL}",
    ]
    return "".join(f"{line}\r\n" for line in [*lines, ""]).encode()


class WebWire(Wire):
    """One connection in a WebSocket; what is sent before the upgrade is done waits for it."""

    __slots__ = ("_early", "_unread")

    def __init__(self, loop: Loop, connected: socket.socket, taker: Taker) -> None:
        super().__init__(loop, connected, taker)
        self._early: list[bytes] | None = []
        self._unread = b""

    def begin(self) -> None:
        """Ask for the upgrade."""
        self.send_raw(upgrade(self._socket.getpeername()[1]))

    def send(self, raw: bytes) -> None:
        """Send a frame as a message."""
        if self._early is not None:
            self._early.append(raw)
            return
        payload = raw[4:]
        first = bytearray(websocket_header(len(payload)))
        first[1] |= _MASKED
        self.send_raw(bytes(first) + _NO_MASK + payload)

    def opened(self, received: bytes) -> bytes:
        """Return the messages that came as frames with their lengths."""
        self._unread += received
        if self._early is not None:
            head, end, rest = self._unread.partition(_END)
            if not end:
                return b""
            if not head.startswith(b"HTTP/1.1 101"):
                raise ConnectionError(f"expected an upgrade, got {head[:80]!r}")
            early, self._early, self._unread = self._early, None, rest
            for raw in early:
                self.send(raw)
        return b"".join(self._messages())

    def _messages(self) -> Iterator[bytes]:
        whole, start = self._unread, 0
        while len(whole) - start >= 2:
            length, at = whole[start + 1], start + 2
            longer = {126: 2, 127: 8}.get(length, 0)
            if longer:
                length, at = int.from_bytes(whole[at : at + longer]), at + longer
            if len(whole) < at + length:
                break
            yield length.to_bytes(4) + whole[at : at + length]
            start = at + length
        self._unread = whole[start:]


def load_page(line: Line) -> int:
    """Load the page of a link and all it names, as a first visit does; return how many files came."""
    kept = [
        HTTPConnection("localhost", line.port, source_address=(line.source, 0)) for _ in range(CONNECTIONS)
    ]
    try:
        kept[0].request("GET", LINK)
        named = list(dict.fromkeys(path.decode() for path in _NAMED.findall(_body(kept[0]))))
        folder = "/".join(named[0].split("/")[:3])
        paths = [*named, *(f"{folder}/{name}" for name in _WORDS)]
        for at in range(0, len(paths), CONNECTIONS):
            asked = list(zip(kept, paths[at : at + CONNECTIONS], strict=False))
            for connection, path in asked:
                connection.request("GET", path)
            for connection, _ in asked:
                _body(connection)
        return 1 + len(paths)
    finally:
        for connection in kept:
            connection.close()


def _body(connection: HTTPConnection) -> bytes:
    answer = connection.getresponse()
    if answer.status != HTTPStatus.OK:
        raise ConnectionError(f"expected a file, got {answer.status}")
    return answer.read()


def load_pages(port: int, pid: int, seconds: float) -> dict[str, Any]:
    """Load pages one after the other for so long; return how many, of how many files, and what the server took for them."""
    loop, loads, files = Loop(), 0, 0
    load_page(Line(loop, port, _source(loads)))  # the first pays for what is loaded and kept
    before, begun = usage(pid), time.perf_counter()
    while not loads or time.perf_counter() < begun + seconds:
        loads += 1
        files = load_page(Line(loop, port, _source(loads)))
    spent, took = usage(pid) - before, time.perf_counter() - begun
    return {"loads": loads, "files": files, "main_s": spent.main_s, "seconds": took}


def _source(number: int) -> str:
    return f"127.7.{number // 250 % 250}.{number % 250 + 1}"

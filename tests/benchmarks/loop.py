"""The sockets and the time of the load generator: one thread, epoll, and nothing between a frame and who waits for it.

A task of Trio for each client would cost the generator more than an act costs the server; so here alone sockets are spoken to
without Trio. Time is kept to a few microseconds: `select` on the epoll takes fractions of a millisecond, which epoll does not.
Invariant: what does not fit into the kernel's buffer is kept and sent later, in order. Linux only.
"""

import heapq
import select
import socket
import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Final, NamedTuple, Protocol

import msgpack

CHUNK: Final = 65_536
LENGTH: Final = 4
_EVENTS: Final = 512
_LONGEST_SLEEP_S: Final = 0.05

Call = Callable[[], object]


class Loop:
    """Every wire, and every call whose moment will come; `make_wire` makes a wire of a socket."""

    def __init__(self, make_wire: "type[Wire] | None" = None) -> None:
        self.wires: dict[int, Wire] = {}
        self._make_wire = make_wire or Wire
        self._epoll = select.epoll()
        self._calls: list[tuple[float, int, Call]] = []
        self._numbers = count()

    def at(self, moment: float, call: Call) -> None:
        """Make a call at a moment of `time.perf_counter`."""
        heapq.heappush(self._calls, (moment, next(self._numbers), call))

    def run(self, *, until: Callable[[], bool]) -> None:
        """Go on until something holds, which is looked at after every round."""
        while not until():
            events = self._poll() or self._sleep()
            for number, event in events:
                wire = self.wires.get(number)
                if wire is not None:
                    wire.turn(event)
            self._make_calls()

    def run_for(self, seconds: float) -> float:
        """Go on for so long; return how long it was."""
        begun = time.perf_counter()
        end = begun + seconds
        self.run(until=lambda: time.perf_counter() >= end)
        return time.perf_counter() - begun

    def _poll(self) -> list[tuple[int, int]]:
        return self._epoll.poll(0, _EVENTS)

    def _sleep(self) -> list[tuple[int, int]]:
        wait = self._calls[0][0] - time.perf_counter() if self._calls else _LONGEST_SLEEP_S
        if wait > 0:
            select.select([self._epoll], [], [], min(wait, _LONGEST_SLEEP_S))
        return self._poll()

    def _make_calls(self) -> None:
        while self._calls and self._calls[0][0] <= time.perf_counter():
            heapq.heappop(self._calls)[2]()

    def connect(self, line: "Line", taker: "Taker", *, kernel_bytes: int = 0) -> "Wire":
        """Return a new connection.

        With `kernel_bytes` the kernel keeps no more than about so much that was not read.
        """
        connected = self._connected(line, kernel_bytes)
        connected.setblocking(False)
        wire = self._make_wire(self, connected, taker)
        self.wires[wire.number] = wire
        self._epoll.register(wire.number, select.EPOLLIN)
        wire.begin()
        return wire

    def _connected(self, line: "Line", kernel_bytes: int) -> socket.socket:
        connected = socket.socket()
        if kernel_bytes:
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, kernel_bytes)
        connected.bind((line.source, 0))
        connected.connect(("127.0.0.1", line.port))
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connected

    def await_room(self, wire: "Wire", *, is_full: bool) -> None:
        """Hear when a wire takes more."""
        self._epoll.modify(wire.number, select.EPOLLIN | (select.EPOLLOUT if is_full else 0))

    def listen_to(self, wire: "Wire", *, is_heard: bool) -> None:
        """Read a wire, or let what comes lie."""
        self._epoll.modify(wire.number, select.EPOLLIN if is_heard else 0)

    def forget(self, wire: "Wire") -> None:
        """Close a wire."""
        if self.wires.pop(wire.number, None) is not None:
            self._epoll.unregister(wire.number)


class Line(NamedTuple):
    """The way to a server: its port on loopback, and the address of loopback that is spoken from."""

    loop: Loop
    port: int
    source: str = "127.0.0.1"

    def connect(self, taker: "Taker", *, kernel_bytes: int = 0) -> "Wire":
        """Return a new connection."""
        return self.loop.connect(self, taker, kernel_bytes=kernel_bytes)


class Taker(Protocol):
    """Who takes what comes over a wire."""

    def take(self, frame: memoryview) -> None:
        """Take a whole frame, without its length."""
        ...

    def lose(self) -> None:
        """The other side has closed the connection."""
        ...


class Wire:
    """One connection: whole frames in, bytes out."""

    __slots__ = ("_left", "_loop", "_received", "_socket", "number", "taker")

    def __init__(self, loop: Loop, connected: socket.socket, taker: Taker) -> None:
        self.number = connected.fileno()
        self._loop = loop
        self._socket = connected
        self.taker = taker
        self._received = b""
        self._left = b""

    def begin(self) -> None:
        """Begin with what comes before any frame: nothing."""

    def send(self, raw: bytes) -> None:
        """Send bytes, now or when the kernel takes them."""
        self.send_raw(raw)

    def opened(self, received: bytes) -> bytes:
        """Return what the bytes hold that came: themselves."""
        return received

    def send_raw(self, raw: bytes) -> None:
        """Give bytes to the kernel."""
        if self._left:
            self._left += raw
            return
        try:
            sent = self._socket.send(raw)
        except BlockingIOError:
            sent = 0
        except OSError:
            return  # the end of it is read
        if sent < len(raw):
            self._left = raw[sent:]
            self._loop.await_room(self, is_full=True)

    def turn(self, event: int) -> None:
        """Do what the loop has found to do."""
        if event & select.EPOLLOUT:
            self._send_rest()
        if event & ~select.EPOLLOUT:
            self.read(CHUNK)

    def _send_rest(self) -> None:
        rest, self._left = self._left, b""
        self._loop.await_room(self, is_full=False)
        self.send_raw(rest)

    def read(self, most: int) -> None:
        """Read once, and pass whole frames on."""
        try:
            received = self._socket.recv(most)
        except BlockingIOError:
            return
        except OSError:
            received = b""
        if not received:
            self.close()
            self.taker.lose()
            return
        for frame in self._frames(self.opened(received)):
            self.taker.take(frame)

    @property
    def is_open(self) -> bool:
        """Whether it has not been closed, from either side."""
        return self._socket.fileno() >= 0

    def _frames(self, received: bytes) -> Iterator[memoryview]:
        whole = memoryview(self._received + received if self._received else received)
        start, length = 0, len(whole)
        while length - start >= LENGTH:
            end = start + LENGTH + int.from_bytes(whole[start : start + LENGTH])
            if end > length:
                break
            yield whole[start + LENGTH : end]
            start = end
        self._received = bytes(whole[start:])

    def pause(self) -> None:
        """Read nothing more by itself."""
        self._loop.listen_to(self, is_heard=False)

    def go_on(self) -> None:
        """Read again by itself."""
        self._loop.listen_to(self, is_heard=True)

    def close(self) -> None:
        """Close the connection."""
        self._loop.forget(self)
        self._socket.close()


def packed(message: dict[str, object]) -> bytes:
    """Return a message as a frame, with its length before it."""
    encoded: bytes = msgpack.packb(message)
    return len(encoded).to_bytes(LENGTH) + encoded


def unpacked(frame: memoryview) -> dict[str, object]:
    """Return the message of a frame."""
    message: dict[str, object] = msgpack.unpackb(frame)
    return message


def tag_of(frame: memoryview) -> bytes:
    """Return the tag of a message, which stands first in it, without decoding the rest."""
    return bytes(frame[4 : 4 + (frame[3] & 0x1F)])

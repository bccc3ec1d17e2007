"""Bytes in and out of a socket: one system call for each, without what Trio's streams do around it.

To wait for something to read by Trio takes a system call and a task for each wait. Here each socket is registered once, and one
task waits for all of them. Invariant: nobody but the one reader of a connection reads, and nothing here waits but for
something to read.
"""

import os
from collections.abc import Callable
from selectors import EVENT_READ, DefaultSelector

import trio


class Poller:
    """The one task that waits for something to read, for every connection."""

    def __init__(self) -> None:
        self._selector = DefaultSelector()

    def add(self, stream: trio.SocketStream, call: Callable[[], None]) -> None:
        """Call, from now on, whenever a stream has something to read, and as long as it has."""
        self._selector.register(stream.socket.fileno(), EVENT_READ, call)

    def remove(self, stream: trio.SocketStream) -> None:
        """Call no more."""
        self._selector.unregister(stream.socket.fileno())

    async def run(self) -> None:
        """Call whoever has something to read."""
        while True:
            await trio.lowlevel.wait_readable(self._selector.fileno())
            for key, _ in self._selector.select(0):
                key.data()


def read(stream: trio.SocketStream, most: int) -> bytes | None:
    """Return what has come, at most so many bytes; nothing at the end, or when the connection is lost; None before more comes."""
    try:
        return os.read(stream.socket.fileno(), most)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def write(stream: trio.SocketStream, sealed: bytes) -> int:
    """Write what the kernel takes at once; return how many bytes that was.

    Raises:
        OSError: The connection is lost.
    """
    try:
        return os.write(stream.socket.fileno(), sealed)
    except BlockingIOError:
        return 0

"""Bytes in and out of a socket: one system call for each, without what Trio's streams do around it.

To wait for something to read by Trio takes a system call and a task for each wait. Here each socket is registered once, and one
task waits for all of them. Invariant: nobody but the one reader of a connection reads, and nothing here waits but for
something to read.
"""

import os
import socket
from collections.abc import Callable
from selectors import EVENT_READ, DefaultSelector

import trio


class Poller:
    """The one task that waits for something to read, for every connection and whoever comes."""

    def __init__(self) -> None:
        self._selector = DefaultSelector()

    def add(self, wire: socket.socket, call: Callable[[], None]) -> None:
        """Call, from now on, whenever a socket has something to read, and as long as it has."""
        self._selector.register(wire, EVENT_READ, call)

    def remove(self, wire: socket.socket) -> None:
        """Call no more."""
        self._selector.unregister(wire)

    async def run(self) -> None:
        """Call whoever has something to read."""
        while True:
            await trio.lowlevel.wait_readable(self._selector.fileno())
            for key, _ in self._selector.select(0):
                key.data()


def read(wire: socket.socket, most: int) -> bytes | None:
    """Return what has come, at most so many bytes; nothing at the end, or when the connection is lost; None before more comes."""
    try:
        return os.read(wire.fileno(), most)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def write(wire: socket.socket, sealed: bytes | memoryview) -> int:
    """Write what the kernel takes at once; return how many bytes that was.

    Raises:
        OSError: The connection is lost.
    """
    try:
        return os.write(wire.fileno(), sealed)
    except BlockingIOError:
        return 0

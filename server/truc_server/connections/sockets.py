"""Bytes in and out of a socket: one system call for each, without what Trio's streams do around it.

Invariant: nobody but the one reader of a connection reads, and nothing here waits but for something to read.
"""

import os

import trio


async def receive(stream: trio.SocketStream, most: int) -> bytes:
    """Return what comes next, at most so many bytes; nothing at the end, or when the connection is lost."""
    number = stream.socket.fileno()
    while True:
        try:
            await trio.lowlevel.wait_readable(number)
            return os.read(number, most)
        except BlockingIOError:
            continue  # it was said to be readable too early
        except (OSError, trio.ClosedResourceError):
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

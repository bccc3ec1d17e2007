"""Bytes in and out of a socket: one system call for each, without what Trio's streams do around it.

Invariant: nothing here waits; only the one reader of a connection reads.
"""

import os
import socket


def read(wire: socket.socket, most: int) -> bytes | None:
    """Return what has come, at most so many bytes; empty at the end, or if the connection is lost; None until more comes."""
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

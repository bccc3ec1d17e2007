"""What nobody can do without: a bare echo under Trio, and one durable commit on this disk.

`python -m benchmarks.floor` is the echo, a process of its own as the server is: chunks are read, cut into frames, and the frames that came
together go back with one write. It prints its port.
"""

import sqlite3
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import trio

from truc_protocol.wire.encoding import LENGTH_BYTES, FrameSplitter

CHUNK: Final = 4_096
LONGEST: Final = 8_192
ROW: Final = bytes(300)  # a record of usual length
COMMITS: Final = 300


async def echo(stream: trio.SocketStream) -> None:
    """Send every frame back."""
    splitter = FrameSplitter(LONGEST)
    async with stream:
        while received := await stream.receive_some(CHUNK):
            splitter.feed(received)
            frames = []
            while (frame := splitter.next_frame()) is not None:
                frames.append(len(frame).to_bytes(LENGTH_BYTES) + frame)
            if frames:
                await stream.send_all(b"".join(frames))


async def serve() -> None:
    """Echo on a free port of loopback, until the process is killed."""
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    print(listeners[0].socket.getsockname()[1], flush=True)
    await trio.serve_listeners(_echo_to_the_end, listeners)


async def _echo_to_the_end(stream: trio.SocketStream) -> None:
    with suppress(trio.BrokenResourceError):
        await echo(stream)


@contextmanager
def database(folder: Path) -> Iterator[sqlite3.Connection]:
    """Open a database that is as durable as the server's."""
    opened = sqlite3.connect(folder / "floor.db", isolation_level=None)
    try:
        opened.execute("PRAGMA journal_mode = WAL")
        opened.execute("PRAGMA synchronous = FULL")
        opened.execute("CREATE TABLE IF NOT EXISTS row (k INTEGER PRIMARY KEY, body BLOB)")
        yield opened
    finally:
        opened.close()


def commit_us(folder: Path, commits: int = COMMITS) -> float:
    """Return the microseconds until one row is durable in a database of this folder: the median."""
    with database(folder) as opened:
        return statistics.median(_one_commit_us(opened) for _ in range(commits))


def _one_commit_us(opened: sqlite3.Connection) -> float:
    begun = time.perf_counter()
    opened.execute("BEGIN IMMEDIATE")
    opened.execute("INSERT INTO row (body) VALUES (?)", (ROW,))
    opened.execute("COMMIT")
    return (time.perf_counter() - begun) * 1e6


if __name__ == "__main__":
    trio.run(serve)

"""A line between browsers and a server's door, as slow as a phone's: it takes what a round trip takes, and no more at once.

As TCP does, a connection begins with a round trip of its own and with ten segments in one, and has twice as many in the
next. Everything that a browser asks for, its workers too, is noted with the moment; nothing is changed on the way.
"""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import inf
from typing import Final, NamedTuple, Self

import trio
from chaos.relaying import LOSSES

WINDOW: Final = 14_600
"""Bytes of the first round trip of a connection: ten segments (RFC 6928)."""
_PIECE: Final = 4_096
_ASKED: Final = re.compile(rb"^GET (\S+) HTTP/1.1\r$", re.MULTILINE)


class Asked(NamedTuple):
    """A request, and when it was made."""

    at: float
    path: str


class SlowLine:
    """The way to one server.

    Attributes:
        asked: what was asked for, in order.
        carried: how many bytes the server has sent.
    """

    def __init__(self, port: int, server_port: int, *, round_trip_s: float, bytes_a_s: float = inf) -> None:
        self.port = port
        self.asked: list[Asked] = []
        self.carried = 0
        self._server_port = server_port
        self._round_trip_s = round_trip_s
        self._bytes_a_s = bytes_a_s
        self._is_free_at = 0.0

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Carry whatever comes."""
        listeners = await trio.open_tcp_listeners(self.port, host="localhost")
        task_status.started()
        await trio.serve_listeners(self._serve, listeners)

    async def _serve(self, browser: trio.SocketStream) -> None:
        begun = trio.current_time()
        with suppress(*LOSSES):
            server = await trio.open_tcp_stream("127.0.0.1", self._server_port)
            async with server, browser, trio.open_nursery() as nursery:
                nursery.start_soon(self._back, server, browser)
                await self._forth(browser, server, begun)
                nursery.cancel_scope.cancel()

    async def _forth(self, browser: trio.SocketStream, server: trio.SocketStream, begun: float) -> None:
        shaken = begun + self._round_trip_s
        async with _Later(server) as later:
            with suppress(*LOSSES):
                while came := await browser.receive_some(65_536):
                    now = trio.current_time()
                    self.asked += [Asked(now, path.decode()) for path in _ASKED.findall(came)]
                    await later.send(came, max(now, shaken) + self._round_trip_s / 2)

    async def _back(self, server: trio.SocketStream, browser: trio.SocketStream) -> None:
        window, left, full_at = WINDOW, WINDOW, 0.0
        async with _Later(browser) as later:
            with suppress(*LOSSES):
                while came := await server.receive_some(_PIECE):
                    self.carried += len(came)
                    now = trio.current_time()
                    if left == window:
                        full_at = now + self._round_trip_s
                    if left <= 0:
                        await trio.sleep_until(full_at)
                        window, now = 2 * window, trio.current_time()
                        left, full_at = window, now + self._round_trip_s
                    left -= len(came)
                    self._is_free_at = max(self._is_free_at, now) + len(came) / self._bytes_a_s
                    await later.send(came, self._is_free_at + self._round_trip_s / 2)


class _Later:
    """What is sent into a stream at its time, in order."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self._stream = stream
        self._put, self._take = trio.open_memory_channel[tuple[float, bytes]](inf)
        self._nursery = trio.open_nursery()

    async def __aenter__(self) -> Self:
        nursery = await self._nursery.__aenter__()
        nursery.start_soon(self._run)
        return self

    async def __aexit__(self, *error: object) -> None:
        self._put.close()
        await self._nursery.__aexit__(*error)  # type: ignore[arg-type]

    async def send(self, words: bytes, at: float) -> None:
        await self._put.send((at, words))

    async def _run(self) -> None:
        with suppress(*LOSSES):
            async for at, words in self._take:
                await trio.sleep_until(at)
                await self._stream.send_all(words)
            await self._stream.send_eof()


@contextmanager
def slow_line(line: SlowLine) -> Iterator[SlowLine]:
    """Let a line carry, in a thread of its own."""
    begun, ends = threading.Event(), trio.CancelScope()

    async def carry() -> None:
        with ends:
            async with trio.open_nursery() as nursery:
                await nursery.start(line.run)
                token.append(trio.lowlevel.current_trio_token())
                begun.set()

    token: list[trio.lowlevel.TrioToken] = []
    thread = threading.Thread(target=trio.run, args=(carry,), daemon=True)
    thread.start()
    begun.wait()
    try:
        yield line
    finally:
        token[0].run_sync_soon(ends.cancel)
        thread.join()

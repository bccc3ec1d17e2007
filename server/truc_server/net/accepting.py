"""Accepting connections, when the poller says that there are some.

`trio.serve_listeners` has a task wait for each listener, gives each connection a task, closes in a way that costs more
than all of accepting, and reports a system that can open no more by a traceback ten times a second. Invariant: while
nobody can be accepted, for whatever reason, those who are connected notice nothing.
"""

import socket
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any, Final

import structlog
import trio

from truc_server.timing.poller import Poller
from truc_server.timing.timers import Timer, Timers

AGAIN_S: Final = 0.1  # after the system could accept nobody
AT_ONCE: Final = 8  # accepted in one turn, so that those who are connected do not wait for all who come

Come = Callable[[socket.socket, Any], None]
"""Called with a connection, which does not block, and its other end, as the system names it."""
Serve = Callable[[trio.SocketStream], Awaitable[None]]

log = structlog.get_logger()


class Entrance:
    """Where connections come in, until it is closed."""

    def __init__(self, poller: Poller, timers: Timers, come: Come) -> None:
        self._poller = poller
        self._timers = timers
        self._come = come
        self._doors: dict[socket.socket, Timer | None] = {}  # one that rests has the timer that ends its rest

    def open(self, listeners: Iterable[socket.socket]) -> None:
        """Accept from now on; the listeners belong to the entrance."""
        for listener in listeners:
            listener.setblocking(False)
            self._watch(listener)

    def close(self) -> None:
        """Listen no more."""
        for door, rest in self._doors.items():
            if rest is None:
                self._poller.remove(door)
            else:
                rest.cancel()
            door.close()
        self._doors.clear()

    def _watch(self, door: socket.socket) -> None:
        self._doors[door] = None
        self._poller.add(door, partial(self._accept, door))

    def _accept(self, door: socket.socket) -> None:
        for _ in range(AT_ONCE):
            try:
                wire, other_end = door.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError as error:  # no more can be opened, or the newcomer is gone or may not come in
                self._rest(door, error)
                return
            wire.setblocking(False)
            self._come(wire, other_end)

    def _rest(self, door: socket.socket, error: OSError) -> None:
        """Accept nobody for a moment."""
        log.error("cannot_accept", reason=error.strerror)
        self._poller.remove(door)
        self._doors[door] = self._timers.after(AGAIN_S, partial(self._watch, door))


def attended(serve: Serve, tasks: trio.Nursery) -> Come:
    """Return a callback that gives each connection a task to serve it; when the task ends, the connection is closed."""

    def come(wire: socket.socket, _other_end: Any) -> None:
        tasks.start_soon(_attend, serve, stream_of(wire))

    return come


async def _attend(serve: Serve, stream: trio.SocketStream) -> None:
    try:
        await serve(stream)
    finally:
        stream.socket.close()


def stream_of(wire: socket.socket) -> trio.SocketStream:
    """Return a connection as a stream, for a task to read and write."""
    return trio.SocketStream(trio.socket.from_stdlib_socket(wire))


def plain(listener: trio.SocketListener) -> socket.socket:
    """Take the socket out of a Trio listener, which is of no use afterwards."""
    return socket.socket(fileno=listener.socket.detach())

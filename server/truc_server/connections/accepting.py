"""Accepting: whoever connects is let in where the poller tells of them, or gets a task of their own.

Players come by an entrance, many at a time, and cost no task. The host's own tools are few: each is served by a task, and its
connection is closed at the end. `trio.serve_listeners` does that too, but closes in a way that costs more than all of accepting,
and tells of a system that can open no more by a traceback ten times a second. Invariant: while it cannot, those who are connected
notice nothing.
"""

import errno
import socket
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

import structlog
import trio

from truc_server.connections.sockets import Poller
from truc_server.timers import Timer, Timers

AGAIN_S: Final = 0.1  # after the system could open no more
AT_ONCE: Final = 8  # accepted at a turn, so that those who are connected do not wait for all who come
_EXHAUSTED: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)

Serve = Callable[[trio.SocketStream], Awaitable[None]]
Come = Callable[[socket.socket, str], None]
"""What is called with a connection and the address that it comes from."""

log = structlog.get_logger()


class Entrance:
    """Where players connect, until it is closed."""

    def __init__(self, poller: Poller, timers: Timers, come: Come) -> None:
        self._poller = poller
        self._timers = timers
        self._come = come
        self._doors: dict[socket.socket, Timer | None] = {}  # those that rest, with when they go on

    def open(self, listeners: Sequence[trio.SocketListener]) -> None:
        """Accept from now on; the listeners belong to the entrance."""
        for listener in listeners:
            door = socket.socket(fileno=listener.socket.detach())
            door.setblocking(False)
            self._watch(door)

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
                wire, address = door.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in _EXHAUSTED:
                    raise
                _complain(error)
                self._rest(door)
                return
            wire.setblocking(False)
            self._come(wire, str(address[0]))

    def _rest(self, door: socket.socket) -> None:
        """Accept nobody for a moment."""
        self._poller.remove(door)
        self._doors[door] = self._timers.after(AGAIN_S, partial(self._watch, door))


async def accept(serve: Serve, listeners: Sequence[trio.SocketListener], tasks: trio.Nursery) -> None:
    """Let `tasks` serve whoever connects, until cancelled; the listeners are closed then.

    Raises:
        OSError: A listener has failed.
    """
    async with trio.open_nursery() as nursery:
        for listener in listeners:
            nursery.start_soon(_accept, serve, listener, tasks)


async def _accept(serve: Serve, listener: trio.SocketListener, tasks: trio.Nursery) -> None:
    async with listener:
        while True:
            try:
                stream = await listener.accept()
            except OSError as error:
                if error.errno not in _EXHAUSTED:
                    raise
                _complain(error)
                await trio.sleep(AGAIN_S)
            else:
                tasks.start_soon(_attend, serve, stream)


def _complain(error: OSError) -> None:
    log.error("cannot_accept", reason=error.strerror)


async def _attend(serve: Serve, stream: trio.SocketStream) -> None:
    try:
        await serve(stream)
    finally:
        stream.socket.close()

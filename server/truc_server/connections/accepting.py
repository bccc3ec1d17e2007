"""Accepting: whoever connects gets a task of their own, and their connection is closed at its end.

`trio.serve_listeners` does the same, but closes in a way that costs more than all of accepting, and tells of a system that
can open no more by a traceback ten times a second. Invariant: while it cannot, those who are connected notice nothing.
"""

import errno
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import structlog
import trio

AGAIN_S: Final = 0.1  # after the system could open no more
_EXHAUSTED: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)

Serve = Callable[[trio.SocketStream], Awaitable[None]]

log = structlog.get_logger()


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
                await _complain(error)
            else:
                tasks.start_soon(_attend, serve, stream)


async def _complain(error: OSError) -> None:
    log.error("cannot_accept", reason=error.strerror)
    await trio.sleep(AGAIN_S)


async def _attend(serve: Serve, stream: trio.SocketStream) -> None:
    try:
        await serve(stream)
    finally:
        stream.socket.close()

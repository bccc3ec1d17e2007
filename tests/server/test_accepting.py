"""Accepting connections: each is closed at the end of who serves it, and a full system does no harm."""

import errno
from io import StringIO

import pytest
import trio

from truc_server.connections.accepting import accept
from truc_server.host import logs
from truc_server.host.settings import Logs


class Full:
    """A listener for which the system opens nothing: so many times, and then for ever."""

    def __init__(self, *then) -> None:
        self.errors = [OSError(errno.EMFILE, "Too many open files")] * 20 + [*then]

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        pass

    async def accept(self):
        if self.errors:
            raise self.errors.pop(0)
        await trio.sleep_forever()


async def connected(nursery, serve) -> trio.SocketStream:
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    nursery.start_soon(accept, serve, listeners, nursery)
    return await trio.open_tcp_stream("127.0.0.1", listeners[0].socket.getsockname()[1])


async def test_connection_is_closed_when_it_was_served(nursery):
    async def greet(stream):
        await stream.send_all(b"hello")

    async with await connected(nursery, greet) as stream:
        assert b"".join([received async for received in stream]) == b"hello"


async def test_connection_that_is_closed_already_harms_nobody(nursery):
    async with await connected(nursery, trio.aclose_forcefully) as stream:
        assert await stream.receive_some() == b""


async def test_full_system_is_one_line_in_the_log_without_a_traceback(nursery, autojump_clock):
    logs.configure(Logs(), shown := StringIO())
    nursery.start_soon(accept, trio.aclose_forcefully, [Full()], nursery)
    await trio.sleep(10)
    assert (shown.getvalue().count("cannot_accept"), shown.getvalue().count("\n")) == (1, 1)


async def test_listener_that_fails_otherwise_is_an_error(autojump_clock):
    broken = Full(OSError(errno.EBADF, "Bad file descriptor"))
    with pytest.RaisesGroup(pytest.RaisesExc(OSError, match="Bad file"), flatten_subgroups=True):
        async with trio.open_nursery() as nursery:
            await accept(trio.aclose_forcefully, [broken], nursery)

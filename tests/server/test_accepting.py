"""Accepting connections: all who connect come in, each is closed at the end of who serves it, and a full system does no harm."""

import errno
import os
import socket
from collections import deque

import pytest
import trio
from server.clocks import pass_time
from trio.testing import wait_all_tasks_blocked

from truc_server.net.listening import AGAIN_S, accept, open_listeners, port_of
from truc_server.settings.settings import ListenSettings


class Came:
    """Listeners, and the connections that came by them."""

    def __init__(self, nursery) -> None:
        self._nursery = nursery
        self._accepting = trio.CancelScope()
        self.streams: list[trio.SocketStream] = []

    async def _keep(self, stream: trio.SocketStream) -> None:
        self.streams.append(stream)
        await trio.sleep_forever()

    async def open(self) -> int:
        listeners = await open_listeners(ListenSettings(hosts=("127.0.0.1",), port=0))
        port = port_of(listeners)
        self._nursery.start_soon(self._accept, listeners)
        return port

    async def _accept(self, listeners) -> None:
        with self._accepting:
            await accept(listeners, self._keep, self._nursery)

    async def close(self) -> None:
        self._accepting.cancel()
        await wait_all_tasks_blocked()


@pytest.fixture
def came(nursery):
    yield Came(nursery)
    nursery.cancel_scope.cancel()


@pytest.fixture
def failing(monkeypatch):
    """Return a queue of errors, each of which the next attempt to accept raises."""
    errors: deque[OSError] = deque()
    accept = trio.SocketListener.accept

    async def failing_accept(listener):
        if errors:
            raise errors.popleft()
        return await accept(listener)

    monkeypatch.setattr(trio.SocketListener, "accept", failing_accept)
    return errors


async def connect(port: int) -> socket.socket:
    connecting = socket.create_connection(("127.0.0.1", port))
    await wait_all_tasks_blocked()
    return connecting


async def test_small_frames_leave_without_waiting_for_more(came):
    other = await connect(await came.open())
    assert came.streams[0].socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    other.close()


async def test_nobody_comes_in_when_it_is_closed(came):
    port = await came.open()
    await came.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


async def test_who_has_given_up_before_keeps_nobody_out(came, failing):
    failing.append(ConnectionAbortedError())
    other = await connect(await came.open())
    assert len(came.streams) == 1
    other.close()


@pytest.mark.parametrize("number", [errno.EMFILE, errno.EPROTO, errno.EPERM, errno.ETIMEDOUT, errno.EINVAL])
async def test_system_that_accepts_nobody_does_so_later_and_it_is_said_once(
    came, failing, mock_clock, number, shown
):
    failing.extend(OSError(number, os.strerror(number)) for _ in range(3))
    other = await connect(await came.open())
    before = len(came.streams)
    for _ in range(3):
        await pass_time(mock_clock, AGAIN_S)
    assert (before, len(came.streams), shown.getvalue().count("cannot_accept")) == (0, 1, 1)
    other.close()


async def test_listeners_are_closed_while_they_rest(came, failing, mock_clock):
    failing.append(OSError(errno.EMFILE, "Too many open files"))
    other = await connect(await came.open())
    await came.close()
    await pass_time(mock_clock, 2 * AGAIN_S)
    assert came.streams == []
    other.close()

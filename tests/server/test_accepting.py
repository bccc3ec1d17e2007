"""Accepting connections: all who connect come in, each is closed at the end of who serves it, and a full system does no harm."""

import errno
import os
import socket
from collections import deque
from io import StringIO

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from truc_server.connections.listeners import open_listeners, port_of
from truc_server.net.accepting import AGAIN_S, AT_ONCE, Entrance, attended
from truc_server.operation import logs
from truc_server.settings.settings import ListenSettings, LogSettings
from truc_server.timing.poller import Poller
from truc_server.timing.timers import Timers


class Came:
    """An entrance, and the connections that came by it."""

    def __init__(self, nursery, come=None) -> None:
        poller, timers = Poller(), Timers()
        self.wires: list[socket.socket] = []
        self.addresses: list[str] = []
        self.entrance = Entrance(poller, timers, come or self._come)
        nursery.start_soon(poller.run)
        nursery.start_soon(timers.run)

    def _come(self, wire: socket.socket, other_end: tuple[str, int]) -> None:
        self.wires.append(wire)
        self.addresses.append(other_end[0])

    async def open(self) -> int:
        listeners = await open_listeners(ListenSettings(hosts=("127.0.0.1",), port=0))
        port = port_of(listeners)
        self.entrance.open(listeners)
        return port


@pytest.fixture
def came(nursery):
    came = Came(nursery)
    yield came
    for wire in came.wires:
        wire.close()


@pytest.fixture
def failing(monkeypatch):
    """Return a queue of errors, each of which the next attempt to accept raises."""
    errors: deque[OSError] = deque()
    accept = socket.socket.accept

    def failing_accept(door):
        if errors:
            raise errors.popleft()
        return accept(door)

    monkeypatch.setattr(socket.socket, "accept", failing_accept)
    return errors


async def connect(port: int, count: int = 1) -> list[socket.socket]:
    connecting = [socket.create_connection(("127.0.0.1", port)) for _ in range(count)]
    await wait_all_tasks_blocked()
    return connecting


async def served(nursery, serve) -> bytes:
    """Return all that a connection is sent by who serves it."""
    came = Came(nursery, attended(serve, nursery))
    async with await trio.open_tcp_stream("127.0.0.1", await came.open()) as stream:
        received = b"".join([received async for received in stream])
    came.entrance.close()
    return received


async def test_connection_is_closed_when_it_was_served(nursery):
    async def greet(stream):
        await stream.send_all(b"hello")

    assert await served(nursery, greet) == b"hello"


async def test_connection_that_is_closed_already_harms_nobody(nursery):
    assert await served(nursery, trio.aclose_forcefully) == b""


async def test_all_come_in_however_many_connect_at_once(came):
    port = await came.open()
    for other in await connect(port, 3 * AT_ONCE + 1):
        other.close()
    assert came.addresses == ["127.0.0.1"] * (3 * AT_ONCE + 1)
    came.entrance.close()


async def test_small_frames_leave_without_waiting_for_more(came):
    (other,) = await connect(await came.open())
    assert came.wires[0].getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    other.close()
    came.entrance.close()


async def test_nobody_comes_in_when_it_is_closed(came):
    port = await came.open()
    came.entrance.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


async def test_who_has_given_up_before_keeps_nobody_out(came, failing):
    failing.append(ConnectionAbortedError())
    (other,) = await connect(await came.open())
    assert len(came.wires) == 1
    other.close()
    came.entrance.close()


@pytest.mark.parametrize("number", [errno.EMFILE, errno.EPROTO, errno.EPERM, errno.ETIMEDOUT, errno.EINVAL])
async def test_system_that_accepts_nobody_does_so_later_and_it_is_said_once(
    came, failing, mock_clock, number
):
    logs.configure(LogSettings(), shown := StringIO())
    failing.extend(OSError(number, os.strerror(number)) for _ in range(3))
    (other,) = await connect(await came.open())
    before = len(came.wires)
    for _ in range(3):
        mock_clock.jump(AGAIN_S)
        await wait_all_tasks_blocked()
    assert (before, len(came.wires), shown.getvalue().count("cannot_accept")) == (0, 1, 1)
    other.close()
    came.entrance.close()


async def test_entrance_is_closed_while_it_rests(came, failing, mock_clock):
    failing.append(OSError(errno.EMFILE, "Too many open files"))
    (other,) = await connect(await came.open())
    came.entrance.close()
    mock_clock.jump(2 * AGAIN_S)
    await wait_all_tasks_blocked()
    assert came.wires == []
    other.close()

"""Accepting connections: all who connect come in, each is closed at the end of who serves it, and a full system does no harm."""

import errno
import socket
from collections import deque
from io import StringIO

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from truc_server.connections.accepting import AGAIN_S, AT_ONCE, Entrance, accept
from truc_server.connections.net import open_listeners, port_of
from truc_server.connections.sockets import Poller
from truc_server.host import logs
from truc_server.host.settings import Listen, Logs
from truc_server.timers import Timers


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


class Came:
    """An entrance, and the connections that came by it."""

    def __init__(self, nursery) -> None:
        self.poller, timers = Poller(), Timers()
        self.wires: list[socket.socket] = []
        self.addresses: list[str] = []
        self.entrance = Entrance(self.poller, timers, self._come)
        nursery.start_soon(self.poller.run)
        nursery.start_soon(timers.run)

    def _come(self, wire: socket.socket, address: str) -> None:
        self.wires.append(wire)
        self.addresses.append(address)

    async def open(self) -> int:
        listeners = await open_listeners(Listen(hosts=("127.0.0.1",), port=0))
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


async def test_full_system_lets_in_later_and_says_so_once(came, failing, mock_clock):
    logs.configure(Logs(), shown := StringIO())
    failing.extend(OSError(errno.EMFILE, "Too many open files") for _ in range(3))
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

"""What a connection says is handled in the order in which it came, whatever takes time and whoever else speaks."""

import socket

import pytest
import trio
from server.rawclient import frame
from trio.testing import wait_all_tasks_blocked

from truc_server.connections.reception import Reception
from truc_server.connections.sockets import Poller, read


@pytest.fixture
async def pipe(nursery):
    """Return (a poller that runs, a stream that it may watch, the other end)."""
    near, far = socket.socketpair()
    stream, other = (trio.SocketStream(trio.socket.from_stdlib_socket(end)) for end in (near, far))
    poller = Poller()
    nursery.start_soon(poller.run)
    async with stream, other:
        yield poller, stream, other


class Gate:
    """What takes time takes it until the gate is opened."""

    def __init__(self, monkeypatch) -> None:
        self.reached = trio.Event()
        self.opened = trio.Event()
        take_slowly = Reception.take_slowly

        async def held(reception, peer, message) -> None:
            self.reached.set()
            await self.opened.wait()
            await take_slowly(reception, peer, message)

        monkeypatch.setattr(Reception, "take_slowly", held)


async def test_poller_calls_once_for_what_is_read_at_once(pipe):
    poller, stream, other = pipe
    received: list[bytes | None] = []
    poller.add(stream, lambda: received.append(read(stream, 100)))
    for sent in (b"one", b"two"):
        await other.send_all(sent)
        await wait_all_tasks_blocked()
    assert received == [b"one", b"two"]


async def test_poller_calls_again_for_what_was_left_unread(pipe):
    poller, stream, other = pipe
    received: list[bytes | None] = []
    await other.send_all(b"abcd")
    poller.add(stream, lambda: received.append(read(stream, 2)))
    await wait_all_tasks_blocked()
    assert received == [b"ab", b"cd"]


async def test_poller_calls_nobody_who_was_removed(pipe):
    poller, stream, other = pipe
    received: list[bytes | None] = []
    poller.add(stream, lambda: received.append(read(stream, 100)))
    poller.remove(stream)
    await other.send_all(b"unheard")
    await wait_all_tasks_blocked()
    assert received == []


async def test_reading_tells_the_end_from_nothing_yet(pipe):
    _, stream, other = pipe
    before = read(stream, 100)
    await other.send_eof()
    assert (before, read(stream, 100)) == (None, b"")


async def test_what_comes_with_or_after_what_takes_time_is_answered_after_it(server, monkeypatch):
    seat = await server.seat()
    gate = Gate(monkeypatch)
    await seat.client.send_bytes(frame({"t": "lobby", "id": 101}) + frame({"t": "tables", "id": 102}))
    await gate.reached.wait()
    await seat.client.send({"t": "tables", "id": 103})
    await wait_all_tasks_blocked()
    gate.opened.set()
    assert [(await seat.client.until("ok"))["re"] for _ in range(3)] == [101, 102, 103]


async def test_others_are_answered_while_something_takes_time(server, monkeypatch):
    seat, other = await server.seat(seed=1), await server.seat(seed=2)
    gate = Gate(monkeypatch)
    await seat.client.send({"t": "lobby"})
    await gate.reached.wait()
    assert (await other.client.ask({"t": "tables"}))["t"] == "ok"
    gate.opened.set()


async def test_end_that_comes_while_something_takes_time_ends_the_connection_after_it(server, monkeypatch):
    seat = await server.seat()
    gate = Gate(monkeypatch)
    await seat.client.send({"t": "lobby", "id": 101})
    await gate.reached.wait()
    await seat.client.stream.send_eof()
    gate.opened.set()
    assert (await seat.client.until("ok"))["re"] == 101

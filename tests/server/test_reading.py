"""What a connection says is handled in the order in which it came, whatever takes time and whoever else speaks."""

import errno
import socket

import trio
from server.clocks import pass_time
from server.conftest import running, under
from server.rawclient import frame
from trio.testing import wait_all_tasks_blocked

from truc_protocol.messages import FollowLobby
from truc_server.net.admission import Admission
from truc_server.net.connections import LOOK_S, Connections
from truc_server.net.peer import LINGER_S
from truc_server.requests.dispatch import Dispatch


class Gate:
    """Following the lobby takes time until the gate is opened."""

    def __init__(self, monkeypatch) -> None:
        self.reached = trio.Event()
        self.opened = trio.Event()
        take = Dispatch._take

        async def held(dispatch, peer, message) -> None:
            if isinstance(message, FollowLobby):
                self.reached.set()
                await self.opened.wait()
            await take(dispatch, peer, message)

        monkeypatch.setattr(Dispatch, "_take", held)


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


async def test_failure_at_the_door_harms_nobody_else(server, monkeypatch):
    other = await server.seat()
    with monkeypatch.context() as broken:
        broken.setattr(Admission, "enter", lambda *_: 1 / 0)
        assert await (await server.connect()).closed() == []
    assert (await other.client.ask({"t": "tables"}))["t"] == "ok"


async def test_who_is_gone_so_early_that_no_address_is_known_harms_nobody(server, monkeypatch):
    def gone(wire):
        raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")

    other = await server.seat()
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(socket.socket, "getpeername", gone)
        assert await (await server.connect()).closed() == []
    assert (await other.client.ask({"t": "tables"}))["t"] == "ok"


@under(limits={"connections_per_address": 1, "idle_s": 60})
async def test_connection_that_is_given_up_is_left_though_something_takes_time(
    server, monkeypatch, mock_clock
):
    seat = await server.seat()
    gate = Gate(monkeypatch)
    await seat.client.send({"t": "lobby"})
    await gate.reached.wait()
    mock_clock.jump(90 + LOOK_S)  # without a sign of life
    await wait_all_tasks_blocked()
    await pass_time(mock_clock, LINGER_S)
    assert (await seat.client.closed())[-1]["code"] == "timeout"
    assert (await (await server.connect()).login_guest())["t"] == "welcome"


async def test_every_connection_is_closed_when_the_server_ends(path, monkeypatch):
    opened, serve = [], Connections._serve

    async def serve_and_note(connections, stream) -> None:
        opened.append(stream.socket)
        await serve(connections, stream)

    monkeypatch.setattr(Connections, "_serve", serve_and_note)
    async with running(path) as server:
        gate = Gate(monkeypatch)
        seats = [await server.seat(seed=seed) for seed in range(3)]
        await seats[0].client.send({"t": "lobby"})
        await gate.reached.wait()
    assert [wire.fileno() for wire in opened] == [-1] * 3

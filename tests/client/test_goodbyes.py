"""The last words of a server reach the player: why it holds the game up, and why it ends the connection."""

import pytest
import trio
from client.playing import play_on
from trio.testing import wait_all_tasks_blocked

from truc_client import HostSaid, LostError, ServerDraining, connect
from truc_client.line.single_connection import farewell
from truc_protocol.messages import Bye, Draining, HostSays

SHUT_OUT = Bye(code="banned", msg="you are shut out", retryable=False)
TOLD = "the server says goodbye: the host of this server has shut you out: you are shut out (banned)"
KICKED = Bye(code="kicked", msg="the host has ended this connection; you may come back", retryable=True)


class Wire(trio.abc.Stream):
    """A stream of which either way can be held up, and what is sent can fail."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stream = stream
        self.is_broken = False
        self.may_send, self.may_receive = trio.Event(), trio.Event()
        self.may_send.set()
        self.may_receive.set()

    async def send_all(self, data) -> None:
        with trio.CancelScope(shield=True):
            await self.may_send.wait()
        if self.is_broken:
            raise trio.BrokenResourceError
        await self.stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self.stream.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes=None):
        received = await self.stream.receive_some(max_bytes)
        await self.may_receive.wait()
        return received

    async def aclose(self) -> None:
        await self.stream.aclose()


@pytest.fixture
async def wired(server, player):
    """Return a connection to a scripted server, and the wire that it goes through."""
    wires: list[Wire] = []

    async def dial(*place) -> Wire:
        wires.append(Wire(await server.dial(*place)))
        return wires[-1]

    async with connect("host", player, dial=dial) as connection:
        yield connection, wires[0]


async def test_goodbye_is_read_although_a_request_cannot_be_sent_any_more(server, wired) -> None:
    connection, wire = wired
    async with trio.open_nursery() as nursery:
        wire.may_receive = trio.Event()
        await server.send(SHUT_OUT)
        wire.is_broken = True
        told = []
        nursery.start_soon(ask, connection, told)
        await wait_all_tasks_blocked()
        wire.may_receive.set()
    assert told == [TOLD]


async def test_who_asks_right_after_the_goodbye_is_told_of_it(server, wired) -> None:
    connection, wire = wired
    async with trio.open_nursery() as nursery:
        wire.may_send = trio.Event()
        first, second = [], []
        nursery.start_soon(ask, connection, first)
        await wait_all_tasks_blocked()
        await server.send(SHUT_OUT)
        await wait_all_tasks_blocked()
        await ask(connection, second)
        wire.may_send.set()
    assert first == second == [TOLD]


def test_who_was_kicked_is_told_once_that_the_host_did_it() -> None:
    why = "the host has ended this connection; you may come back"
    assert str(farewell(KICKED)) == f"the server says goodbye: {why} (kicked)"


async def ask(connection, told: list[str]) -> None:
    try:
        await connection.tables()
    except LostError as error:
        told.append(str(error))


async def test_every_table_hears_that_the_server_will_stop_and_what_the_host_says(server, connection):
    table = await connection.create("truc-french")
    await server.send(Draining(left_ms=60_000))
    await server.send(HostSays(text="at nine"))
    seen = await play_on(table, until=HostSaid)
    told = [happening for happening in seen if isinstance(happening, ServerDraining | HostSaid)]
    assert told == [ServerDraining(60_000), HostSaid("at nine")]

"""Tables of several nodes, as the library plays there: it follows where it is sent, and comes back when a node is gone."""

from functools import partial

import pytest
import trio
from client.hosting import Hosting
from client.playing import dialing, homes, play_out
from client.running import truc
from client.test_capabilities import ELSEWHERE
from server.nodes import Nodes
from server.test_routing import QUICK_S, two

from truc_client import Interrupted, LostError, connect, parse_address
from truc_client.verifying import verify_file
from truc_conform.shown import CODE
from truc_protocol.audit import Result
from truc_protocol.errors import Code
from truc_protocol.messages import Join, bye

pytestmark = pytest.mark.slow
FRENCH = "truc-french"


@pytest.fixture
def nodes(tmp_path) -> Nodes:
    return Nodes(tmp_path)


def link(server) -> str:
    return f"truc://127.0.0.1:{server.port}"


async def both(first, second) -> None:
    """Let both play the match to its end; it must be proven, and so must the files that they keep."""
    for each in await play_out(first, second):
        assert each.verdict.result is Result.PROVEN
        assert verify_file(each.transcript).result is Result.PROVEN


async def test_match_is_played_with_a_guest_who_was_sent_from_another_node(nodes, tmp_path):
    first, second = homes(tmp_path, False, True)
    async with (
        two(nodes, "moved") as (one, other),
        connect(link(one), first) as north,
        connect(link(other), second) as south,
    ):
        tag = south.tag
        table = await north.create(FRENCH, options={"match": 1, "guests": 1})
        joined = await south.join(table.code)
        assert (south.address.port, south.tag, joined.seat) == (one.port, tag, 1)
        await both(table, joined)


async def test_truc_that_is_sent_to_another_node_meets_the_same_server_there(nodes, tmp_path):
    (first,) = homes(tmp_path, False)
    home = {"TRUC_HOME": str(tmp_path / "home")}
    async with (
        two(nodes, "moved") as (one, other),
        connect(link(one), first) as north,
        trio.open_nursery() as nursery,
    ):
        table = await north.create(FRENCH, options={"match": 1, "target": 4})
        nursery.start_soon(play_out, table)
        bot = partial(truc, "bot", link(other), "--table", table.code, env=home)
        told = await trio.to_thread.run_sync(bot)
    assert told.exit_code == 0
    assert told.stderr.count("first contact") == 1
    assert "proven, level A" in told.stdout


async def test_match_is_played_with_somebody_whom_another_node_brings(nodes, tmp_path):
    first, second = homes(tmp_path, False, False)
    async with (
        two(nodes, "proxy") as (one, other),
        connect(link(one), first) as north,
        connect(link(other), second) as south,
    ):
        table = await north.create(FRENCH, options={"match": 1})
        joined = await south.join(table.code)
        assert south.address.port == other.port
        await both(table, joined)


async def listed(connection, code: str) -> None:
    """Wait until a node lists a table of another."""
    with trio.fail_after(20):
        while True:
            if code in {table.table for table in await connection.tables()}:
                return
            await trio.sleep(0.05)


async def test_seat_is_sought_watched_and_resumed_on_another_node(nodes, tmp_path):
    first, second, third = homes(tmp_path, False, False, False)
    async with two(nodes, "moved") as (one, other), connect(link(one), first) as north:
        table = await north.create(FRENCH, options={"match": 1})
        async with connect(link(other), second) as south:
            await listed(south, table.code)
            sought = await south.seek(FRENCH, options={"match": 1})
            assert (sought.code, south.address.port) == (table.code, one.port)
        async with connect(link(other), third) as east:
            watched = await east.watch(table.code)
            assert watched.code == table.code
            assert east.address.port == one.port
        async with connect(link(other), second) as south:
            (held,) = south.held
            again = await south.resume(held)
            assert (again.code, south.address.port) == (table.code, one.port)
            await both(table, again)


async def test_players_at_a_node_that_dies_come_back_by_the_address_they_came_by(nodes, tmp_path):
    first, second, third = homes(tmp_path, False, False, False)
    ended, told = [], []

    async def play(*tables) -> None:
        ended.extend(await play_out(*tables, show=told.append))

    async def begin(nursery: trio.Nursery) -> None:
        """Play a little at the other node, which ends then."""
        async with nodes.run("one", inner=nodes.inner("one")) as one:
            await nodes.known("one", "two")
            async with connect(link(one), third) as opener:
                opened = await opener.create(FRENCH)
                tables = [await north.join(opened.code)]
                await opened.leave()
            tables.append(await south.join(opened.code))
            assert {connection.address.port for connection in (north, south)} == {one.port}
            nursery.start_soon(play, *tables)
            while len(told) < 30:
                await trio.lowlevel.checkpoint()
            assert not ended

    async with (
        nodes.run("two", inner=nodes.inner("two"), lease_s=QUICK_S) as other,
        connect(link(other), first) as north,
        connect(link(other), second) as south,
    ):
        with trio.fail_after(60):
            async with trio.open_nursery() as nursery:
                await begin(nursery)
        assert [each.verdict.result for each in ended] == [Result.PROVEN] * 2
        assert {connection.address.port for connection in (north, south)} == {other.port}
        assert any(isinstance(happening, Interrupted) for happening in told)


class Sending(Hosting):
    """A server that sends whoever asks for a seat elsewhere."""

    to = ELSEWHERE

    async def seat(self, _message) -> None:
        await self.send(bye(Code.MOVED, "it is there", to=self.to))


async def test_request_is_made_again_a_few_times_and_no_more(scripted, player, autojump_clock):
    sending = scripted(kind=Sending)
    dial, dialed = dialing({"host": sending, "elsewhere": sending})
    async with connect("host", player, dial=dial) as connection:
        with pytest.raises(LostError, match="it is at elsewhere:7374 now"):
            await connection.join("TABLE")
    assert [address.host for address in dialed][:4] == ["host", "elsewhere", "elsewhere", "elsewhere"]
    assert len([message for message in sending.received if isinstance(message, Join)]) == 4


async def test_address_that_nobody_answers_at_is_left_for_the_first(scripted, player, autojump_clock):
    sending = scripted(kind=Sending)
    sending.to = "gone:7373"
    dial, dialed = dialing({"host": sending})
    async with connect("host", player, dial=dial) as connection:
        with pytest.raises(LostError):
            await connection.join("TABLE")
        await connection.tables()
        assert connection.address == parse_address("host")
    assert [address.host for address in dialed][:3] == ["host", "gone", "host"]


class Wandering(Hosting):
    """A server that sends whoever watches elsewhere, so many times."""

    sends, to = 0, ELSEWHERE

    def __init__(self, *args, **options) -> None:
        super().__init__(*args, **options)
        self.stays = trio.Event()

    async def show(self, message) -> None:
        if self.sends:
            self.sends -= 1
            await self.send(bye(Code.MOVED, "it is there", to=self.to))
        else:
            await super().show(message)
            self.stays.set()


async def test_client_that_is_sent_round_begins_at_the_first_address_again(scripted, player, autojump_clock):
    wandering = scripted(kind=Wandering)
    dial, dialed = dialing({"host": wandering, "elsewhere": wandering})
    async with connect("host", player, dial=dial) as connection:
        await connection.watch(CODE)
        wandering.sends, wandering.stays, before = 6, trio.Event(), len(dialed)
        await wandering.hang_up()
        with trio.fail_after(600):
            await wandering.stays.wait()
    hosts = [address.host for address in dialed[before:]]
    assert hosts == ["host", *["elsewhere"] * 3, "host", *["elsewhere"] * 2]


async def test_client_goes_back_to_any_address_where_it_was(scripted, player, autojump_clock):
    wandering = scripted(kind=Wandering)
    living = {"host": wandering, "elsewhere": wandering}
    dial, dialed = dialing(living)
    async with connect("host", player, dial=dial) as connection:
        wandering.sends = 1
        await connection.watch(CODE)
        assert [address.host for address in dialed] == ["host", "elsewhere"]
        del living["host"]
        wandering.sends, wandering.to, wandering.stays = 1, "gone:7373", trio.Event()
        await wandering.hang_up()
        with trio.fail_after(600):
            await wandering.stays.wait()
        answered = [address.host for address in dialed if address.host in living]
        assert answered[1:] == ["elsewhere", "elsewhere"]
        assert connection.address.host == "elsewhere"

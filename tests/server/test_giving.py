"""Tables that one node gives to another: at the host's word, or all when it drains; no hand is cut off."""

import re
import time
from contextlib import closing
from importlib.metadata import version

import pytest
import trio
from server.admins import host_says, host_types, hosting
from server.asking import figures_of, get, telling
from server.calls import BRIEF, awake, called, held
from server.conftest import QUICK, give_up, in_hand, play_on
from server.nodes import LONG_S, Nodes
from server.rawclient import GoneError, RawSeat, bodies
from server.restarting import come_back, go_on, goodbyes, play_until_gone
from server.visitors import goodbye

from truc_protocol.bodies import Call, Close
from truc_protocol.records import Phase
from truc_server.commands.admin import _cluster_lines
from truc_server.storage import NodeOrder, StoreError
from truc_server.storage.sql import open_store
from truc_server.upkeep import draining

pytestmark = pytest.mark.slow


def hosted(nodes: Nodes, name: str, settings=QUICK):
    """Run a node that somebody has in hand."""
    return hosting(name, settings, run=nodes.run)


def body_at(seat: RawSeat, k: int):
    """Return the body of the record at a position."""
    return bodies(seat.records)[k - seat.next]


async def alone(server) -> RawSeat:
    """Return a player who has made a table, and waits there."""
    seat = await server.seat(seed=77)
    await seat.create("truc-french", seats=2)
    return seat


async def comes_after(server, seat: RawSeat) -> None:
    """Come to a node again, and to the seat there."""
    seat.client = await server.connect()
    await seat.client.login_key(seat.key)
    reply = await seat.client.ask_patiently({"t": "join", "table": seat.table})  # it may be being taken up
    assert reply["t"] == "ok"


async def finish(server, seats: list[RawSeat]) -> None:
    await come_back(server, *seats)
    await give_up(seats)


async def test_table_is_moved_when_its_hand_is_over_and_its_players_are_sent_after_it(nodes):
    async with hosted(nodes, "one") as first, hosted(nodes, "two") as second:
        seats = await in_hand(first, options={"match": 1})
        answer = await host_says(first.folder, command="move", table=seats[0].table, node="two")
        assert answer == {"ok": True, "table": seats[0].table, "node": "two", "owner": "one", "waits": True}
        assert seats[0].ledger.phase is Phase.HAND
        said = await goodbyes(seats)
        assert [(bye["code"], bye["to"]) for bye in said] == [("moved", f"127.0.0.1:{second.port}")] * 2
        assert nodes.owners() == {seats[0].table: "two"}
        given = seats[0].next
        assert any(isinstance(body, Close) for body in bodies(seats[0].records)[-4:])
        await finish(second, seats)
    assert isinstance(body_at(seats[0], given), Call)  # at once, as nobody had held it back
    assert "rekey" not in [waited["what"] for waited in seats[0].client.came("waiting") if "what" in waited]
    epochs = nodes.epochs()
    assert [node for *_, node in epochs] == ["one"] * given + ["two"] * (len(epochs) - given)


async def test_table_is_moved_to_no_node_that_is_not_there(nodes):
    async with hosted(nodes, "one") as first:
        seat = await alone(first)
        for table, name, why in (
            (seat.table, "one", f"node one has table {seat.table} already"),
            (seat.table, "two", "expected a node that runs and does not drain, got 'two'"),
            ("ZZZZZ", "one", "no table ZZZZZ at any node"),
        ):
            answer = await host_says(first.folder, command="move", table=table, node=name)
            assert answer["error"] == why


async def test_command_takes_the_table_and_then_the_node(nodes):
    async with hosted(nodes, "one") as first, hosted(nodes, "two"):
        seat = await alone(first)
        result = await host_types(first.folder, "move", seat.table, "two")
        assert (result.stdout, result.exit_code) == (f"table {seat.table} goes to node two now\n", 0)
        result = await host_types(first.folder, "drain", "two")
        assert (result.stdout, result.exit_code) == ("node two is told to drain\n", 0)


async def test_table_is_moved_by_a_word_to_any_node(nodes):
    async with hosted(nodes, "one") as first, hosted(nodes, "two") as second, hosted(nodes, "three") as third:
        seat = await alone(first)
        answer = await host_says(third.folder, command="move", table=seat.table, node="two")
        assert answer == {"ok": True, "table": seat.table, "node": "two", "owner": "one", "waits": True}
        assert (await goodbye(seat.client))["code"] == "moved"
        await comes_after(second, seat)
        assert nodes.owners() == {seat.table: "two"}


async def test_order_that_could_not_be_obeyed_as_the_database_failed_is_obeyed_later(nodes, monkeypatch):
    monkeypatch.setattr(draining, "ORDERS_S", 0.05)
    async with hosted(nodes, "one") as first, hosted(nodes, "two"):
        seat, taken, failed = await alone(first), [], []
        take, find = first.store.take_orders, first.store.nodes

        def take_and_note(lease):
            taken.extend(found := take(lease))
            return found

        def fail_once():
            if taken and not failed:
                failed.append(taken)
                raise StoreError("cannot reach the database")
            return find()

        monkeypatch.setattr(first.store, "take_orders", take_and_note)
        monkeypatch.setattr(first.store, "nodes", fail_once)
        with closing(open_store(nodes.url)) as store:
            store.leave_order("one", NodeOrder(seat.table, "two"))
        assert (await goodbye(seat.client))["code"] == "moved"
        assert nodes.owners() == {seat.table: "two"}
        assert failed


async def test_node_is_drained_by_a_word_to_another(nodes):
    async with hosted(nodes, "two") as second:
        async with hosted(nodes, "one") as first:
            seat = await alone(first)
            assert (await host_says(second.folder, command="drain", node="one"))["ok"]
            assert (await goodbye(seat.client))["code"] == "moved"
            with trio.fail_after(20):
                await first.host.heard_of_end.wait()
        assert [name for (name,) in nodes.rows("SELECT name FROM nodes")] == ["two"]
        answer = await host_says(second.folder, command="drain", node="one")
        assert answer["error"] == "expected another node that runs and does not drain, got 'one'"


async def test_server_alone_moves_nothing_and_shows_no_cluster(path):
    async with hosting(path) as server:
        for request in ({"command": "move", "table": "ABCDEF", "node": "two"}, {"command": "cluster"}):
            answer = await host_says(server.folder, **request)
            assert answer["error"] == "this server is no node of a cluster: cluster.node is empty"


async def test_node_that_drains_gives_every_table_away_when_its_hand_is_over(nodes):
    async with hosted(nodes, "two") as second:
        async with hosted(nodes, "one") as first:
            seats = await in_hand(first, options={"match": 1})
            waiting = await alone(first)
            await host_says(first.folder, command="drain")
            assert (await goodbye(waiting.client))["code"] == "moved"  # it has no hand to wait for
            assert seats[0].ledger.phase is Phase.HAND
            assert {bye["code"] for bye in await goodbyes(seats)} == {"moved"}
            assert set(nodes.owners().values()) == {"two"}
            given = seats[0].next
        assert [name for name, *_ in nodes.rows("SELECT name FROM nodes")] == ["two"]
        await finish(second, seats)
    assert isinstance(body_at(seats[0], given), Call)


async def test_table_whose_next_node_has_begun_to_drain_stays_and_its_match_goes_on(nodes):
    async with hosted(nodes, "one") as first, hosted(nodes, "two") as second:
        await in_hand(second, seed=2)  # which it waits for
        seats = await in_hand(first, options={"match": 1})
        table = seats[0].table
        assert (await host_says(first.folder, command="move", table=table, node="two"))["waits"]
        await host_says(second.folder, command="drain")
        await nodes.until(lambda: nodes.rows("SELECT * FROM nodes WHERE draining"))  # so that others can know
        before = seats[0].ledger.deal_index

        for seat in seats:
            await go_on(seat)
        await play_on(seats, lambda seat: seat.ledger.deal_index > before and seat.ledger.phase is Phase.HAND)
        assert nodes.owners()[table] == "one"


async def test_newcomers_and_those_without_a_hand_go_to_another_node_while_this_one_drains(nodes):
    async with hosted(nodes, "two") as second, hosted(nodes, "one") as first:
        await nodes.known("one", "two")
        seats = await in_hand(first, options={"match": 1})
        idle = await first.seat(seed=78)
        await host_says(first.folder, command="drain")
        place = f"127.0.0.1:{second.port}"
        with trio.fail_after(20):
            await idle.client.until("draining")
            while True:  # until the other nodes are known to the one that drains
                newcomer = await first.connect()
                with pytest.raises(GoneError):
                    await newcomer.login_guest()
                if newcomer.log[-1].get("to") == place:
                    break
        await goodbyes(seats)
        last = await goodbye(idle.client)
        assert (last["code"], last["to"]) == ("moved", place)


async def test_node_that_is_stopped_while_it_drains_gives_nothing_more(nodes):
    async with hosted(nodes, "two"):
        async with hosted(nodes, "one") as first:
            seat = await alone(first)
            read = first.store.nodes

            def stop_and_read():
                trio.from_thread.run_sync(first.stop)
                while not first.host.heard_of_end.is_set():
                    time.sleep(0.01)  # a thread that may be cancelled waits for nothing
                return read()

            first.store.nodes = stop_and_read
            await host_says(first.folder, command="drain")
            assert (await goodbye(seat.client))["code"] == "shutting_down"
        assert [name for name, *_ in nodes.rows("SELECT owner FROM tables WHERE owner LIKE '>%'")] == []


async def test_node_that_drains_alone_leaves_its_tables_to_the_next_start(nodes):
    async with hosted(nodes, "one") as first:
        seats = await in_hand(first, options={"match": 1})
        await host_says(first.folder, command="drain")
        assert {bye["code"] for bye in await goodbyes(seats)} == {"shutting_down"}
    assert set(nodes.owners().values()) == {"one"}
    async with hosted(nodes, "one") as again:
        await finish(again, seats)


async def test_wish_goes_with_the_table_that_is_given_away_and_taken_over(nodes):
    async with hosted(nodes, "one") as first:
        async with hosted(nodes, "two") as second:
            seats = await called(first, options=BRIEF)
            assert (await seats[1].want_rekey())["t"] == "ok"
            await awake(*seats)
            await play_on(seats, held)
            await host_says(first.folder, command="move", table=seats[0].table, node="two")
            await held_at(second, seats)
            assert [seat.waiting["seats"] for seat in seats] == [[1]] * 2
        await held_at(first, seats)
    assert [seat.waiting["seats"] for seat in seats] == [[1]] * 2


async def held_at(server, seats: list[RawSeat]) -> None:
    """Follow a match, whose call is held back, to a server."""
    for seat in seats:
        await play_until_gone(seat)
        seat.waiting = None
    await come_back(server, *seats)
    await play_on(seats, held)


async def test_table_that_nobody_plays_at_is_moved_at_once_and_again_when_it_has_come_back(nodes):
    async with hosted(nodes, "one") as first, hosted(nodes, "two") as second:
        seat = await alone(first)
        for here, to, there in ((first, "two", second), (second, "one", first), (first, "two", second)):
            answer = await host_says(here.folder, command="move", table=seat.table, node=to)
            assert (answer["ok"], answer["waits"]) == (True, False)
            assert (await goodbye(seat.client))["code"] == "moved"
            await comes_after(there, seat)
        assert nodes.owners() == {seat.table: "two"}
        answer = await host_says(first.folder, command="move", table=seat.table, node="two")
        assert answer["error"] == f"node two has table {seat.table} already"


async def test_cluster_is_shown_on_any_node(nodes):
    async with hosted(nodes, "one") as first, hosted(nodes, "two") as second:
        await nodes.known("one", "two")
        await alone(first)
        answer = await host_says(second.folder, command="cluster")
        one, two = answer["nodes"]
        assert (one["node"], one["here"], one["tables"], one["draining"]) == ("one", False, 1, False)
        assert (two["node"], two["here"], two["epoch"] > one["epoch"]) == ("two", True, True)
        assert (one["public"], one["version"]) == (f"127.0.0.1:{first.port}", version("truc"))
        assert 0 < one["left_ms"] <= answer["lease_ms"]
        assert one["renewed_ms"] == answer["lease_ms"] - one["left_ms"]
        assert set(answer) == {"ok", "nodes", "lease_ms", "unowned"}


def test_cluster_is_a_table_for_people():
    row = {
        "node": "one",
        "here": True,
        "epoch": 7,
        "came_under": 5,
        "left_ms": 4_210,
        "renewed_ms": 790,
        "tables": 12,
    }
    row |= {"version": "0.1.0", "draining": False, "public": "one.example:7373", "inner": "", "since_ms": 0}
    other = {**row, "node": "two", "here": False, "draining": True, "public": ""}
    gone = {**row, "node": "three", "here": False, "left_ms": -5, "renewed_ms": 5_005}
    lines = _cluster_lines({"nodes": [row, other, gone], "unowned": 1})
    assert [re.sub(r"  +", " | ", line) for line in lines] == [
        "node | state | tables | lease left | renewed | epoch | version | since | players reach it at",
        "one (this) | runs | 12 | 4.2 s | 0.8 s ago | 7 | 0.1.0 | 1970-01-01 00:00 UTC | one.example:7373",
        "two | draining | 12 | 4.2 s | 0.8 s ago | 7 | 0.1.0 | 1970-01-01 00:00 UTC | -",
        "three | gone | 12 | over | 5.0 s ago | 7 | 0.1.0 | 1970-01-01 00:00 UTC | one.example:7373",
        "1 table without a node",
    ]


async def test_figures_of_a_node_tell_of_its_lease_and_of_tables_that_have_moved(nodes):
    async with hosted(nodes, "one", telling(QUICK)) as first, hosted(nodes, "two", telling(QUICK)) as second:
        seat = await alone(first)
        await host_says(first.folder, command="move", table=seat.table, node="two")
        await goodbye(seat.client)
        await comes_after(second, seat)
        one, two = [figures_of((await get(server, "/metrics")).text) for server in (first, second)]
    assert 0 < one["truc_lease_left_seconds"] <= LONG_S
    assert one["truc_lease_renewal_seconds_count"] >= 1
    assert one["truc_lease_failures_total"] == 0
    moved = [
        {how: node[f'truc_tables_moved_total{{how="{how}"}}'] for how in ("taken", "given")}
        for node in (one, two)
    ]
    assert moved == [{"taken": 0, "given": 1}, {"taken": 1, "given": 0}]

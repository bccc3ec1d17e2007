"""Several nodes on one database: what one leaves, another takes up, and nobody notices but by a new connection."""

import contextlib
import time
from types import SimpleNamespace

import pytest
import trio
from server.calls import BRIEF, after
from server.conftest import QUICK, play_on, play_out
from server.nodes import Nodes
from server.rawclient import RawSeat
from server.restarting import come_back, play_until_gone

from truc_server import recovery
from truc_server.cluster import lease_keeper
from truc_server.storage import StoreError, StoreLostError

pytestmark = pytest.mark.slow
LEASE_S = 30
ENDED = pytest.RaisesExc(StoreError, match="the server has stopped")


async def taken_up(server, seat: RawSeat) -> None:
    """Wait until a server lists a seat as its player's."""
    with trio.fail_after(20):
        while True:
            client = await server.connect()
            if (await client.login_key(seat.key)).get("seats"):
                return
            await trio.sleep(0.05)


async def finish(nodes: Nodes, server, seats: list[RawSeat]) -> None:
    """Come back on another node and play to the end; what was seen before must be there."""
    before = [seat.next for seat in seats]
    await come_back(server, *seats)
    await play_out(seats)
    found = nodes.epochs()
    assert [k for _, k, _, _ in found] == list(range(len(found)))
    assert len(found) > max(before)
    epochs = [epoch for _, _, epoch, _ in found]
    assert epochs == sorted(epochs)
    assert {node for *_, node in found} == {"one", "two"}


async def test_match_of_a_node_that_stopped_goes_on_at_another_at_once(nodes):
    async with nodes.run("two") as second:
        async with nodes.run("one") as first:
            seats = await first.match(2, options=BRIEF)
            await play_on(seats, after(7))
            assert set(nodes.owners().values()) == {"one"}
        await taken_up(second, seats[0])
        await finish(nodes, second, seats)


async def test_table_that_changed_hands_waits_for_players_who_may_not_know_it_yet(nodes, monkeypatch):
    waits, taken_up, restore = [], trio.Event(), recovery.restore

    def note_and_restore(backing, lobby, stored) -> None:
        restore(backing, lobby, stored)
        if stored.tables:
            waits.append(stored.late_s)
            taken_up.set()

    monkeypatch.setattr(recovery, "restore", note_and_restore)
    async with nodes.run("two"):
        async with nodes.run("one") as first:
            await first.match(2)
        with trio.fail_after(20):
            await taken_up.wait()
    assert waits[0] > 1.5 * QUICK.limits.idle_s


async def test_match_of_a_node_whose_lease_ended_goes_on_at_another_and_that_node_ends(nodes):
    async with nodes.run("two") as second:
        with pytest.RaisesGroup(ENDED, flatten_subgroups=True):
            async with nodes.run("one") as first:
                seats = await first.match(2, options=BRIEF)
                await play_on(seats, after(7))
                nodes.change("UPDATE nodes SET lease_until_ms = 0 WHERE name = 'one'")
                await nodes.owned_by("two")
                await play_until_gone(*seats)
                await trio.sleep_forever()
        await taken_up(second, seats[0])
        await finish(nodes, second, seats)


async def test_node_that_cannot_renew_its_lease_ends_before_the_lease_does(nodes, monkeypatch, mock_clock):
    monkeypatch.setattr(lease_keeper, "time", SimpleNamespace(monotonic=trio.current_time))

    def fail(*_, **__) -> None:
        raise StoreError("cannot reach the database")

    with pytest.RaisesGroup(ENDED, flatten_subgroups=True):
        async with nodes.run("one", lease_s=LEASE_S) as first:
            seat = await first.seat()
            monkeypatch.setattr(first.store, "renew", fail)
            mock_clock.jump(0.9 * LEASE_S)
            mock_clock.rate = 1  # what the end of a node waits for in vain has its time, too
            with contextlib.suppress(StoreLostError):
                assert (await seat.client.until("bye"))["code"] == "internal"
            await trio.sleep_forever()


async def test_node_that_comes_again_under_its_name_has_its_tables_at_once(nodes):
    async with nodes.run("one") as first:
        seats = await first.match(2, options=BRIEF)
        await play_on(seats, after(7))
    async with nodes.run("one") as again:
        await come_back(again, *seats)
        await play_out(seats)


async def test_server_that_has_the_database_alone_takes_what_nodes_have_left_and_they_what_it_has(nodes):
    async with nodes.run("one") as first:
        await first.match(2)
    assert set(nodes.owners().values()) == {"one"}
    async with nodes.run("two"):
        await nodes.owned_by("two")


async def test_tables_that_were_taken_and_could_not_be_read_at_once_are_read_again(nodes, monkeypatch):
    async with nodes.run("two") as second:
        read, failed = second.store.table, []

        def fail_once(code):
            if not failed:
                failed.append(code)
                raise StoreError("cannot reach the database")
            return read(code)

        monkeypatch.setattr(second.store, "table", fail_once)
        async with nodes.run("one") as first:
            seats = await first.match(2, options=BRIEF)
            await play_on(seats, after(7))
        await nodes.owned_by("two")
        await taken_up(second, seats[0])
        await finish(nodes, second, seats)
    assert len(failed) == 1


async def test_node_holds_its_lease_while_it_reads_what_it_had(nodes, monkeypatch):
    """However many tables there are: others would take them, and it would end and begin again for ever."""
    async with nodes.run("one") as first:
        seats = await first.match(2, options=BRIEF)
        await play_on(seats, after(7))
    read = recovery.read

    def wait_and_read(store, restored, *, codes=None):
        if codes:
            wait_renewed(store)
        return read(store, restored, codes=codes)

    monkeypatch.setattr(recovery, "read", wait_and_read)
    async with nodes.run("one", lease_s=12) as again:
        await come_back(again, *seats)
        await play_out(seats)


def wait_renewed(store) -> None:
    """Wait until the only node there is renews its lease; blocks."""

    (before,), end = store.nodes(), time.monotonic() + 20
    last = before.left_ms
    while last >= (left := store.nodes()[0].left_ms):  # less and less, until it is renewed
        assert time.monotonic() < end, "the lease was not renewed"
        last = left
        time.sleep(0.02)


async def test_node_that_does_not_know_what_it_has_taken_ends_and_has_it_when_it_comes_again(
    nodes, monkeypatch
):
    with pytest.RaisesGroup(ENDED, flatten_subgroups=True):
        async with nodes.run("two") as second:
            take = second.store.take_tables

            def lose_answer(*given, **named):
                take(*given, **named)
                raise StoreError("the connection was lost")

            monkeypatch.setattr(second.store, "take_tables", lose_answer)
            async with nodes.run("one") as first:
                seats = await first.match(2, options=BRIEF)
                await play_on(seats, after(7))
            await trio.sleep_forever()
    async with nodes.run("two") as second:
        await finish(nodes, second, seats)

"""Several nodes on one database: what one leaves, another takes up; and what holds at every node, wherever it was done."""

import contextlib
import time
from types import SimpleNamespace

import pytest
import trio
from server.calls import BRIEF, after
from server.conftest import QUICK, changed, play_on, play_out, under
from server.nodes import Nodes
from server.rawclient import RawSeat
from server.restarting import come_back
from server.test_nodes_apart import FRENCH, SOON_S, is_online, soon
from server.visitors import guest, keyed, said, say

from truc_protocol.crypto import keys
from truc_server import recovery
from truc_server.cluster import lease_keeper
from truc_server.storage import Sanction, SanctionKind, StoreError, StoreLostError
from truc_server.upkeep import sanction_watch

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


async def test_table_that_changed_hands_waits_for_players_who_may_not_know_it_yet(nodes, monkeypatch):
    waits, taken_up, restore = [], trio.Event(), recovery.restore

    def note_and_restore(parts, stored) -> None:
        restore(parts, stored)
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

    def wait_and_read(store, restored, epoch, *, codes=None):
        if codes:
            wait_renewed(store)
        return read(store, restored, epoch, codes=codes)

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


GAME = {"variant": "truc-french", "seats": 2}


async def gone(client) -> str:
    """Return why a connection has ended, once it has."""
    with trio.fail_after(SOON_S):
        return (await client.until("bye"))["code"]


async def known_at(client, name: str) -> None:
    """Wait until a node has heard of a player, and so of all that was noted before they came."""
    await soon(lambda: is_online(client, name))


async def test_mute_by_command_holds_at_every_node_and_a_ban_cuts_off_and_frees_seats(nodes, monkeypatch):
    monkeypatch.setattr(sanction_watch, "SANCTIONS_S", 0.1)
    async with nodes.run("one") as one, nodes.run("two") as two:
        key = keys.generate_signing_key()
        first, second, other = await keyed(one, "Anna", key), await keyed(two, "Anna", key), await guest(two)
        table = (await first.ask(FRENCH))["table"]
        assert (await second.ask(FRENCH))["t"] == "ok"
        one.store.impose(Sanction(keys.fingerprint(key.public), SanctionKind.MUTE, 0, None))
        for client in (first, second):

            async def is_muted(client=client) -> bool:
                return (await say(client, "eh")).get("code") == "muted"

            await client.ask({"t": "lobby"})
            await soon(is_muted)
        one.store.impose(Sanction(keys.fingerprint(key.public), SanctionKind.BAN, 0, None))
        assert [await gone(client) for client in (first, second)] == ["banned", "banned"]

        async def are_gone() -> bool:
            return (await other.ask({"t": "tables"}))["tables"] == []

        await soon(are_gone)
        assert (await (await two.connect()).login_key(key, "Anna"))["code"] == "banned"
        assert (await other.ask_patiently({"t": "join", "table": table}))["code"] == "no_such_table"


async def test_match_at_one_node_is_rated_for_all_and_who_is_taken_off_is_off_everywhere(both):
    one, two = both
    seats = await one.match(2, options=BRIEF)
    await play_on(seats)
    other = await guest(two)

    async def standings() -> list[dict]:
        return (await other.ask({"t": "leaderboard", **GAME}))["standings"]

    assert {standing["name"] for standing in await standings()} == {seat.name for seat in seats}
    two.store.unrate(keys.fingerprint(seats[0].key.public))
    assert [standing["name"] for standing in await standings()] == [seats[1].name]


async def test_guest_comes_back_by_their_token_at_another_node_and_is_forgotten_at_every_one(both):
    one, two = both
    client = await one.connect()
    token = (await client.login_guest("Gus"))["token"]
    mine = (await client.ask(FRENCH))["table"]
    there, host = await two.connect(), await guest(two, "Bea")
    assert [held["table"] for held in (await there.login_token(token))["seats"]] == [mine]
    table = (await host.ask({**FRENCH, "options": {"spectators": 1}}))["table"]
    await there.ask({"t": "watch", "table": table})
    await say(there, "eh", table)
    await client.ask({"t": "leave", "table": mine})
    assert (await client.ask({"t": "forget"}))["t"] == "ok"
    assert [await gone(each) for each in (client, there)] == ["forgotten", "forgotten"]
    late = await guest(two, "Cai")
    await late.ask({"t": "watch", "table": table})
    assert await said(late) == []
    assert (await (await two.connect()).login_token(token))["code"] == "bad_token"


class TestLimits:
    async def test_connections_of_an_address_count_over_all_nodes_until_their_node_is_gone(self, nodes):
        tight = changed(QUICK, limits={"connections_per_address": 2})
        async with nodes.run("two", tight) as two:
            other = await guest(two, "Bea")
            async with nodes.run("one", tight) as one:
                await guest(one, "Anna")
                await known_at(other, "Anna")
                assert (await (await two.connect()).receive())["code"] == "server_full"
            await soon(lambda: is_online(other, "Anna"), wanted=False)
            await guest(two, "Cai")

    @under(limits={"failed_logins_per_min": 3})
    async def test_failed_logins_of_an_address_count_over_all_nodes(self, both):
        one, two = both
        other = await guest(two, "Bea")
        await known_at(await guest(one, "Cai"), "Bea")  # each has heard of the other
        await known_at(other, "Cai")
        for _ in range(2):
            assert (await (await one.connect()).login_token("t" * 24))["code"] == "bad_token"
        await guest(one, "Anna")
        await known_at(other, "Anna")
        answers = [(await (await two.connect()).login_token("t" * 24))["code"] for _ in range(2)]
        assert answers == ["bad_token", "rate_limited"]

    @under(limits={"tables_per_min": 2, "tables_per_address": 9})
    async def test_tables_opened_at_another_node_count_for_the_pace(self, both):
        one, two = both
        key = keys.generate_signing_key()
        here, there = await keyed(one, "Anna", key), await keyed(two, "Anna", key)
        for _ in range(2):
            assert (await here.ask(FRENCH))["t"] == "ok"
        await guest(one, "Bea")
        await known_at(there, "Bea")
        assert (await there.ask(FRENCH))["code"] == "rate_limited"

"""Tables of another node: who asks for one is sent there, or brought there over a link."""

from contextlib import asynccontextmanager

import pytest
import trio
from chaos.seating import all_ready
from chaos.servers import free_port
from server.asking import figures, telling
from server.browsers import Door
from server.calls import BRIEF
from server.conftest import PATIENT, QUICK, asked, changed, give_up, only_cut, play_on
from server.nodes import LONG_S
from server.rawclient import RawSeat
from server.test_nodes_apart import is_listed, soon
from server.test_signs import in_clear, sealed
from server.watching import Eye
from trio.testing import wait_all_tasks_blocked

from truc_protocol.codec import pack
from truc_protocol.wire.connection import MAX_OUTSTANDING
from truc_server.cluster import bulletin_exchange, routing
from truc_server.cluster.inner_protocol import DoorAnswer
from truc_server.metrics import page
from truc_server.operation.figures import LINK_LOSSES

pytestmark = pytest.mark.slow
QUICK_S = 3  # of a lease: soon over, and renewed in time on a busy machine too


@asynccontextmanager
async def two(nodes, route, **fields):
    """Run two nodes that know each other."""
    async with (
        nodes.run("one", route=route, inner=nodes.inner("one"), **fields) as one,
        nodes.run("two", route=route, inner=nodes.inner("two"), **fields) as other,
    ):
        await nodes.known("one", "two")
        yield one, other


async def moved(server, seat: RawSeat, message) -> dict:
    """Ask for what is elsewhere; return the goodbye that answers it."""
    await seat.client.send(message)
    bye = await seat.client.until("bye")
    assert bye["code"] == "moved"
    return bye


async def test_player_who_follows_a_table_is_brought_and_not_sent_away(nodes):
    async with two(nodes, "moved") as (one, other):
        first, second = await one.seat(seed=1), await other.seat(seed=2)
        table = await first.create("truc-french", seats=2)
        own = await second.create("truc-french", seats=2)
        assert (await second.client.ask({"t": "join", "table": table}))["t"] == "ok"
        assert (await second.client.ask({"t": "leave", "table": own}))["t"] == "ok"
        third = await first.create("truc-french", seats=2)
        assert (await second.client.ask({"t": "join", "table": third}))["t"] == "ok"


async def test_guest_who_is_sent_away_before_sitting_down_is_known_there_by_the_token(nodes):
    async with two(nodes, "moved") as (one, other):
        table = await (await one.seat(seed=1)).create("truc-french", seats=2)
        guest = await other.seat(seed=2, keyed=False)
        token, tag = (guest.client.welcome[name] for name in ("token", "player"))
        await moved(other, guest, {"t": "join", "table": table})
        there = await one.connect()
        welcome = await there.login_token(token)
        assert (welcome["t"], welcome["player"]) == ("welcome", tag)


async def test_resuming_at_tables_of_several_nodes_ends(nodes):
    """Who has a seat on each of two nodes, and comes back by a third, is sent on once, and then brought."""
    async with two(nodes, "moved") as (one, other), nodes.run("three", inner=nodes.inner("three")) as third:
        await nodes.known("three")
        player = await one.seat(seed=1)
        tables = [await player.create("truc-french", seats=2)]
        player.client = await other.connect()
        await player.login()
        tables.append(await player.create("truc-french", seats=2))
        joins = [{"t": "join", "table": table} for table in tables]
        server, moves = third, 0
        while True:
            player.client = await server.connect()
            await player.login()
            for join in joins:
                await player.client.send(join)
            came = [await player.client.until("ok" if moves else "bye")]
            if came[0]["t"] == "ok":
                break
            moves += 1
            assert came[0]["to"] == f"127.0.0.1:{one.port}"
            server = one
        assert (await player.client.until("ok"))["seat"] == 0
        assert moves == 1


async def test_table_of_another_node_is_watched_and_talked_at_over_a_link(nodes):
    async with two(nodes, "proxy") as (one, other):
        seats = await one.match(2, options=BRIEF)
        eye = await Eye().connect(other)
        assert (await eye.watch(seats[0].table))["t"] == "ok"
        said = {"t": "chat", "table": seats[0].table, "text": "hello"}
        assert (await eye.ask(said))["t"] == "ok"
        await play_on(seats)
        await eye.until(lambda eye: eye.next >= seats[0].next)
        assert [line["text"] for line in seats[0].client.came("chat")] == ["hello"]
        (records,) = eye.seen.values()
        assert list(records.values()) == seats[0].records[-len(records) :]


async def test_signs_reach_partners_over_links_in_a_box_and_in_clear(nodes):
    async with two(nodes, "proxy") as (one, other):
        seats = [await one.seat(seed=1), await other.seat(seed=2)]
        seats += [await other.seat(seed=3), await one.seat(seed=4, keyed=False, boxed=False)]
        table = await seats[0].create("truc-catalan", seats=4, options={"guests": 1})
        for number, seat in enumerate(seats[1:], 1):
            await seat.join(table, number)
        for seat in await all_ready(seats):
            seat.chooses = only_cut
        await play_on(seats, asked)
        assert (await seats[2].client.ask(sealed(seats[2], "three", 0)))["t"] == "ok"
        assert (await seats[0].client.until("sign"))["from"] == 2
        assert (await seats[3].client.ask(in_clear(seats[3], "three")))["t"] == "ok"
        assert (await seats[1].client.until("sign"))["from"] == 3


async def test_who_is_ignored_is_not_heard_over_a_link_before_it_and_after(nodes):
    async with two(nodes, "proxy") as (one, other):
        first, noisy, other_noisy = [await one.seat(seed=seed) for seed in (1, 2, 3)]
        table = await first.create("truc-catalan", seats=4)
        await noisy.join(table)
        await other_noisy.join(table)
        second = (await other.seat(seed=4)).client

        async def ignore(seat: RawSeat, **fields) -> None:
            request = {"t": "ignore", "player": seat.client.welcome["player"], **fields}
            assert (await second.ask(request))["t"] == "ok"

        await ignore(noisy)
        assert (await second.ask({"t": "join", "table": table}))["t"] == "ok"
        await ignore(other_noisy)
        assert (await second.ask({"t": "unready", "table": table}))["t"] in {
            "ok",
            "error",
        }  # it is there by now
        for seat in (noisy, other_noisy, first):
            assert (await seat.client.ask({"t": "chat", "table": table, "text": seat.name}))["t"] == "ok"
        assert (await second.until("chat"))["text"] == first.name
        assert [line["text"] for line in second.came("chat")] == [first.name]


async def test_what_the_owner_says_goes_on_byte_for_byte_and_its_own_affairs_do_not(nodes):
    """What no version knows comes through too; pings are answered by the node that brings, and its caps are not the client's."""
    strange = b"\x83\xa1t\xa5table\xa1x\xcd\x00\x01\xa5state\xc0"  # a longer form, and a field of nobody's
    async with nodes.run("one", route="proxy") as one, nodes.ghost("ghost", "GHOST") as ghost:
        client = (await one.seat()).client
        number = await client.send({"t": "join", "table": "ghost", "seat": 1})
        link = await ghost.link()
        assert link.preface.address == "127.0.0.1"
        assert await link.receive() == {"t": "join", "id": number, "table": "ghost", "seat": 1}
        await link.say({"t": "ping", "n": 7}, {"t": "caps", "gone": ["chat"]}, strange)
        await link.say({"t": "ok", "re": number + 1}, {"t": "ok", "re": number, "seat": 1})
        assert (await link.receive())["n"] == 7
        frames = [await client.next_frame() for _ in range(2)]
        assert frames == [strange, pack({"t": "ok", "re": number, "seat": 1})]


@pytest.mark.parametrize(
    ("code", "told"),
    [("kicked", "kicked"), ("slow_consumer", "slow_consumer"), ("internal", "shutting_down")],
)
async def test_last_word_of_the_owner_ends_the_clients_connection(nodes, code, told):
    async with nodes.run("one", route="proxy") as one, nodes.ghost("ghost", "GHOST") as ghost:
        client = (await one.seat()).client
        await client.send({"t": "join", "table": "GHOST"})
        link = await ghost.link()
        await link.say(
            {"t": "error", "code": code, "msg": "", "close": True}, {"t": "bye", "code": code, "msg": ""}
        )
        bye = (await client.closed())[-1]
        assert (bye["t"], bye["code"], "reconnect_after_ms" in bye) == ("bye", told, told == "shutting_down")


async def test_owner_that_falls_silent_costs_its_client_one_connection(nodes, mock_clock):
    async with nodes.run("one", PATIENT, route="proxy") as one, nodes.ghost("ghost", "GHOST") as ghost:
        client = (await one.seat()).client
        await client.send({"t": "join", "table": "GHOST"})
        await (await ghost.link()).receive()
        await wait_all_tasks_blocked()
        mock_clock.jump(1.6 * LONG_S)
        bye = (await client.closed())[-1]
        assert (bye["code"], bye["reconnect_after_ms"]) == ("shutting_down", 2_000)


async def test_table_of_a_node_that_does_not_answer_or_listen_is_asked_for_again_and_one_of_none_is_not(
    nodes,
):
    async with nodes.run("one", route="proxy") as one:
        client = (await one.seat()).client

        async def is_to_be_asked_for_again(table: str) -> bool:
            refused = await client.ask({"t": "join", "table": table})
            return (refused["code"], refused["retry_after_ms"]) == ("rate_limited", 1_000)

        async with nodes.ghost("ghost", "GHOST"):
            pass
        assert await is_to_be_asked_for_again("GHOST")
        nodes.change("UPDATE nodes SET lease_until_ms = 0 WHERE name = 'ghost'")
        assert await is_to_be_asked_for_again("GHOST")
        nodes.own("coming", "COMING")
        assert await is_to_be_asked_for_again("COMING")
        nodes.own("misnamed", "MISNAMED", inner="a..b:7373")
        assert await is_to_be_asked_for_again("MISNAMED")
        await client.refused({"t": "join", "table": "ABCDE"}, "no_such_table", field="table")
        act = {"t": "act", "table": "ABCDE", "match": bytes(32), "body": b"", "sig": bytes(64)}
        await client.refused(act, "no_such_table", field="table")


async def test_table_that_cannot_be_reached_over_this_connection_is_refused(nodes):
    async with nodes.run("one") as one, nodes.run("two") as other:
        await nodes.known("one", "two")
        first, second = await one.seat(seed=1), await other.seat(seed=2)
        table = await first.create("truc-french", seats=2)
        await second.create("truc-french", seats=2)
        refused = await second.client.ask({"t": "join", "table": table})
        assert (refused["code"], f"127.0.0.1:{one.port}" in refused["msg"]) == ("not_now", True)
        await second.client.refused({"t": "leave", "table": table}, "no_such_table", field="table")


async def test_page_is_brought_where_a_program_would_be_sent(nodes):
    """It reaches its own origin only."""
    port = free_port()
    web = changed(QUICK, web={"listen": f"127.0.0.1:{port}"})
    async with (
        nodes.run("one", inner=nodes.inner("one")) as one,
        nodes.run("two", web, inner=nodes.inner("two")) as other,
    ):
        await nodes.known("one", "two")
        first = await one.seat(seed=1)
        page = await Door(other, port, f"http://localhost:{port}").client()
        second = RawSeat(page, seed=2, keyed=False)
        assert (await second.login())["t"] == "welcome"
        await second.join(await first.create("truc-french", seats=2, options={"guests": 1}), 1)
        await give_up(await all_ready((first, second)))
        assert set(nodes.owners().values()) == {"one"}


async def test_nobody_is_sent_to_an_address_that_all_nodes_share(nodes):
    async with two(nodes, "moved", public="all.example:7373") as (one, other):
        table = await (await one.seat(seed=1)).create("truc-french", seats=2)
        assert (await (await other.seat(seed=2)).client.ask({"t": "join", "table": table}))["t"] == "ok"


async def test_match_goes_on_when_the_owner_dies_with_links_open(nodes):
    async with nodes.run("two", lease_s=QUICK_S, inner=nodes.inner("two"), route="proxy") as other:
        async with nodes.run("one", inner=nodes.inner("one"), route="proxy") as one:
            await nodes.known("one", "two")
            first, second = await one.seat(seed=1), await other.seat(seed=2)
            await second.join(await first.create("truc-french", seats=2, options=BRIEF), 1)
            await play_on(await all_ready((first, second)), lambda seat: seat.next >= 5)
        bye = (await second.client.closed())[-1]
        assert (bye["code"], bye["reconnect_after_ms"]) == ("shutting_down", 2_000)
        await nodes.owned_by("two")
        for seat in (first, second):
            answer = await seat.come_back(await other.connect())
            while (
                answer.get("code") == "rate_limited"
            ):  # what the directory has said is believed for a moment
                answer = await seat.resume()
            assert answer["t"] == "ok"
            await seat.send_again()
        await give_up((first, second))


async def test_client_that_does_not_read_holds_up_its_own_link_and_no_other(nodes):
    """Only as much is read from the owner as the client's outbox takes; whoever else is brought goes on."""
    small = changed(QUICK, limits={"outbox_bytes": 65_536})
    note = pack({"t": "said", "table": "GHOST", "seat": 0, "phrase": "x" * 30_000})
    async with nodes.run("one", small, route="proxy") as one, nodes.ghost("ghost", "GHOST") as ghost:
        slow = (await one.seat(seed=1)).client
        await slow.send({"t": "join", "table": "GHOST"})
        link = await ghost.link()
        said = 0
        with trio.move_on_after(1):
            while said < 1_000:
                await link.say(note)
                said += 1
        assert said < 200
        quick = (await one.seat(seed=2)).client
        number = await quick.send({"t": "join", "table": "GHOST"})
        while len(ghost.links) < 2:
            await trio.lowlevel.checkpoint()
        await ghost.links[1].say({"t": "ok", "re": number, "seat": 1})
        assert (await quick.until("ok"))["re"] == number


async def test_seats_at_tables_of_other_nodes_are_listed_at_the_login(nodes):
    async with two(nodes, "proxy") as (one, other):
        first, second = await one.seat(seed=1), await one.seat(seed=2, keyed=False)
        playing = await first.create("truc-french", seats=2, options={"guests": 1})
        await second.join(playing, 1)
        for seat in await all_ready((first, second)):
            seat.chooses = only_cut
        await play_on((first, second), asked)
        mid = first.ledger.setup.mid
        waiting = await first.create("truc-french", seats=2)
        again = await other.connect()
        welcome = await again.login_key(first.key)
        assert welcome["seats"] == sorted(
            [{"table": playing, "match": mid, "seat": 0}, {"table": waiting, "seat": 0}],
            key=lambda held: held["table"],
        )
        guest = await other.connect()
        assert (await guest.login_token(second.token))["seats"] == [
            {"table": playing, "match": mid, "seat": 1}
        ]
        refused = await guest.ask({"t": "forget"})
        assert (refused["code"], playing in refused["msg"]) == ("not_now", True)


async def test_player_signs_at_another_node_with_the_name_they_have_where_they_came_in(nodes, monkeypatch):
    """Two who come at once have a name that each node takes for free; who is seated has theirs on every node."""
    monkeypatch.setattr(bulletin_exchange, "TELL_EVERY_S", LONG_S)
    async with two(nodes, "proxy") as (one, other):
        first, second = await one.seat(seed=1), await other.seat(seed=1)
        assert first.name == second.name
        await second.join(await first.create("truc-french", seats=2), 1)
        await give_up(await all_ready((first, second)))
        third = await other.seat(seed=3)
        await third.create("truc-french", seats=2)
        welcome = await (await one.connect()).login_key(third.key, "another name")
        assert welcome["name"] == third.name


async def test_table_that_moves_on_is_found_where_it_is_then(nodes, monkeypatch):
    """The node that had it says so, and what was known of the way there is forgotten."""
    monkeypatch.setattr(routing, "CACHE_S", 0.0)
    async with nodes.run("one", route="proxy") as one, nodes.ghost("ghost", "GHOST") as ghost:
        client = (await one.seat()).client
        join = {"t": "join", "table": "GHOST"}
        number = await client.send(join)
        link = await ghost.link()
        await link.receive()
        refused = {"t": "error", "code": "rate_limited", "msg": "", "retryable": True, "close": False}
        await link.say({**refused, "re": number, "retry_after_ms": 1})
        assert (await client.until("error"))["retry_after_ms"] == 1
        nodes.change("UPDATE tables SET owner = 'one' WHERE code = 'GHOST'")
        # now this node's, whose lobby does not have it yet
        assert "on its way" in (await client.ask(join))["msg"]


async def test_owner_that_does_not_read_holds_up_nobody_else(nodes):
    """What one client may have asked for waits for it, and no more; whoever else is here goes on."""
    async with nodes.run("one", route="proxy") as one, nodes.ghost("ghost", "GHOST") as ghost:
        client = (await one.seat(seed=1)).client
        await client.send({"t": "join", "table": "GHOST"})
        await ghost.link()
        act = {"t": "act", "table": "GHOST", "match": bytes(32), "body": bytes(7_000), "sig": bytes(64)}
        for _ in range(MAX_OUTSTANDING - 1):
            await client.send(act)
        refused = await client.ask(act)
        assert (refused["code"], "64 requests" in refused["msg"]) == ("rate_limited", True)
        assert (await (await one.seat(seed=2)).client.ask({"t": "tables"}))["t"] == "ok"


SEEK = {"t": "seek", "variant": "truc-french", "seats": 2}


@pytest.mark.parametrize("route", ["moved", "proxy"])
async def test_seat_is_sought_on_another_node_if_nothing_here_suits(nodes, route):
    async with two(nodes, route) as (one, other):
        table = await (await one.seat(seed=1)).create("truc-french", seats=2)
        second = await other.seat(seed=2)
        await soon(lambda: is_listed(second.client, table))
        if route == "moved":
            assert (await moved(other, second, SEEK))["to"] == f"127.0.0.1:{one.port}"
            second.client = await one.connect()
            await second.login()
        answer = await second.client.ask(SEEK)
        assert (answer["t"], answer["table"], answer["seat"]) == ("ok", table, 1)
        assert (await second.client.ask({"t": "leave", "table": table}))["t"] == "ok"


async def test_seat_is_sought_elsewhere_only_if_it_suits_none_is_here_and_the_node_does_not_drain(nodes):
    async with two(nodes, "moved") as (one, other):
        host, here, seeking = await one.seat(seed=3), await other.seat(seed=1), await other.seat(seed=2)

        async def listed(code: str) -> None:
            await soon(lambda: is_listed(seeking.client, code))

        await listed(await host.create("truc-french", seats=2, options=BRIEF))
        own = await seeking.client.ask(SEEK)  # which finds no suitable one
        assert (own["t"], own["seat"]) == ("ok", 0)
        await seeking.client.ask({"t": "leave", "table": own["table"]})
        await listed(await host.create("truc-french", seats=2))
        table = await here.create("truc-french", seats=2)
        answer = await seeking.client.ask(SEEK)
        assert (answer["t"], answer["table"]) == ("ok", table)
        for seat in (seeking, here):
            await seat.client.ask({"t": "leave", "table": table})
        nodes.change("UPDATE nodes SET draining = true WHERE name = 'one'")
        await listed(await host.create("truc-catalan", seats=2))  # which is heard with that
        assert (await seeking.client.ask(SEEK))["t"] == "ok"  # at a table of its own


async def test_links_are_counted_where_they_are_opened(nodes, monkeypatch):
    monkeypatch.setattr(page, "FRESH_S", 0.0)
    names = ("truc_links", *(f'truc_links_lost_total{{reason="{why}"}}' for why in LINK_LOSSES))

    async def counted(server) -> list[float]:
        told = await figures(server)
        return [told[name] for name in names]

    async with nodes.run("one", telling(), route="proxy") as one:
        client = (await one.seat()).client
        async with nodes.ghost("ghost", "GHOST") as ghost:
            ghost.answers = DoorAnswer(code="server_full", msg="full", retry_after_ms=5)
            join = {"t": "join", "table": "GHOST"}
            assert (await client.ask(join))["retry_after_ms"] == 5
            ghost.answers = DoorAnswer()
            await client.send(join)
            await ghost.link()
            while await counted(one) != [1, 0, 1, 0]:
                await trio.lowlevel.checkpoint()
        await client.closed()
        await (await one.seat()).client.ask(join)
        assert await counted(one) == [0, 1, 1, 1]

"""What holds at every node of a cluster, wherever it was done: bans, members, tokens, ratings, being forgotten, limits."""

import pytest
import trio
from server.calls import BRIEF
from server.conftest import QUICK, changed, play_on
from server.test_access import log_in
from server.test_nodes_apart import FRENCH, SOON_S, is_online, soon
from server.visitors import guest, keyed, said, say

from truc_protocol.crypto import keys
from truc_server.lobby.members import issue_invite
from truc_server.storage import Sanction, SanctionKind
from truc_server.upkeep import sanction_watch

pytestmark = pytest.mark.slow
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


async def test_invite_makes_a_member_for_every_node_once(nodes):
    closed = changed(QUICK, access={"members": "invite"})
    async with nodes.run("one", closed) as one, nodes.run("two", closed) as two:
        code = issue_invite(one.store, uses=1, days=1)
        key, other = keys.generate_signing_key(), keys.generate_signing_key()
        assert (await log_in(one, key, invite=code))[1]["t"] == "welcome"
        assert (await log_in(two, key))[1]["t"] == "welcome"
        assert (await log_in(two, other, invite=code))[1]["code"] == "key_not_allowed"


async def test_match_at_one_node_is_rated_for_all_and_who_is_taken_off_is_off_everywhere(nodes):
    async with nodes.run("one") as one, nodes.run("two") as two:
        seats = await one.match(2, options=BRIEF)
        await play_on(seats)
        other = await guest(two)

        async def standings() -> list[dict]:
            return (await other.ask({"t": "leaderboard", **GAME}))["standings"]

        assert {standing["name"] for standing in await standings()} == {seat.name for seat in seats}
        two.store.unrate(keys.fingerprint(seats[0].key.public))
        assert [standing["name"] for standing in await standings()] == [seats[1].name]


async def test_guest_comes_back_by_their_token_at_another_node_and_is_forgotten_at_every_one(nodes):
    async with nodes.run("one") as one, nodes.run("two") as two:
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

    async def test_failed_logins_of_an_address_count_over_all_nodes(self, nodes):
        few = changed(QUICK, limits={"failed_logins_per_min": 3})
        async with nodes.run("one", few) as one, nodes.run("two", few) as two:
            other = await guest(two, "Bea")
            await known_at(await guest(one, "Cai"), "Bea")  # each has heard of the other
            await known_at(other, "Cai")
            for _ in range(2):
                assert (await (await one.connect()).login_token("t" * 24))["code"] == "bad_token"
            await guest(one, "Anna")
            await known_at(other, "Anna")
            answers = [(await (await two.connect()).login_token("t" * 24))["code"] for _ in range(2)]
            assert answers == ["bad_token", "rate_limited"]

    async def test_tables_opened_at_another_node_count_for_the_pace(self, nodes):
        slow = changed(QUICK, limits={"tables_per_min": 2, "tables_per_address": 9})
        async with nodes.run("one", slow) as one, nodes.run("two", slow) as two:
            key = keys.generate_signing_key()
            here, there = await keyed(one, "Anna", key), await keyed(two, "Anna", key)
            for _ in range(2):
                assert (await here.ask(FRENCH))["t"] == "ok"
            await guest(one, "Bea")
            await known_at(there, "Bea")
            assert (await there.ask(FRENCH))["code"] == "rate_limited"

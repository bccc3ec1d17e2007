"""Ignoring: whoever is ignored is heard no more, in chat, phrases and signs."""

import pytest
import trio
from server.conftest import only_cut, play_on, running
from server.gates import Gate
from server.visitors import FRENCH, follower, guest, hang_up, heard, keyed, said, say, table_of

from truc_protocol.crypto import keys
from truc_server.requests.lobby_requests import IGNORED


async def ignore(client, other, **fields) -> dict:
    return await client.ask({"t": "ignore", "player": other.welcome["player"], **fields})


async def test_who_is_ignored_is_not_heard_in_the_lobby_until_they_are_not(server):
    first, second, third = [await follower(server) for _ in range(3)]
    await ignore(first, second)
    await say(second, "hello")
    assert [await said(client) for client in (first, second, third)] == [[], ["hello"], ["hello"]]
    await ignore(first, second, off=True)
    await say(second, "hello again")
    assert await said(first) == ["hello again"]


async def test_who_is_ignored_is_not_heard_at_a_table_nor_in_what_was_said_before(server):
    first, second = await guest(server), await guest(server)
    code = await table_of(first)
    await say(first, "hello", code)
    await ignore(second, first)
    await second.ask({"t": "join", "table": code})
    await say(first, "hello again", code)
    assert await said(second) == []


async def test_phrases_of_who_is_ignored_are_not_heard(server):
    seats = await server.seats(2, "truco-argentino")
    await ignore(seats[0].client, seats[1].client)
    reply = await seats[1].client.ask({"t": "say", "table": seats[1].table, "phrase": "come"})
    assert reply["t"] == "ok"
    assert [len(await heard(seat.client, "said")) for seat in seats] == [0, 1]


async def test_signs_of_who_is_ignored_are_not_seen(server):
    seats = await server.match(4, "truc-catalan", guests=(0, 1, 2, 3), boxed=False)
    for seat in seats:
        seat.chooses = only_cut
    await play_on(seats, lambda seat: bool(seat.cards))
    await ignore(seats[0].client, seats[2].client)
    where = {"table": seats[2].table, "match": seats[2].ledger.setup.mid, "at": seats[2].next}
    word = seats[2].ledger.setup.terms.variant.signals.vocabulary[0]
    assert (await seats[2].client.ask({"t": "sign", **where, "word": word}))["t"] == "ok"
    assert await heard(seats[0].client, "sign") == []


async def test_ignoring_holds_on_every_connection_of_the_player(server):
    key = keys.generate_signing_key()
    first, second = await keyed(server, "kay", key), await keyed(server, "kay", key)
    other = await follower(server)
    await second.ask({"t": "lobby"})
    await ignore(first, other)
    await say(other, "hello")
    assert await said(second) == []


async def test_key_ignores_on_after_a_restart(path):
    key, noisy = keys.generate_signing_key(), keys.generate_signing_key()
    async with running(path) as server:
        first, second = await keyed(server, "kay", key), await keyed(server, "noisy", noisy)
        await ignore(first, second)
    async with running(path) as server:
        first, second = await keyed(server, "kay", key), await keyed(server, "noisy", noisy)
        for client in (first, second):
            await client.ask({"t": "lobby"})
        await say(second, "hello")
        assert await said(first) == []


@pytest.mark.parametrize("forgets", [False, True])
async def test_what_a_connection_that_leaves_says_of_whom_to_ignore_holds_for_one_that_logs_in_meanwhile(
    server, monkeypatch, forgets
):
    key, gate = keys.generate_signing_key(), Gate()
    first = await keyed(server, "kay", key)
    other, third = await follower(server), await follower(server)
    await ignore(first, third)
    monkeypatch.setattr(server.store, "ignored", gate.behind(server.store.ignored))
    second = await server.connect()
    async with trio.open_nursery() as tasks:
        tasks.start_soon(second.login_key, key, "kay")
        await gate.reached()
        await (first.ask({"t": "forget"}) if forgets else ignore(first, other))
        await hang_up(first)
        gate.open()
    await second.ask({"t": "lobby"})
    await say(other, "hello")
    await say(third, "hi")
    assert await said(second) == (["hello", "hi"] if forgets else [])


async def test_guest_who_comes_back_ignores_on(server):
    first, other = await guest(server), await follower(server)
    await first.ask(FRENCH)
    await ignore(first, other)
    await first.stream.aclose()
    again = await server.connect()
    await again.login_token(first.welcome["token"])
    await again.ask({"t": "lobby"})
    await say(other, "hello")
    assert await said(again) == []


async def test_nobody_ignores_themselves_or_a_tag_that_not_every_database_can_store(server):
    client = await guest(server)
    for reply in (await ignore(client, client), await client.ask({"t": "ignore", "player": "guest\0"})):
        assert (reply["code"], reply["field"]) == ("bad_message", "player")


async def test_nobody_ignores_more_than_a_hundred_but_may_repeat_one_of_them(server):
    client = await keyed(server)
    replies = [await client.ask({"t": "ignore", "player": f"guest-{i}"}) for i in range(IGNORED + 1)]
    assert [reply.get("code") for reply in replies] == [None] * IGNORED + ["bad_message"]
    assert (await client.ask({"t": "ignore", "player": "guest-7"}))["t"] == "ok"


async def test_tag_that_nobody_has_can_be_ignored_and_heard_again(server):
    client = await guest(server)
    replies = [
        await client.ask({"t": "ignore", "player": "guest-X", "off": off}) for off in (True, False, True)
    ]
    assert [reply["t"] for reply in replies] == ["ok"] * 3

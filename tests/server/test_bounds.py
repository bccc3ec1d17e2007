"""What one player may have, cause or say: seats, lists of the tables, lines; and what is kept of them when they are gone."""

import pytest
from server.conftest import PATIENT, QUICK, changed, in_hand, living, running, under
from server.substituting import standing_by, step_in, voided
from server.visitors import follower, guest, heard, keyed, say

from truc_protocol.crypto.keys import generate_signing_key
from truc_protocol.messages import SeatHeld, Welcome
from truc_protocol.wire.encoding import SERVER_LIMIT, encode
from truc_server.lobby import lobby
from truc_server.lobby.lobby import Lobby
from truc_server.net.peer import Peer, TooSoonError
from truc_server.net.usage_limits import CHAT, RecentTalk
from truc_server.settings.abilities import CHAT_LINES, CHAT_SECONDS, CHAT_TOTAL, LISTS, LISTS_SECONDS
from truc_server.settings.settings import MAX_SEATS
from truc_server.table_data.codes import PRIVATE_CODE

FRENCH = {"t": "create", "variant": "truc-french", "options": {"guests": 2}}
FEW = changed(QUICK, limits={"seats_per_player": 2})


async def make(client) -> str:
    """Make a table and return its code."""
    return (await client.ask(FRENCH))["table"]


async def full(server):
    """Return a player who has as many seats as one may have."""
    client = await keyed(server)
    for _ in range(2):
        await make(client)
    return client


@under(FEW)
class TestSeats:
    async def test_player_with_as_many_seats_gets_no_other(self, server):
        code = await make(await keyed(server))
        client = await full(server)
        for request in ({"t": "join", "table": code}, FRENCH, {"t": "seek", "variant": "truc-catalan"}):
            assert (await client.ask(request))["code"] == "too_many_tables"
        assert len((await client.ask({"t": "tables"}))["tables"]) == 3

    async def test_own_seat_is_not_one_more_and_one_that_is_left_counts_no_more(self, server):
        client = await full(server)
        code = (await client.ask({"t": "tables"}))["tables"][0]["table"]
        assert (await client.ask({"t": "join", "table": code}))["t"] == "ok"
        await client.ask({"t": "leave", "table": code})
        assert (await client.ask(FRENCH))["t"] == "ok"

    async def test_seats_count_on_after_a_restart(self, path):
        async with running(path, FEW) as server:
            client = await guest(server)
            for _ in range(2):
                await make(client)
        async with running(path, FEW) as server:
            again = await server.connect()
            await again.login_token(client.welcome["token"])
            assert (await again.ask(FRENCH))["code"] == "too_many_tables"


@under(PATIENT, limits={"seats_per_player": 1})
async def test_player_with_as_many_seats_does_not_stand_by_nor_step_in(server, mock_clock):
    seats = await voided(server, mock_clock)
    client = await keyed(server)
    await make(client)
    reply = await client.ask({"t": "join", "table": seats[0].table})
    assert reply["code"] == "too_many_tables"
    newcomer = await standing_by(server, seats)
    await make(newcomer.client)
    assert (await step_in(newcomer))["code"] == "too_many_tables"


def test_welcome_with_as_many_seats_as_can_be_set_fits_its_frame():
    held = SeatHeld(table="W" * PRIVATE_CODE, match=b"m" * 32, seat=5)
    welcome = Welcome(
        re=2**32 - 1, name="n" * 64, player="guest-" + "T" * 20, token="t" * 64, seats=(held,) * MAX_SEATS
    )
    assert len(encode(welcome)) < SERVER_LIMIT * 3 // 4


async def follow_again(client) -> dict:
    """Follow the lobby, which was not followed or is followed no longer."""
    await client.ask({"t": "lobby", "off": True})
    return await client.ask({"t": "lobby"})


class TestLists:
    async def test_who_asks_for_every_table_again_and_again_is_refused_for_the_time_told(
        self, server, mock_clock
    ):
        client = await keyed(server)
        await make(await guest(server))
        replies = [await follow_again(client) for _ in range(LISTS + 1)]
        assert [reply.get("code") for reply in replies] == [None] * LISTS + ["rate_limited"]
        assert len(await heard(client, "table")) == LISTS
        mock_clock.jump(replies[-1]["retry_after_ms"] / 1000)
        assert (await follow_again(client))["t"] == "ok"

    async def test_another_connection_of_the_player_does_not_help(self, server):
        client = await keyed(server, "Kay", key := generate_signing_key())
        for _ in range(LISTS):
            await follow_again(client)
        reply = await follow_again(await keyed(server, "Kay", key))
        assert (reply["code"], reply["retry_after_ms"] <= LISTS_SECONDS * 1000) == ("rate_limited", True)

    async def test_who_follows_already_pays_nothing(self, server):
        client = await keyed(server)
        assert [(await client.ask({"t": "lobby"}))["t"] for _ in range(LISTS + 2)] == ["ok"] * (LISTS + 2)


async def test_nothing_is_kept_of_who_has_made_tables_that_are_gone(path, monkeypatch):
    lobbies = living(monkeypatch, Lobby)
    async with running(path) as server:
        for _ in range(3):
            client = await guest(server)
            await client.ask({"t": "leave", "table": await make(client)})
        assert [len(each.made_tables) for each in lobbies] == [0]


async def test_connection_keeps_few_codes_of_tables_that_are_gone(server, monkeypatch):
    monkeypatch.setattr(lobby, "_MANY", 4)
    peers = living(monkeypatch, Peer)
    client = await guest(server)
    for _ in range(9):
        await client.ask({"t": "leave", "table": await make(client)})
    assert [len(peer.tables) < 6 for peer in peers] == [True]


async def test_connection_that_has_followed_many_tables_is_still_missed_where_it_sits(server, monkeypatch):
    monkeypatch.setattr(lobby, "_MANY", 4)
    seats = await in_hand(server)
    for _ in range(6):
        await seats[0].client.ask({"t": "leave", "table": await make(seats[0].client)})
    await seats[0].client.stream.aclose()
    state = await seats[1].client.until("table")
    while state["seats"][0].get("online"):
        state = await seats[1].client.until("table")
    assert state["seats"][0]["kind"] == "key"


NOW = 1_000.0


def say_so(floods: RecentTalk, player: bytes, characters: int, now: float) -> None:
    floods.check(player, characters, now)
    floods.note(player, characters, now)


def filled(lines=CHAT_LINES, characters=1, step=0.0) -> RecentTalk:
    """Return what is known when a player has just said so many lines."""
    floods = RecentTalk(CHAT)
    for i in range(lines):
        say_so(floods, b"a", characters, NOW + i * step)
    return floods


def wait_ms(floods: RecentTalk, characters: int, now: float) -> int:
    with pytest.raises(TooSoonError) as refused:
        say_so(floods, b"a", characters, now)
    return refused.value.refusal(1).retry_after_ms


def test_one_line_more_than_allowed_waits_for_the_first_to_count_no_more():
    assert wait_ms(filled(step=0.5), 1, NOW + 5) == (CHAT_SECONDS - 5) * 1000 + 1
    floods = filled(step=0.5)
    say_so(floods, b"a", 1, NOW + CHAT_SECONDS)
    assert len(floods) == 1


def test_lines_of_long_ago_leave_room():
    floods = filled(step=0.5)
    say_so(floods, b"a", CHAT_TOTAL, NOW + 3 * CHAT_SECONDS)
    assert len(floods) == 1


def test_long_line_waits_for_as_many_as_make_room_for_it():
    floods = filled(lines=5, characters=CHAT_TOTAL // 5, step=1)
    assert wait_ms(floods, 2 * CHAT_TOTAL // 5, NOW + 5) == (CHAT_SECONDS - 4) * 1000 + 1


def test_what_is_refused_does_not_count():
    floods = filled()
    for _ in range(3):
        wait_ms(floods, 1, NOW + 1)
    say_so(floods, b"a", 1, NOW + CHAT_SECONDS)
    assert len(floods) == 1


def test_players_are_counted_apart_and_nothing_is_kept_of_who_has_been_silent_for_longer():
    floods = filled()
    say_so(floods, b"b", 1, NOW + 9)
    say_so(floods, b"c", 1, NOW + CHAT_SECONDS)
    assert len(floods) == 2


def test_nothing_is_kept_of_who_is_silent_while_another_speaks_again_and_again():
    floods = filled(lines=1)
    say_so(floods, b"b", 1, NOW + 1)
    say_so(floods, b"a", 1, NOW + 2)
    say_so(floods, b"a", 1, NOW + CHAT_SECONDS + 1)
    assert len(floods) == 1


class TestPlayersOfOneNetwork:
    """A guest is somebody new with every login, and so is whoever makes a new key."""

    async def test_players_share_what_one_network_may_say(self, server, mock_clock):
        clients = [await follower(server, f"Gus{i}") for i in range(6)]
        replies = [await say(client, "hello") for client in clients for _ in range(CHAT_LINES)]
        assert [reply.get("code") for reply in replies] == [None] * 5 * CHAT_LINES + [
            "rate_limited"
        ] * CHAT_LINES
        client = await keyed(server)
        await client.ask({"t": "lobby"})
        assert (await say(client, "hello"))["code"] == "rate_limited"

    async def test_new_login_does_not_begin_anew_for_ever(self, server, mock_clock):
        said = 0
        for _ in range(8):
            client = await follower(server)
            said += [(await say(client, "hello"))["t"] for _ in range(CHAT_LINES)].count("ok")
            await client.stream.aclose()
        assert said == 5 * CHAT_LINES

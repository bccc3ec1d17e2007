"""What players of one node see and feel of the others: tables, players, chat, names, seats, limits, and what is imposed."""

from collections.abc import Awaitable, Callable
from contextlib import closing

import pytest
import trio
from server.admins import Host, host_says
from server.calls import awake, called
from server.conftest import QUICK, changed, play_on, under
from server.rawclient import RawClient
from server.substituting import TERMS, hand_called
from server.test_calling import BOTS, bot
from server.visitors import follower, guest, heard, keyed, said, say

from truc_protocol.crypto import keys
from truc_protocol.messages import TableState
from truc_protocol.setup import Opts
from truc_protocol.wire.encoding import encode
from truc_server.cluster import bulletin_exchange
from truc_server.lobby.names import LentNames
from truc_server.lobby.other_nodes import MOST_LINES, OtherPlayers, UntoldChanges
from truc_server.net.peer import LoggedInPlayer
from truc_server.requests.login import default_name
from truc_server.settings.in_force import Control
from truc_server.storage import Lease, NodePlace, PlayerKind, StoreError
from truc_server.storage.node_news import Bulletin, LineKind, LineNews, PlayerNews, TableNews
from truc_server.storage.sql import Store, open_store
from truc_server.upkeep import own_bots
from truc_server.upkeep.own_bots import OwnBots

pytestmark = pytest.mark.slow
FRENCH = {"t": "create", "variant": "truc-french"}
SOON_S = 10
SHOWN = TableState(
    table="GHOST",
    variant="truc-french",
    rules=bytes(32),
    seats=(),
    n=2,
    state="open",
    private=False,
    options={},
    opts=tuple(Opts()),
    policy="hand",
)


async def soon(read: Callable[[], Awaitable[object]], wanted: object = True) -> None:
    """Wait until what is read is as wanted, of which other nodes have yet to hear."""
    with trio.fail_after(SOON_S):
        while True:
            if await read() == wanted:
                return
            await trio.sleep(0.05)


async def listed(client: RawClient) -> dict[str, dict]:
    return {table["table"]: table for table in (await client.ask({"t": "tables"}))["tables"]}


async def is_listed(client: RawClient, code: str) -> bool:
    return code in await listed(client)


async def is_online(client: RawClient, name: str) -> bool:
    return name in await online(client)


async def online(client: RawClient) -> dict[str, dict]:
    return {player["name"]: player for player in (await client.ask({"t": "players"}))["players"]}


async def told(client: RawClient, tag: str, field: str, **fields: object) -> list[object]:
    """Return one field of every message with a tag and these fields that has come."""
    return [message[field] for message in await heard(client, tag, **fields)]


async def state(client: RawClient) -> tuple[int, int, int]:
    newest = (await heard(client, "lobby"))[-1]
    return newest["online"], newest["tables"], newest["playing"]


class TestTables:
    async def test_are_listed_at_every_node_as_everybody_may_see_them_and_no_longer_when_gone(self, both):
        one, two = both
        host, other = await guest(one), await guest(two)
        code = (await host.ask(FRENCH))["table"]
        await soon(lambda: is_listed(other, code))
        here, there = (await listed(host))[code], (await listed(other))[code]
        for times in ("age_ms", "expires_ms"):
            assert abs(here.pop(times) - there.pop(times)) < SOON_S * 1_000
        assert here == there
        await host.ask({"t": "leave", "table": code})
        await soon(lambda: is_listed(other, code), wanted=False)

    async def test_lobby_is_told_of_changes_at_other_nodes_and_counts_all(self, both):
        one, two = both
        host, follows = await guest(one, "Anna"), await follower(two, "Bea")
        code = (await host.ask(FRENCH))["table"]
        await host.ask({**FRENCH, "private": True})

        async def is_told() -> bool:
            return bool(await heard(follows, "table", table=code)) and await state(follows) == (2, 2, 0)

        await soon(is_told)
        assert set(await told(follows, "table", "table")) == {code}
        await host.ask({"t": "ready", "table": code})

        async def is_told_of_ready() -> bool:
            return (await heard(follows, "table", table=code))[-1]["seats"][0].get("ready", False)

        await soon(is_told_of_ready)
        await host.ask({"t": "leave", "table": code})
        await soon(lambda: told(follows, "closed", "reason", table=code), ["empty"])

    async def test_match_at_another_node_counts_as_played(self, both):
        one, two = both
        follows = await follower(two)
        seats = await one.match(2)
        await play_on(seats, lambda seat: seat.auditor is not None)
        await soon(lambda: state(follows), (3, 1, 1))

    @under(limits={"seats_per_player": 2, "tables_per_player": 9})
    async def test_seats_at_another_node_are_told_at_login_and_count_for_the_limit(self, both):
        one, two = both
        key = keys.generate_signing_key()
        host = await keyed(one, "Anna", key)
        # the one that is listed comes last: once the other node has heard of it, it has heard of both
        codes = {
            (await host.ask({**FRENCH, "private": True}))["table"],
            (await host.ask(FRENCH))["table"],
        }

        async def is_known() -> bool:
            client = await two.connect()
            return {held["table"] for held in (await client.login_key(key, "Anna")).get("seats", ())} == codes

        await soon(is_known)
        again = await keyed(two, "Anna", key)

        async def is_counted() -> bool:
            return bool(await listed(again))

        await soon(is_counted)
        refused = await again.ask(FRENCH)
        assert (refused["t"], refused["code"]) == ("error", "too_many_tables")

    @under(limits={"seats_per_player": 9, "tables_per_player": 2, "tables_per_address": 3})
    async def test_tables_made_at_another_node_count_for_player_and_address(self, both):
        one, two = both
        key = keys.generate_signing_key()
        host = await keyed(one, "Anna", key)
        codes = [(await host.ask(FRENCH))["table"] for _ in range(2)]
        again, other = await keyed(two, "Anna", key), await keyed(two, "Bea")
        await soon(lambda: is_listed(again, codes[-1]))
        assert "2 open tables of one player" in (await again.ask(FRENCH))["msg"]
        assert (await other.ask(FRENCH))["t"] == "ok"
        assert "3 open tables that were made from one address" in (await other.ask(FRENCH))["msg"]

    async def test_that_are_told_of_and_stored_no_more_are_told_to_be_gone(self, nodes, monkeypatch):
        monkeypatch.setattr(bulletin_exchange, "SWEEP_EVERY_S", 0.1)
        async with nodes.ghost("ghost", "GHOST"), nodes.run("two") as two:
            follows = await follower(two)
            with closing(open_store(nodes.url)) as store:
                ghost = Lease("ghost", *nodes.rows("SELECT claimed FROM nodes WHERE name = 'ghost'")[0])
                notice = encode(SHOWN)
                store.tell(ghost, Bulletin((TableNews("GHOST", notice=notice),)))
                await soon(lambda: is_listed(follows, "GHOST"))
                nodes.change("DELETE FROM tables")

            async def is_told_on() -> bool:
                return nodes.rows("SELECT node, reason FROM board") == [("two", "server")]

            await soon(lambda: told(follows, "closed", "reason"), ["server"])
            await soon(is_told_on)


class TestPlayers:
    async def test_are_listed_everywhere_with_their_public_tables_and_no_name_twice_until_they_leave(
        self, both
    ):
        one, two = both
        host, other = await guest(one, "Anna"), await guest(two, "Bea")
        code = (await host.ask(FRENCH))["table"]

        async def are_listed() -> bool:
            found = await online(other)
            return found.keys() == {"Anna", "Bea"} and found["Anna"].get("tables") == [code]

        await soon(are_listed)
        assert (await online(other))["Anna"] == (await online(host))["Anna"]
        same = await two.connect()
        assert (await same.login_guest("anna"))["name"] == "anna 2"
        await host.stream.aclose()
        await soon(lambda: is_online(other, "Anna"), wanted=False)

    async def test_player_with_two_nodes_keeps_one_name_and_counts_once(self, both):
        one, two = both
        key = keys.generate_signing_key()
        first = await follower(one, "Flo")
        await keyed(one, "Anna", key)
        await keyed(two, "Anna", key)

        async def is_counted() -> bool:
            return await state(first) == (2, 0, 0) and (await online(first)).keys() == {"Anna", "Flo"}

        await soon(is_counted)

    async def test_name_of_who_was_forgotten_and_has_left_is_free_at_nodes_where_they_never_were(self, both):
        one, two = both
        key = keys.generate_signing_key()
        player, other = await keyed(one, "Kay", key), await guest(two, "Bea")
        name = default_name(key.public)
        await player.ask({"t": "forget"})
        await soon(lambda: is_online(other, name))
        await player.stream.aclose()
        await soon(lambda: is_online(other, name), wanted=False)
        assert (await (await two.connect()).login_guest(name))["name"] == name


class TestTalk:
    async def test_lobby_chat_reaches_followers_of_all_nodes_but_those_who_ignore_the_speaker(self, both):
        one, two = both
        speaks, hears, ignores = (
            await follower(one, "Anna"),
            await follower(two, "Bea"),
            await follower(two, "Cai"),
        )
        await soon(lambda: is_online(ignores, "Anna"))
        tag = (await online(ignores))["Anna"]["player"]
        await ignores.ask({"t": "ignore", "player": tag})
        await say(speaks, "bon dia")
        await soon(lambda: said(hears), ["bon dia"])
        assert await said(ignores) == []
        assert await said(speaks) == ["bon dia"]

    async def test_what_cannot_be_done_here_keeps_nothing_else_from_being_heard(self, both, monkeypatch):
        one, two = both
        monkeypatch.setattr(bulletin_exchange, "say_here", lambda *_: 1 / 0)
        speaks, hears = await follower(one, "Anna"), await follower(two, "Bea")
        with closing(open_store(f"sqlite:///{one.folder.root.parent / 'shared.db'}")) as store:
            ghost = store.join("ghost", NodePlace("", "", ""), lease_ms=SOON_S * 1_000)
            words, unknown = LineNews(1, LineKind.HOST, text="tea"), LineNews(2, "later", text="?")
            store.tell(ghost, Bulletin(lines=(words, unknown)))
            await say(speaks, "bon dia")
            await soon(lambda: said(hears), ["bon dia"])

    async def test_what_could_not_be_told_for_whatever_reason_is_told_later(self, both, monkeypatch):
        one, two = both
        tell, failed = one.store.tell, []

        def fail_once(lease, bulletin):
            if bulletin.lines and not failed:
                failed.append(bulletin)
                raise RuntimeError("can't start new thread")
            tell(lease, bulletin)

        speaks, hears = await follower(one, "Anna"), await follower(two, "Bea")
        monkeypatch.setattr(one.store, "tell", fail_once)
        await say(speaks, "bon dia")
        await soon(lambda: said(hears), ["bon dia"])
        assert failed

    async def test_table_that_cannot_be_described_keeps_nothing_else_from_being_told(self, both, monkeypatch):
        one, two = both
        speaks, hears = await follower(one, "Anna"), await follower(two, "Bea")
        put_back = trio.Event()

        def fail(*_):
            trio.from_thread.run_sync(put_back.set)
            raise StoreError("cannot reach the database")

        with monkeypatch.context() as broken:
            broken.setattr(one.store, "tell", fail)
            await speaks.ask(FRENCH)
            await say(speaks, "bon dia")
            with trio.fail_after(SOON_S):
                await put_back.wait()
            monkeypatch.setattr(bulletin_exchange, "table_news", lambda *_: 1 / 0)
        await soon(lambda: said(hears), ["bon dia"])

    async def test_whom_a_player_ignores_is_known_at_all_nodes(self, both):
        one, two = both
        key = keys.generate_signing_key()
        here, there = await keyed(one, "Anna", key), await keyed(two, "Anna", key)
        await there.ask({"t": "lobby"})
        loud, quiet = await follower(two, "Bea"), await follower(two, "Cai")
        tag = (await online(loud))["Bea"]["player"]
        await here.ask({"t": "lobby"})
        await here.ask({"t": "ignore", "player": tag})
        await say(here, "done")  # told behind it
        await soon(lambda: said(there), ["done"])
        await say(loud, "eh")
        await say(quiet, "shh")
        assert await said(there) == ["done", "shh"]
        again = await keyed(two, "Anna", key)  # when nothing was known of them at the start
        await again.ask({"t": "lobby"})
        await say(loud, "hm")
        await say(quiet, "mm")
        assert await said(again) == ["mm"]

    async def test_words_of_a_moderator_reach_everybody_and_a_kick_reaches_who_is_elsewhere(self, nodes):
        key = keys.generate_signing_key()
        settings = changed(QUICK, access={"moderators": (keys.fingerprint(key.public),)})
        async with nodes.run("one", settings) as one, nodes.run("two", settings) as two:
            moderator, other = await keyed(one, "Mo", key), await guest(two, "Bea")
            assert (await moderator.ask({"t": "moderate", "do": "say", "text": "tea"}))["t"] == "ok"
            await soon(lambda: told(other, "host_says", "text"), ["tea"])
            await soon(lambda: is_online(moderator, "Bea"))
            kicked = await moderator.ask({"t": "moderate", "do": "kick", "player": "Bea"})
            assert kicked["t"] == "ok"
            with trio.fail_after(SOON_S):
                assert (await other.until("bye"))["code"] == "kicked"


class TestBots:
    async def test_bot_at_another_node_is_called_to_a_free_seat_and_comes(self, nodes):
        bots = changed(QUICK, tables={"company_s": 1}, access={"bots": BOTS})
        async with (
            nodes.run("one", bots, inner=nodes.inner("one"), route="proxy") as one,
            nodes.run("two", bots, inner=nodes.inner("two"), route="proxy") as two,
        ):
            await nodes.known("one", "two")
            house_bot = await bot(two)
            waiting = await one.seat(seed=5)
            table = await waiting.create("truc-catalan", seats=2)
            assert (await waiting.ready())["t"] == "ok"
            wanted = await house_bot.client.until("players_wanted")
            assert (wanted["table"], wanted["seat"], wanted["variant"]) == (table, 1, "truc-catalan")
            assert (await house_bot.client.ask_patiently({"t": "join", "table": table}))["seat"] == 1

    async def test_bot_that_is_one_too_many_keeps_its_seat_at_another_node_to_its_end(
        self, nodes, monkeypatch
    ):
        key, looks, ended = keys.generate_signing_key(), [], trio.Event()
        adjust = OwnBots._adjust

        async def keep_running(bots, number):
            """Stand for the process of a bot."""
            bots._players[number] = LoggedInPlayer(PlayerKind.KEY, key.public, "bot")
            with bots._running[number]:
                await trio.sleep_forever()
            ended.set()

        monkeypatch.setattr(OwnBots, "_keep_running", keep_running)
        monkeypatch.setattr(OwnBots, "_adjust", lambda bots, nursery: looks.append(adjust(bots, nursery)))
        monkeypatch.setattr(own_bots, "_LOOK_S", 0.01)
        host = Host(changed(QUICK, tables={"bots": 1}))
        control = Control(host.drain, host.reread, host.heard_of_end.set)
        async with nodes.run("one", host.settings, control=control) as one, nodes.run("two") as two:
            house_bot, other = await keyed(two, "bot", key), await guest(one, "Bea")
            table = (await house_bot.ask(FRENCH))["table"]
            await soon(lambda: is_listed(other, table))
            host.settings = QUICK
            assert (await host_says(one.folder, command="reload"))["ok"]
            seen = len(looks)

            async def is_looked_at() -> bool:
                return len(looks) > seen + 2

            await soon(is_looked_at)
            assert not ended.is_set()
            await house_bot.ask({"t": "leave", "table": table})
            with trio.fail_after(SOON_S):
                await ended.wait()

    @under(access={"bots": BOTS})
    async def test_bot_at_another_node_is_called_to_a_seat_that_becomes_vacant(self, both):
        one, two = both
        house_bot = await bot(two)
        seats = await called(one, options={**TERMS, "release_ms": 1_000})
        await awake(*seats)
        seats[1].is_idle = True
        await play_on(seats, lambda seat: hand_called(seat, 1))
        async with trio.open_nursery() as playing:
            playing.start_soon(seats[0].play)
            wanted = await house_bot.client.until("bot_wanted")
            playing.cancel_scope.cancel()
        assert (wanted["table"], wanted["seat"]) == (seats[0].table, 1)
        assert wanted["match"] == seats[0].ledger.setup.mid


@pytest.mark.parametrize("work", ["news_of_others", "sweep_bulletins", "listener"])
async def test_fault_of_what_nodes_tell_each_other_ends_no_node(nodes, monkeypatch, work):
    for pause in ("HEAR_EVERY_S", "SWEEP_EVERY_S", "RETRY_S"):
        monkeypatch.setattr(bulletin_exchange, pause, 0.05)
    failed, twice = [], trio.Event()

    def fail(*_):
        failed.append(work)
        if len(failed) > 1:
            trio.from_thread.run_sync(twice.set)
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(Store, work, fail)
    async with nodes.run("one") as one:
        with trio.fail_after(SOON_S):
            await twice.wait()
        assert await guest(one)


def test_lines_of_players_keep_nobody_from_being_kicked_or_forgotten():
    untold = UntoldChanges(is_told=True)
    for _ in range(MOST_LINES + 1):
        untold.note_line(LineKind.CHAT, text="eh")
    behind = (LineKind.KICK, LineKind.FORGET, LineKind.HOST)
    for what in behind:
        untold.note_line(what)
    assert [line.what for line in untold.take().lines] == [*[LineKind.CHAT] * MOST_LINES, *behind]


def test_bots_that_another_node_has_started_are_known_wherever_they_are_connected():
    players = OtherPlayers(LentNames())
    key = keys.generate_signing_key().public
    tag = keys.fingerprint(key)
    started = PlayerNews(key, PlayerKind.KEY, "one-bot-1", is_house=True, is_here=False)
    players.hear("one", started)
    players.hear("two", started._replace(is_house=False, is_here=True))
    assert (tag in players, players.house_bots) == (True, {tag})
    players.forget_node("two")
    assert (tag in players, players.house_bots) == (False, {tag})
    players.hear("one", started._replace(is_house=False))
    assert players.house_bots == set()

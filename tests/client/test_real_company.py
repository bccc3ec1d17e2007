"""The company of players at a real server: seats found, chat, who is there, the past, invites, being forgotten."""

import shutil
import sys

import pytest
import trio
from client.playing import homes, play_bots
from client.serving import RealServer

from truc_client import (
    ChatSaid,
    MatchEnded,
    Player,
    RecordSeen,
    RefusedError,
    Resumed,
    SnapshotTaken,
    TableChanged,
    connect,
    open_home,
    parse_address,
    verify_file,
)
from truc_client.bots import play_match, simple_bot
from truc_protocol.audit import Result

pytestmark = pytest.mark.slow
FRENCH = "truc-french"


async def heard(stream, kind: type, *, many: int = 1) -> list:
    """Return the first happenings of a kind."""
    found = []
    with trio.fail_after(20):
        while len(found) < many:
            happening = await anext(stream)
            if isinstance(happening, kind):
                found.append(happening)
    return found


@pytest.fixture
async def two(real_server, tmp_path):
    """Return two strangers, connected."""
    first, second = homes(tmp_path, False, False)
    async with connect(real_server.url, first) as north, connect(real_server.url, second) as east:
        yield north, east


async def test_two_who_seek_the_same_find_each_other(two) -> None:
    north, east = two
    options = {"match": 1, "target": 5}
    first = await north.seek(FRENCH, options=options)
    second = await east.seek(FRENCH, options=options)
    assert (first.code, first.seat, second.seat) == (second.code, 0, 1)


async def test_chat_is_heard_by_seats_and_by_who_watches(two) -> None:
    north, east = two
    assert {"chat", "lobby", "seek", "snapshot", "history", "forget"} <= set(north.capabilities)
    table = await north.create(FRENCH, private=True)
    watching = await east.watch(table.code)
    await table.chat("good evening")
    (said,) = await heard(watching, ChatSaid)
    assert (said.player, said.text, said.seat) == (north.tag, "good evening", 0)


async def test_chat_of_before_is_heard_by_who_comes_later(two) -> None:
    north, east = two
    table = await north.create(FRENCH, private=True)
    await table.chat("anybody there?")
    (said,) = await heard(await east.join(table.code), ChatSaid)
    assert said.text == "anybody there?"
    assert said.ago_ms is not None


async def test_player_who_is_ignored_is_not_heard(two) -> None:
    north, east = two
    table = await north.create(FRENCH, private=True)
    joined = await east.join(table.code)
    await east.ignore(north.tag)
    await table.chat("can you hear me?")
    await joined.chat("silence")
    (said,) = await heard(joined, ChatSaid)
    assert said.text == "silence"


async def test_lobby_hears_what_is_said_and_shows_a_new_table(two) -> None:
    north, east = two
    lobby = await north.lobby()
    table = await east.create(FRENCH)
    shown = [each async for each in until_shown(lobby, table.code)]
    await (await east.lobby()).chat("a seat is free")
    (said,) = await heard(lobby, ChatSaid)
    assert (shown[-1].state.table, said.text) == (table.code, "a seat is free")


async def until_shown(lobby, code: str):
    with trio.fail_after(20):
        async for happening in lobby:
            if isinstance(happening, TableChanged) and happening.state.table == code:
                yield happening
                return


async def test_players_lists_both_with_their_tags(two) -> None:
    north, east = two
    listed = {player.player: player.name for player in await north.players()}
    assert {north.tag: north.name, east.tag: east.name}.items() <= listed.items()


async def test_transcript_of_a_match_may_be_had_by_who_has_played_it_and_by_no_stranger(
    real_server, tmp_path
) -> None:
    players = homes(tmp_path, False, False)
    (verdict, _) = await play_bots(real_server.url, players, FRENCH, match=1)
    async with connect(real_server.url, players[0]) as connection:
        path = await connection.transcript(verdict.match)
    assert verify_file(path).result is Result.PROVEN
    async with connect(real_server.url, Player(open_home(tmp_path / "x"), "x")) as connection:
        with pytest.raises(RefusedError, match="private_table"):
            await connection.transcript(verdict.match)


async def test_match_watched_from_the_middle_at_a_real_server_is_proven(two, real_server, tmp_path) -> None:
    north, east = two
    table = await north.create(FRENCH, options={"match": 1}, private=True)
    joined = await east.join(table.code)
    seen: list = []

    async def look_on() -> None:
        async with connect(real_server.url, Player(open_home(tmp_path / "x"), "x")) as connection:
            async for happening in await connection.watch(table.code):
                seen.append(happening)
                if isinstance(happening, MatchEnded):
                    return

    async def play(mine, seed: int, nursery: trio.Nursery) -> None:
        def show(happening) -> None:
            if seed == 1 and isinstance(happening, RecordSeen) and happening.k == 12:
                nursery.start_soon(look_on)

        await mine.ready()
        await play_match(mine, simple_bot(seed), show)

    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(play, table, 1, nursery)
            nursery.start_soon(play, joined, 2, nursery)
    kinds = [type(each) for each in seen]
    assert kinds.index(SnapshotTaken) < kinds.index(Resumed) < kinds.index(RecordSeen)
    assert seen[-1].verdict.result is Result.PROVEN


async def test_guest_who_is_forgotten_comes_back_as_somebody_else(real_server, tmp_path) -> None:
    (guest,) = homes(tmp_path, True)
    async with connect(real_server.url, guest) as connection:
        before = connection.tag
        await connection.forget()
    async with connect(real_server.url, guest) as connection:
        assert connection.tag != before


async def test_invite_makes_a_key_a_member(tmp_path) -> None:
    server = RealServer(tmp_path / "server", {"TRUC_ACCESS_MEMBERS": "invite"}).start()
    try:
        (player,) = homes(tmp_path, False)
        with pytest.raises(RefusedError, match="key_not_allowed"):
            async with connect(server.url, player):
                pass
        command = [sys.executable, "-m", "truc_server", "invite", "--data", str(server.data)]
        environment = {**server.environment, "PATH": ""}
        printed = await trio.run_process(command, env=environment, capture_stdout=True)
        invite = parse_address(printed.stdout.decode().split()[-1]).invite
        async with connect(server.address._replace(invite=invite), player):
            pass
        async with connect(server.url, player) as connection:
            assert connection.name == "player 0"
    finally:
        server.stop()


async def test_player_is_the_same_at_a_server_that_has_moved(tmp_path) -> None:
    old = RealServer(tmp_path / "old").start()
    (player,) = homes(tmp_path, False)
    async with connect(old.url, player) as connection:
        before = connection.tag
    old.stop()
    shutil.copytree(old.data, tmp_path / "new")
    new = RealServer(tmp_path / "new").start()
    old.environment["TRUC_ACCESS_MOVED_TO"] = new.url
    old.start()
    try:
        async with connect(old.url, player) as connection:
            assert (connection.tag, connection.address.port) == (before, new.port)
    finally:
        old.stop()
        new.stop()

"""The company of players at a real server: seats found, chat, who is there, the past, invites, being forgotten."""

import shutil
import sys

import pytest
import trio
from client.playing import homes
from client.serving import RealServer

from truc_client import (
    MatchEnded,
    Player,
    RecordSeen,
    RefusedError,
    Resumed,
    SnapshotTaken,
    connect,
    open_home,
    parse_address,
)
from truc_client.bots import play_match, simple_bot
from truc_protocol.audit import Result

pytestmark = pytest.mark.slow
FRENCH = "truc-french"


@pytest.fixture
async def two(real_server, tmp_path):
    """Return two strangers, connected."""
    first, second = homes(tmp_path, False, False)
    async with connect(real_server.url, first) as north, connect(real_server.url, second) as east:
        yield north, east


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

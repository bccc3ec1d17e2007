"""Chains that end and players that go, over a real server and in processes of their own."""

from pathlib import Path

import pytest
import trio
from client.playing import is_vacant, left_by_one, play_on
from client.running import Process
from client.serving import RealServer

from truc_client import Player, connect, open_home

pytestmark = pytest.mark.slow

SHORT = {"TRUC_MATCH_LINKS": "3"}


@pytest.fixture(scope="module")
def short_chains(tmp_path_factory):
    """Return a server whose chains serve three deals, and where no test but those of this file leaves a seat vacant."""
    with RealServer(tmp_path_factory.mktemp("server"), SHORT) as server:
        yield server


def test_two_bots_play_over_many_chains_to_a_proven_end(short_chains, tmp_path) -> None:
    options = ("--create", "truc-french", "--private", "--option", "match=5")
    first = Process(tmp_path / "home", "bot", short_chains.url, *options)
    second = Process(tmp_path / "home", "bot", short_chains.url, "--table", first.code())
    results = [bot.finish() for bot in (first, second)]
    assert [(told.splitlines()[-1].split(",")[0], status) for told, _, status in results] == [
        ("proven", 0)
    ] * 2
    transcript = Path(results[0][0].split("; ")[-1].strip())
    assert transcript.read_bytes().count(b"truc/1/rekey") > 3


@pytest.fixture
def north(tmp_path) -> Player:
    return Player(open_home(tmp_path / "north"), "north")


@pytest.fixture
def east(tmp_path) -> Player:
    return Player(open_home(tmp_path / "east"), "east")


# Players that go

GONE_SOON = {
    "gone": 1,
    "gone_after": 1,
    "decision_ms": 2_000,
    "release_ms": 60_000,
    "bank_ms": 0,
    "match": 1,
    "target": 6,
}


async def watch_until_vacant(url: str, code: str, folder: Path) -> None:
    async with connect(url, Player(open_home(folder), "watcher")) as connection:
        await play_on(await connection.watch(code), until=is_vacant)


async def test_script_steps_in_by_typing_yes_and_not_by_typing_no(real_server, north, east, tmp_path):
    own_name = ("--name", "successor")  # which nobody has had at this server
    with trio.fail_after(100):
        async with left_by_one(real_server.url, east, north, **GONE_SOON) as (code, _):
            await watch_until_vacant(real_server.url, code, tmp_path / "watcher")
            process = Process(tmp_path / "away", "play", real_server.url, "--table", code)
            told, _, status = await trio.to_thread.run_sync(process.finish, "no\n")
            assert (status, "[y/N]" in told, "PROVEN" in told) == (0, True, False)
            await watch_until_vacant(real_server.url, code, tmp_path / "w")
            process = Process(tmp_path / "south", "play", real_server.url, "--table", code, *own_name)
            told, complaint, status = await trio.to_thread.run_sync(
                process.finish, "yes\n" + "11\n1\n2\n3\n4\n5\n" * 100
            )
    assert (status, "Traceback" in complaint) == (0, False)
    assert " has gone from the match" in told
    assert "2 s a move" in told
    assert "successor plays there from now on" in told
    assert "PROVEN" in told


async def test_bot_waits_for_a_vacant_seat_and_takes_it(short_chains, north, east, tmp_path) -> None:
    bot = Process(tmp_path / "south", "bot", short_chains.url, "--substitute")
    with trio.fail_after(100):
        async with left_by_one(short_chains.url, east, north, private=False, **GONE_SOON):
            told, _, status = await trio.to_thread.run_sync(bot.finish)
    assert (told.splitlines()[-1].split(",")[0], status) == ("proven", 0)

"""Chains that end, secrets that are lost and players that go, over a real server and in processes that are killed."""

import signal
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from client.playing import my_turn, play_on
from client.running import Process
from client.serving import RealServer

from truc_client import (
    ClientError,
    Player,
    Table,
    TableChanged,
    connect,
    open_home,
)
from truc_client.bots import play_match, simple_bot
from truc_client.home.home import master_seed, write_seed

pytestmark = pytest.mark.slow

SHORT = {"TRUC_MATCH_LINKS": "3"}


@pytest.fixture(scope="module")
def short_chains(tmp_path_factory):
    """Return a server whose chains serve three deals."""
    server = RealServer(tmp_path_factory.mktemp("server"), SHORT).start()
    yield server
    server.stop()


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


KILLED_AT_A_REKEY = """
import os, signal, sys
from truc_client.matches.sending import Sending
from truc_terminal.main import main
from truc_client.matches.seat_match import begins_chain

send = Sending.send


def die_before_a_rekey(self, match, at, sendable):
    if begins_chain(sendable):
        os.kill(os.getpid(), signal.SIGKILL)
    send(self, match, at, sendable)


Sending.send = die_before_a_rekey
main(sys.argv[1:])
"""


def stored_chains(home: Path) -> set[bytes]:
    """Return the public keys of the chains in a bot's store."""
    database = sqlite3.connect(home / "bots" / "bot" / "state.sqlite")
    found = {x for (x,) in database.execute("SELECT x FROM chains")}
    database.close()
    return found


def test_bot_killed_between_storing_a_rekey_and_sending_it_goes_on_with_the_same_chain(
    short_chains, tmp_path
) -> None:
    options = ("bot", short_chains.url, "--create", "truc-french", "--private")
    script = tmp_path / "killed.py"
    script.write_text(KILLED_AT_A_REKEY)
    first = Process(tmp_path / "first", *options, program=(sys.executable, str(script)))
    second = Process(tmp_path / "second", "bot", short_chains.url, "--table", first.code())
    _, complaint, status = first.finish()
    assert (status, "Traceback" in complaint) == (-signal.SIGKILL, False)
    stored = stored_chains(tmp_path / "first")
    again = Process(tmp_path / "first", *options)
    (told, _, status), (_, _, other) = again.finish(), second.finish()
    assert (told.splitlines()[-1].split(",")[0], status, other) == ("proven", 0, 0)
    transcript = Path(told.split("; ")[-1].strip()).read_bytes()
    assert len(stored) == 2
    assert all(x in transcript for x in stored)


# Secrets that are lost


async def play_bot(url: str, player: Player, code: str, seed: int = 2) -> None:
    async with connect(url, player) as connection:
        table = await connection.join(code)
        await table.ready()
        await play_match(table, simple_bot(seed))
        await trio.sleep_forever()


async def open_table(connection, **options) -> Table:
    table = await connection.create("truc-french", options={"bank_ms": 0, **options}, private=True)
    await table.ready()
    return table


@pytest.fixture
def north(tmp_path) -> Player:
    return Player(open_home(tmp_path / "north"), "north")


@pytest.fixture
def elsewhere(north, tmp_path) -> Player:
    """Return north in another home, which has the key alone."""
    other = Player(open_home(tmp_path / "elsewhere"), "north")
    write_seed(other.home, master_seed(north.home))
    return other


@pytest.fixture
def east(tmp_path) -> Player:
    return Player(open_home(tmp_path / "east"), "east")


LATE = {"gone": 2, "gone_after": 0, "voids": 100, "decision_ms": 1_000, "release_ms": 5_000}
"""Who comes late, as on a busy machine, when the next call is out, asks for time after the void; nobody loses by it."""


async def test_second_home_is_told_of_the_flag_with_which_it_goes_on_to_a_proven_end(
    real_server, north, elsewhere, east
) -> None:
    url, command = real_server.url, (elsewhere.home.root, "play", real_server.url)
    with trio.fail_after(100):
        async with trio.open_nursery() as nursery:
            async with connect(url, north) as connection:
                table = await open_table(connection, **LATE, match=1, target=12)
                nursery.start_soon(play_bot, url, east, table.code)
                await play_on(table, until=my_turn)
            async with connect(url, elsewhere) as connection:
                with pytest.raises(ClientError, match="truc play --rekey"):
                    await play_on(await connection.resume(connection.held[0]))
            process = Process(*command)
            _, complaint, status = await trio.to_thread.run_sync(process.finish)
            assert (status, complaint.splitlines()[-1].endswith("truc play --rekey")) == (1, True)
            process = Process(*command, "--rekey")
            told, _, status = await trio.to_thread.run_sync(process.finish, "11\n1\n2\n3\n4\n5\n" * 100)
            nursery.cancel_scope.cancel()
    assert (status, " starts a new chain" in told, "PROVEN" in told) == (0, True, True)


# Players that go

GONE = {"gone": 1, "gone_after": 1, "decision_ms": 2_000, "release_ms": 60_000, "bank_ms": 0}
GONE_SOON = {**GONE, "match": 1, "target": 12}


@asynccontextmanager
async def deserted(url: str, north: Player, east: Player, *, private: bool = True) -> AsyncIterator[str]:
    """Play a match that north has left and whose seat is vacant; yields the table's code."""
    async with trio.open_nursery() as nursery:
        async with connect(url, north) as connection:
            table = await connection.create("truc-french", options=GONE_SOON, private=private)
            await table.ready()
            nursery.start_soon(play_bot, url, east, table.code)
            await play_on(table, until=my_turn)
        yield table.code
        nursery.cancel_scope.cancel()


async def wait_vacant(connection, code: str) -> None:
    """Watch a table until a seat of it is vacant."""
    table = await connection.watch(code)
    await play_on(
        table, until=lambda it: isinstance(it, TableChanged) and any(seat.vacant for seat in it.state.seats)
    )
    await table.leave()


async def watch_until_vacant(url: str, code: str, folder: Path) -> None:
    async with connect(url, Player(open_home(folder), "watcher")) as connection:
        await wait_vacant(connection, code)


async def test_script_steps_in_by_typing_yes_and_leaves_the_seat_to_others_by_typing_no(
    real_server, north, east, tmp_path
) -> None:
    own_name = ("--name", "successor")  # which nobody has had at this server
    with trio.fail_after(100):
        async with deserted(real_server.url, north, east) as code:
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


@pytest.fixture
def own_server(tmp_path):
    """Return a server process of the test's own: whoever looks for a vacant seat finds only that of its table."""
    server = RealServer(tmp_path / "server").start()
    yield server
    server.stop()


async def test_bot_waits_for_a_vacant_seat_and_takes_it(own_server, north, east, tmp_path) -> None:
    bot = Process(tmp_path / "south", "bot", own_server.url, "--substitute")
    with trio.fail_after(100):
        async with deserted(own_server.url, north, east, private=False):
            told, _, status = await trio.to_thread.run_sync(bot.finish)
    assert (told.splitlines()[-1].split(",")[0], status) == ("proven", 0)


async def test_substitute_killed_and_started_again_goes_on(own_server, north, east, tmp_path) -> None:
    command = (tmp_path / "south", "bot", own_server.url, "--substitute")
    bot = Process(*command)
    with trio.fail_after(100):
        async with deserted(own_server.url, north, east, private=False):
            await trio.to_thread.run_sync(bot.line)
            await trio.to_thread.run_sync(bot.kill)
            again = Process(*command)
            told, _, status = await trio.to_thread.run_sync(again.finish)
    assert (told.splitlines()[-1].split(",")[0], status) == ("proven", 0)

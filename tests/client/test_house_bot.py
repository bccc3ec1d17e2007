"""A bot of the house: called by a real server, it steps in, plays on to a proven end, and waits for the next call."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio
from client.playing import left_by_one
from client.running import Process, run
from client.serving import RealServer

from truc_client import MatchEnded, Player, connect, open_home
from truc_protocol.audit import Result
from truc_protocol.crypto.keys import fingerprint

pytestmark = pytest.mark.slow
HOSTING = (Path(__file__).parents[2] / "docs" / "hosting" / "players.md").read_text("utf-8")
CHAPTER = HOSTING.partition("\n## Your own bots\n")[2].partition("\n## ")[0]
OWN, COMMAND, LISTING = re.findall(r"```(?:sh|toml)\n(.*?)```", CHAPTER, re.DOTALL)
SETTINGS = OWN.replace("bots = 3", "bots = 0") + LISTING
"""The steps of the chapter, which these tests take."""

FORGING = 'a (won); "b": 9'
"""A name that looks like parts of the line with a result."""

LISTED = re.compile(r"[A-Z2-7]{26}")
TERMS = {
    "gone_after": 1, "decision_ms": 1500, "bank_ms": 0, "release_ms": 30_000, "match": 1, "target": 4,
}  # fmt: skip


def key_at(server: RealServer, home: Path) -> str:
    """Return the fingerprint of the key that a bot with this home has at a server."""
    player = Player(open_home(home), "bot")

    async def ask() -> str:
        async with connect(server.url, player) as connection:
            account = connection.session.account
            return fingerprint(account.key(connection.session.first_spk).public)

    return trio.run(ask)


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("house")


@pytest.fixture(scope="module")
def server(tmp_path_factory, home) -> Iterator[RealServer]:
    """Return a server that calls the bot with that home."""
    server = RealServer(tmp_path_factory.mktemp("server"))
    with server:
        listed = LISTED.sub(key_at(server, home / "bots" / "bot"), SETTINGS)
    (server.data / "truc.toml").write_text(listed)
    with server:
        yield server


@pytest.fixture
def bot(server, home) -> Iterator[Process]:
    process = start(server, home)
    yield process
    process.end()


def start(server: RealServer, home: Path) -> Process:
    """Start the bot and wait until it hears calls."""
    process = Process(home, *COMMAND.replace("HOST", server.url).split()[1:])
    assert process.line().removeprefix("key ").strip() in (server.data / "truc.toml").read_text()
    return process


async def deserted(server: RealServer, folder: Path, **how) -> tuple[str, MatchEnded]:
    """Play a match whose second player leaves at the first decision, and return its table and how it ended."""
    stays, leaves = (
        Player(open_home(folder / "stays"), FORGING),
        Player(open_home(folder / "leaves"), "leaves"),
    )
    async with left_by_one(server.url, stays, leaves, **how, **TERMS) as (code, ended):
        with trio.fail_after(60):
            return code, await ended.receive()


async def test_match_whose_player_has_left_is_played_to_a_proven_end(server, bot, tmp_path) -> None:
    code, ended = await deserted(server, tmp_path, private=False)
    told = [await trio.to_thread.run_sync(bot.line) for _ in range(2)]
    assert ended.verdict.result is Result.PROVEN
    assert ended.verdict.reason == "won"
    assert told[0] == f"called {code} seat 1 truc-french\n"
    assert told[1].startswith(f"over {code} proven, level A: ")
    assert re.fullmatch(
        r'(?:[^"]|"[^"]+")*: winner: "[^"]+" \(won[^"]*\); "[^"]+": [^"]+; "[^"]+": [^"]+\n', told[1]
    )
    assert """"a (won); 'b': 9": """ in told[1]


async def test_called_bot_plays_several_matches_at_once(server, bot, tmp_path) -> None:
    ended: list[MatchEnded] = []

    async def one(folder: Path) -> None:
        ended.append((await deserted(server, folder))[1])

    async with trio.open_nursery() as nursery:
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            nursery.start_soon(one, tmp_path / name)
    told = [await trio.to_thread.run_sync(bot.line) for _ in range(4)]  # it is done, too
    assert sorted(line.split()[0] for line in told) == ["called", "called", "over", "over"]
    assert [(match.verdict.result, match.verdict.reason) for match in ended] == [(Result.PROVEN, "won")] * 2


async def test_called_bot_goes_on_when_the_server_was_killed(server, bot, tmp_path) -> None:
    ended: list[MatchEnded] = []

    async def play() -> None:
        ended.append((await deserted(server, tmp_path))[1])

    async with trio.open_nursery() as nursery:
        nursery.start_soon(play)
        await trio.to_thread.run_sync(bot.line)
        await trio.to_thread.run_sync(server.kill)
        await trio.to_thread.run_sync(server.start)
    told = await trio.to_thread.run_sync(bot.line)
    while told.startswith("called"):  # again: it was away for longer than its seat is kept
        told = await trio.to_thread.run_sync(bot.line)
    assert (ended[0].verdict.result, told.split()[0]) == (Result.PROVEN, "over")


def test_bot_of_the_house_whose_output_cannot_be_written_ends_in_one_line(server, tmp_path, full) -> None:
    ran = run(tmp_path, "bot", server.url, "--house", stdout=full, LC_ALL="C")
    assert (ran.returncode, "Traceback" in ran.stderr) == (1, False)
    assert ran.stderr.endswith("truc: cannot go on: No space left on device\n")


def test_bot_of_the_house_waits_for_a_server_that_is_not_there(tmp_path) -> None:
    process = Process(tmp_path, "bot", "127.0.0.1:1", "--house")
    told = process.process.stderr.readline()
    *_, status = process.end()
    assert (told, status) == ("cannot reach 127.0.0.1:1: Connection refused; trying again\n", 0)

"""What a power cut at either end does to a match: nothing."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from client.serving import RealServer

from truc_client import MatchEnded, Player, Table, YourTurn, connect, open_home
from truc_client.bots import simple_bot
from truc_client.verifying import verify_file
from truc_protocol.audit import Result

pytestmark = pytest.mark.slow


async def play_until_end(table: Table, seed: int, at_turn: dict[int, object] | None = None) -> MatchEnded:
    """Play a match; `at_turn` maps the number of a decision to what is called before it."""
    choose, turns = simple_bot(seed), 0
    async for happening in table:
        if isinstance(happening, YourTurn) and happening.must:
            turns += 1
            before = (at_turn or {}).get(turns)
            if before is not None:
                await trio.to_thread.run_sync(before)
            await table.choose(choose(happening))
        if isinstance(happening, MatchEnded):
            return happening
    raise AssertionError("the table was closed")


@pytest.fixture
def own_server(tmp_path: Path):
    server = RealServer(tmp_path / "server").start()
    yield server
    server.stop()


async def test_match_ends_proven_after_the_server_was_killed_in_a_hand(own_server, tmp_path) -> None:
    ended: list[MatchEnded] = []

    def power_cut() -> None:
        own_server.kill()
        own_server.start()

    async def one(name: str, send: trio.MemorySendChannel, receive: trio.MemoryReceiveChannel, cuts) -> None:
        async with connect(own_server.url, Player(open_home(tmp_path / name), name)) as connection:
            if cuts:
                table = await connection.create("truc-catalan", private=True)
                await send.send(table.code)
            else:
                table = await connection.join(await receive.receive())
            await table.ready()
            ended.append(await play_until_end(table, 3, cuts))

    with trio.fail_after(40):
        async with trio.open_nursery() as nursery:
            channels = trio.open_memory_channel(1)
            nursery.start_soon(one, "north", *channels, {4: power_cut, 9: power_cut})
            nursery.start_soon(one, "east", *channels, None)
    assert [verify_file(match.transcript).result for match in ended] == [Result.PROVEN] * 2


class BotProcess:
    """`truc bot` as a process."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self.command = [sys.executable, "-m", "truc_terminal", "bot", *arguments]
        self.environment = {**os.environ, "TRUC_HOME": str(home)}

    def start(self) -> str:
        """Start it; returns the first line it prints."""
        self.process = subprocess.Popen(self.command, env=self.environment, stdout=subprocess.PIPE, text=True)
        return self.process.stdout.readline()

    def power_cut(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()
        self.start()

    def finish(self) -> tuple[str, int]:
        told = self.process.stdout.read()
        self.process.stdout.close()
        return told, self.process.wait(20)


@asynccontextmanager
async def table_with(server: RealServer, bot: BotProcess, home: Path) -> AsyncIterator[Table]:
    first = await trio.to_thread.run_sync(bot.start)
    code = first.split("/")[-1].split("#")[0]
    async with connect(server.url, Player(open_home(home), "north")) as connection:
        table = await connection.join(code)
        await table.ready()
        yield table


async def test_match_ends_proven_after_a_client_was_killed_in_a_hand(real_server, tmp_path) -> None:
    bot = BotProcess(
        tmp_path / "bot", real_server.url, "--create", "truc-french", "--option", "match=1", "--private"
    )
    with trio.fail_after(40):
        async with table_with(real_server, bot, tmp_path / "north") as table:
            await play_until_end(table, 3, {3: bot.power_cut, 6: bot.power_cut})
            told, status = await trio.to_thread.run_sync(bot.finish)
    assert told.startswith("proven, level A")
    assert status == 0


def test_two_bot_processes_play_a_match(real_server, tmp_path) -> None:
    options = ("--create", "truc-catalan", "--private")
    first = BotProcess(tmp_path / "home", real_server.url, *options)
    code = first.start().split("/")[-1].split("#")[0]
    second = BotProcess(tmp_path / "home", real_server.url, "--table", code)
    second.start()
    results = [bot.finish() for bot in (first, second)]
    assert [(told.split(",")[0], status) for told, status in results] == [("proven", 0)] * 2

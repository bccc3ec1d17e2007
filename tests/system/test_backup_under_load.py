"""A backup is taken while bots play, and restored elsewhere: tables go on, or nothing more is signed of their matches.

The players are the client's own, each on a connection that comes back by itself; the server is a process, and so are the
commands that back it up and restore it.
"""

import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
import trio
from chaos.kills import SETTINGS
from chaos.servers import ServerProcess, serving
from client.playing import eager_bot, homes

from truc_client import MatchEnded, Player, RefusedError, TableClosed, YourTurn, connect
from truc_client.bots import simple_bot
from truc_client.home.transcripts import path_of
from truc_client.verifying import examine_files
from truc_protocol.audit import Result

pytestmark = pytest.mark.slow

LOAD = {**SETTINGS, "TRUC_MATCH_GUESTS": "1", "TRUC_MATCH_LINKS": "1024"}
SHORT = {"match": 1, "target": 6}
LONG = {"match": 5, "target": 24}


class Party:
    """Two clients at one table; they play while the gate is open.

    Attributes:
        seen: the newest position that each has come to.
        ends: how the match went for each: its end, or what was said instead.
    """

    def __init__(self, folder: Path, n: int, *, guest: bool = False, bot=eager_bot, **options: int) -> None:
        self.players = homes(folder / f"table-{n}", False, guest)
        self.options = {**options, **({"guests": 1} if guest else {})}
        self.bot, self.seed = bot, 10 * n
        self.gate = trio.Event()
        self.gate.set()
        self.waits = trio.Event()
        self.more = trio.Event()
        self.over = trio.Event()
        self.seen = [0, 0]
        self.ends: list[MatchEnded | TableClosed | RefusedError | None] = [None, None]
        self.mid = b""

    async def play(self, server: ServerProcess) -> None:
        """Play a match, to its end or the table's."""
        opened, codes = trio.open_memory_channel[str](1)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._sit, server, 0, self.players[0], opened.send, None)
            nursery.start_soon(self._sit, server, 1, self.players[1], None, codes.receive)
        self.over.set()

    async def _sit(self, server, seat, player: Player, told, asked) -> None:
        async with connect(server.url, player) as connection:
            if asked is None:
                table = await connection.create("truc-french", options=self.options, private=True)
                await told(table.code)
            else:
                table = await connection.join(await asked())
            await table.ready()
            try:
                self.ends[seat] = await self._play(table, seat)
            except RefusedError as error:
                self.ends[seat] = error

    async def _play(self, table, seat: int) -> MatchEnded | TableClosed | None:
        choose = self.bot(self.seed + seat)
        async for happening in table:
            if table.match is not None:
                self.mid, self.seen[seat] = table.match.mid, table.match.next
                self._note()
            match happening:
                case YourTurn(must=True):
                    if not self.gate.is_set():
                        self.waits.set()
                        await self.gate.wait()
                    await table.choose(choose(happening))
                case MatchEnded() | TableClosed():
                    return happening
                case _:
                    pass
        return None

    def _note(self) -> None:
        more, self.more = self.more, trio.Event()
        more.set()

    async def come_to(self, k: int) -> None:
        """Wait until both have seen so many records."""
        while min(self.seen) < k:
            await self.more.wait()

    async def stand_still(self) -> None:
        """Let nobody decide any more, and wait until somebody would."""
        self.gate = trio.Event()
        await self.waits.wait()

    @property
    def examined(self):
        """What the transcripts of both come to together."""
        return examine_files([path_of(player.home.transcripts, self.mid) for player in self.players])


def command(name: str, data: Path, *arguments: str) -> str:
    """Run a command of the host on a data folder, and return what it prints."""
    line = [sys.executable, "-m", "truc_server", name, "--data", str(data), *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=True, timeout=60).stdout


async def ran(name: str, data: Path, *arguments: str) -> str:
    return await trio.to_thread.run_sync(partial(command, name, data, *arguments))


def ends_of(data: Path) -> dict[bytes, str | None]:
    """Return why each match that is stored has ended."""
    with closing(sqlite3.connect(data / "truc.db")) as database:
        return dict(database.execute("SELECT mid, reason FROM matches").fetchall())


def check_won(parties: list[Party]) -> None:
    for party in parties:
        assert not party.examined.is_refuted
        assert {file.verdict.result for file in party.examined.files} == {Result.PROVEN}
        assert all(isinstance(end, MatchEnded) for end in party.ends)


async def test_every_table_goes_on_elsewhere_after_a_final_backup(tmp_path):
    old, new, copy = tmp_path / "old", tmp_path / "new", tmp_path / "copy"
    parties = [Party(tmp_path, n, guest=n == 2, **SHORT) for n in range(4)]
    with trio.fail_after(110):
        async with serving(old, LOAD) as server, trio.open_nursery() as nursery:
            for party in parties:
                nursery.start_soon(party.play, server)
            for party in parties:
                await party.come_to(8)
            server.signal(signal.SIGTERM)
            assert await server.wait() == 0
            await ran("backup", old, "--final", str(copy))
            said = await ran("restore", new, str(copy))
            async with serving(new, LOAD, port=server.port) as moved:
                for party in parties:
                    await party.over.wait()
                faults = await moved.stop()
                nursery.cancel_scope.cancel()
    assert (faults, "they go on at once" in said) == ([], True)
    check_won(parties)


async def test_no_match_is_signed_twice_after_a_backup_that_play_went_on_from(tmp_path):
    old, new, copy = tmp_path / "old", tmp_path / "new", tmp_path / "copy"
    still = [Party(tmp_path, n, guest=n == 1, **SHORT) for n in range(2)]
    moving = [Party(tmp_path, n, bot=simple_bot, **LONG) for n in range(2, 5)]
    with trio.fail_after(110):
        async with serving(old, LOAD) as server, trio.open_nursery() as nursery:
            for party in (*still, *moving):
                nursery.start_soon(party.play, server)
            for party in (*still, *moving):
                await party.come_to(6)
            for party in still:
                await party.stand_still()
            await ran("backup", old, str(copy))
            known = {party.mid: max(party.seen) for party in moving}
            for party in moving:
                await party.come_to(known[party.mid] + 20)
            await server.kill()
            await ran("restore", new, str(copy))
            async with serving(new, LOAD, port=server.port) as moved:
                for party in still:
                    party.gate.set()
                for party in (*still, *moving):
                    await party.over.wait()
                warnings = [json.loads(line)["event"] for line in moved.warnings()]
                faults = await moved.stop()
                nursery.cancel_scope.cancel()
    check_won(still)
    for party in moving:
        assert not party.examined.is_refuted
        assert {file.verdict.result for file in party.examined.files} == {Result.INCOMPLETE}
        assert {type(end) for end in party.ends} <= {RefusedError, TableClosed}
        assert any("restored from a backup" in str(end) for end in party.ends)
    given_up = {mid for mid, reason in ends_of(new).items() if reason == "given_up"}
    assert given_up == {party.mid for party in moving}
    assert (faults, warnings.count("match_held"), warnings.count("match_given_up")) == ([], 5, 3)

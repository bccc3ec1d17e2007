"""The server's key is changed, and given up, while bots play at several tables: who follows, who stops, and what is proven.

The players are the client's own, each on a connection that comes back by itself; the server is a process with a passphrase
on its keys, and so are the commands about them.
"""

import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import trio
from chaos.kills import SETTINGS
from chaos.servers import ServerProcess, serving
from client.playing import eager_bot, homes

from truc_client import MatchEnded, Player, RefusedError, ServerKeyError, Table, YourTurn, connect
from truc_client.home.home import accept_revocation
from truc_client.verifying import verify_file
from truc_protocol.audit import Result
from truc_protocol.crypto.keys import fingerprint
from truc_protocol.records import parse
from truc_protocol.transcript import read_transcript
from truc_server.identity.identity import read_public
from truc_server.settings.folder import Folder

pytestmark = pytest.mark.slow

GAMES = (
    ("truc-french", (False, False)),
    ("truc-french", (False, True)),
    ("truc-catalan", (False, True, False, False)),
    ("truco-argentino-flor", (False, False)),
)
MATCHES = 2
CHOICES = 12  # at every table, before and after the key is changed


class Party:
    """Bots at one table, which play some matches, the last of them when it is time for that; guests are those of whom the flag is set."""

    def __init__(self, folder: Path, n: int) -> None:
        self.variant, guests = GAMES[n]
        self.told = [[] for _ in guests]
        self.players = [
            replace(player, on_new_key=told.append)
            for player, told in zip(homes(folder / f"table-{n}", *guests), self.told, strict=True)
        ]
        self.options = {"match": 1, "guests": sum(guests)}
        self.seed = 10 * n
        self.last = trio.Event()
        self.choices = 0
        self.chosen = trio.Event()
        self.ended: list[MatchEnded] = []
        self.stopped: list[ServerKeyError] = []

    async def play(self, server: ServerProcess) -> None:
        code, codes = trio.open_memory_channel[str](len(self.players))
        async with trio.open_nursery() as nursery:
            for seat, player in enumerate(self.players):
                nursery.start_soon(self._sit, server, seat, player, code, codes)

    async def _sit(self, server, seat, player: Player, code, codes) -> None:
        try:
            async with connect(server.url, player) as connection:
                if seat == 0:
                    table = await connection.create(
                        self.variant, seats=len(self.players), options=self.options, private=True
                    )
                    for _ in self.players[1:]:
                        await code.send(table.code)
                else:
                    table = await connection.join(await codes.receive())
                for n in range(MATCHES):
                    if n == MATCHES - 1:
                        await self.last.wait()
                    await self._play(table, eager_bot(self.seed + seat))
        except ServerKeyError as error:
            self.stopped.append(error)

    async def _play(self, table: Table, choose) -> None:
        await be_ready(table)
        async for happening in table:
            if isinstance(happening, MatchEnded):
                self.ended.append(happening)
                self._note()
                return
            if isinstance(happening, YourTurn) and happening.must:
                await table.choose(choose(happening))
                self.choices += 1
                self._note()

    def _note(self) -> None:
        chosen, self.chosen = self.chosen, trio.Event()
        chosen.set()

    async def choose_more(self, count: int) -> None:
        """Wait until they have chosen so often from now on, or have played all that it is time for."""
        enough = self.choices + count
        matches = MATCHES if self.last.is_set() else MATCHES - 1
        while self.choices < enough and len(self.ended) < matches * len(self.players):
            await self.chosen.wait()


async def be_ready(table: Table) -> None:
    """Say ready; a server that is about to stop may say no, and is asked again."""
    while True:
        try:
            await table.ready()
        except RefusedError:
            await trio.sleep(0.2)
        else:
            return


class Host:
    """A server's data folder, its settings, and the commands of its host."""

    def __init__(self, path: Path) -> None:
        self.data = path / "server"
        words = path / "words"
        words.write_text("three words and a number 7\n")
        words.chmod(0o600)
        self.settings = {
            **SETTINGS,
            "TRUC_MATCH_GUESTS": "1",
            "TRUC_TABLES_DRAIN_S": "20",
            "TRUC_STORE_PASSPHRASE_FILE": str(words),
        }

    @property
    def fingerprint(self) -> str:
        return read_public(Folder(self.data)).fingerprint

    async def key(self, command: str, *arguments: str) -> str:
        """Run a command of `truc-server key`, and return what it prints."""
        line = [sys.executable, "-m", "truc_server", "key", command, "--data", str(self.data), *arguments]
        run = partial(
            subprocess.run, line, capture_output=True, text=True, check=True, timeout=60, env=self.settings
        )
        return (await trio.to_thread.run_sync(run)).stdout


def signed_by(ended: MatchEnded) -> str:
    """Return the fingerprint of the key that a match was begun under."""
    return fingerprint(parse(read_transcript(ended.transcript.read_bytes()).records[0]).spk)


async def stop(server: ServerProcess, how: signal.Signals) -> None:
    server.signal(how)
    assert await server.wait() == {signal.SIGTERM: 0, signal.SIGKILL: -9}[how]


async def all_choose(parties: list[Party]) -> None:
    async with trio.open_nursery() as nursery:
        for party in parties:
            nursery.start_soon(party.choose_more, CHOICES)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
async def test_key_changed_under_load_is_followed_and_every_match_is_proven(tmp_path, how):
    host = Host(tmp_path)
    parties = [Party(tmp_path, n) for n in range(len(GAMES))]
    with trio.fail_after(80):
        async with serving(host.data, host.settings) as server:
            first = host.fingerprint
            async with trio.open_nursery() as nursery:
                for party in parties:
                    nursery.start_soon(party.play, server)
                await all_choose(parties)
                await stop(server, how)
                await host.key("roll")
                shown = await host.key("show")
                await server.start()
                for party in parties:
                    party.last.set()
            assert await server.stop() == []
    second = host.fingerprint
    ended = [match for party in parties for match in party.ended]
    assert len(ended) == MATCHES * sum(len(party.players) for party in parties)
    assert {verify_file(match.transcript).result for match in ended} == {Result.PROVEN}
    assert {signed_by(match) for match in ended} == {first, second}
    assert "running match" in shown
    told = [[(key.before, key.present) for key in keys] for party in parties for keys in party.told]
    assert told == [[(None, first), (first, second)]] * len(told)


async def test_revocation_of_a_stolen_key_stops_every_client_under_load(tmp_path):
    host = Host(tmp_path)
    parties = [Party(tmp_path, n) for n in range(len(GAMES))]
    with trio.fail_after(80):
        async with serving(host.data, host.settings) as server:
            revocation = await host.key("revocation", "-")
            async with trio.open_nursery() as nursery:
                for party in parties:
                    nursery.start_soon(party.play, server)
                await all_choose(parties)
                for party in parties:
                    for player in party.players:
                        accept_revocation(player.home, revocation)
                await stop(server, signal.SIGKILL)
                await host.key("roll")  # as the thief can, too: nothing that the key signs leads on
                await server.start()
                for party in parties:
                    party.last.set()
            assert await server.stop() == []
    for party in parties:
        assert len(party.stopped) == len(party.players)
        assert all("C40: the key" in str(error) and "was revoked" in str(error) for error in party.stopped)

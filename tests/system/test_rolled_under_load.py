"""The server's key is changed, and given up, while bots play at several tables: who follows, who stops, and what is proven.

The players are the client's own, each on a connection that comes back by itself; the server is a process with a passphrase
on its keys, and so are the commands about them.
"""

from dataclasses import replace
from pathlib import Path

import pytest
import trio
from chaos.kills import SETTINGS
from chaos.servers import serving
from client.playing import homes
from system.bot_tables import BotTable, ran

from truc_client import MatchEnded, ServerKeyError
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
)
MATCHES = 2
CHOICES = 12  # at every table, before and after the key is changed


def tables_in(folder: Path) -> list[tuple[BotTable, list[list]]]:
    """Return a table of every game, and what each player there is told of new keys."""
    tables = []
    for n, (variant, guests) in enumerate(GAMES):
        told = [[] for _ in guests]
        players = [
            replace(player, on_new_key=keys.append)
            for player, keys in zip(homes(folder / f"table-{n}", *guests), told, strict=True)
        ]
        table = BotTable(players, seed=10 * n, variant=variant, matches=MATCHES, match=1, target=9)
        tables.append((table, told))
    return tables


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
            "TRUC_STORE_PASSPHRASE_FILE": str(words),
        }

    @property
    def fingerprint(self) -> str:
        return read_public(Folder(self.data)).fingerprint

    async def key(self, command: str, *arguments: str) -> str:
        """Run a command of `truc-server key`, and return what it prints."""
        return await ran("key", command, data=self.data, arguments=arguments, env=self.settings)


def signed_by(ended: MatchEnded) -> str:
    """Return the fingerprint of the key that a match was begun under."""
    return fingerprint(parse(read_transcript(ended.transcript.read_bytes()).records[0]).spk)


async def all_choose(parties: list[BotTable]) -> None:
    async with trio.open_nursery() as nursery:
        for party in parties:
            nursery.start_soon(party.choose_more, CHOICES)


async def test_key_changed_under_load_is_followed_and_every_match_is_proven(tmp_path):
    host = Host(tmp_path)
    parties, all_told = zip(*tables_in(tmp_path), strict=True)
    with trio.fail_after(80):
        async with serving(host.data, host.settings) as server:
            first = host.fingerprint
            async with trio.open_nursery() as nursery:
                for party in parties:
                    nursery.start_soon(party.play, server)
                await all_choose(parties)
                await server.kill()
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
    told = [[(key.before, key.present) for key in keys] for table_told in all_told for keys in table_told]
    assert told == [[(None, first), (first, second)]] * len(told)


async def test_revocation_of_a_stolen_key_stops_every_client_under_load(tmp_path):
    host = Host(tmp_path)
    parties = [party for party, _ in tables_in(tmp_path)]
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
                await server.kill()
                await host.key("roll")  # as the thief can, too: nothing that the key signs leads on
                await server.start()
                for party in parties:
                    party.last.set()
            assert await server.stop() == []
    for party in parties:
        stopped = [end for end in party.ends if isinstance(end, ServerKeyError)]
        assert len(stopped) == len(party.players)
        assert all("C40: the key" in str(error) and "was revoked" in str(error) for error in stopped)

"""A backup is taken while bots play, and restored elsewhere: tables go on, or nothing more is signed of their matches.

The players are the client's own, each on a connection that comes back by itself; the server is a process, and so are the
commands that back it up and restore it.
"""

import json
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import trio
from chaos.kills import SETTINGS
from chaos.servers import serving
from client.playing import eager_bot, homes
from system.bot_tables import BotTable, ran

from truc_client import RefusedError, TableGone
from truc_client.bots import simple_bot
from truc_client.home.transcripts import path_of
from truc_client.verifying import examine_files
from truc_protocol.audit import Result

pytestmark = pytest.mark.slow

LOAD = {**SETTINGS, "TRUC_MATCH_GUESTS": "1", "TRUC_MATCH_LINKS": "1024"}
SHORT = {"match": 1, "target": 6}
LONG = {"match": 5, "target": 24}


def table_of(folder: Path, n: int, *, guest: bool = False, bot=eager_bot, **options: int) -> BotTable:
    """Return a table of two at which one match is played."""
    table = BotTable(homes(folder / f"table-{n}", False, guest), seed=10 * n, bot=bot, **options)
    table.last.set()
    return table


def examined(party: BotTable):
    """Return what the transcripts of both come to together."""
    return examine_files([path_of(player.home.transcripts, party.mid) for player in party.players])


def ends_of(data: Path) -> dict[bytes, str | None]:
    """Return why each match that is stored has ended."""
    with closing(sqlite3.connect(data / "truc.db")) as database:
        return dict(database.execute("SELECT mid, reason FROM matches").fetchall())


def check_won(parties: list[BotTable]) -> None:
    for party in parties:
        assert not examined(party).is_refuted
        assert {file.result for file in examined(party).files} == {Result.PROVEN}
        assert len(party.ended) == 2


async def test_every_table_goes_on_elsewhere_after_a_final_backup(tmp_path):
    old, new, copy = tmp_path / "old", tmp_path / "new", tmp_path / "copy"
    parties = [table_of(tmp_path, n, guest=n == 2, **SHORT) for n in range(4)]
    with trio.fail_after(110):
        async with serving(old, LOAD) as server, trio.open_nursery() as nursery:
            for party in parties:
                nursery.start_soon(party.play, server)
            for party in parties:
                await party.come_to(8)
            server.signal(signal.SIGTERM)
            assert await server.wait() == 0
            await ran("backup", data=old, arguments=["--final", str(copy)])
            said = await ran("restore", data=new, arguments=[str(copy)])
            async with serving(new, LOAD, port=server.port) as moved:
                for party in parties:
                    await party.over.wait()
                faults = await moved.stop()
                nursery.cancel_scope.cancel()
    assert (faults, "they go on at once" in said) == ([], True)
    check_won(parties)


async def test_no_match_is_signed_twice_after_a_backup_that_play_went_on_from(tmp_path):
    old, new, copy = tmp_path / "old", tmp_path / "new", tmp_path / "copy"
    still = [table_of(tmp_path, n, guest=n == 1, **SHORT) for n in range(2)]
    moving = [table_of(tmp_path, n, bot=simple_bot, **LONG) for n in range(2, 5)]
    with trio.fail_after(110):
        async with serving(old, LOAD) as server, trio.open_nursery() as nursery:
            for party in (*still, *moving):
                nursery.start_soon(party.play, server)
            for party in (*still, *moving):
                await party.come_to(6)
            for party in still:
                await party.stand_still()
            await ran("backup", data=old, arguments=[str(copy)])
            known = {party.mid: max(party.seen) for party in moving}
            for party in moving:
                await party.come_to(known[party.mid] + 20)
            await server.kill()
            await ran("restore", data=new, arguments=[str(copy)])
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
        assert not examined(party).is_refuted
        assert {file.result for file in examined(party).files} == {Result.INCOMPLETE}
        assert [type(end) in (RefusedError, TableGone) for end in party.ends] == [True, True]
        assert any("restored from a backup" in str(end) for end in party.ends)
    given_up = {mid for mid, reason in ends_of(new).items() if reason == "given_up"}
    assert given_up == {party.mid for party in moving}
    assert (faults, warnings.count("match_held"), warnings.count("match_given_up")) == ([], 5, 3)

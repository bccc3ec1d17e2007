"""What servers of older versions left behind, in old/: today's server goes on with it, and everything verifies."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import trio
from click.testing import CliRunner
from server.conftest import play_on, running, together
from server.rawclient import RawSeat, is_rash
from server.stored import KILLED_MIGRATIONS, sql, url
from server.visitors import guest

from truc_client.verifying import examine_files
from truc_protocol.audit import Result
from truc_protocol.crypto.chains import Chain
from truc_protocol.crypto.keys import box_key, signing_key_from_seed
from truc_protocol.setup import open_terms
from truc_server.main import main
from truc_server.storage.schema import REVISION
from truc_server.storage.sql import open_store

pytestmark = pytest.mark.slow
OLD = Path(__file__).parent / "old"
REVISIONS = sorted(path.name for path in OLD.iterdir() if path.name.isdigit())
HOST = "127.0.0.1"


@pytest.fixture(params=REVISIONS)
def left(request, tmp_path):
    """Return what a version left: a data folder, and what is known of it; `bots` makes the home of its bots."""
    source = OLD / request.param
    data, facts = tmp_path / "data", json.loads((source / "facts.json").read_text())
    data.mkdir(mode=0o700)
    for name in ("identity.pem", "secrets.key"):
        private(data / name, (source / name).read_bytes())
    fill(data / "truc.db", (source / "truc.sql").read_text())

    def bots(port: int) -> Path:
        """The home of the bots, for whom the server has kept its address."""
        for kept in (source / "one", source / "two"):
            bot = tmp_path / "home" / "bots" / kept.name
            bot.mkdir(mode=0o700, parents=True)
            (bot / "transcripts").mkdir()
            private(bot / "master.seed", (kept / "master.seed").read_bytes())
            sql = (kept / "state.sql").read_text()
            fill(bot / "state.sqlite", sql.replace(f"{HOST}:{facts['port']}", f"{HOST}:{port}"))
            for transcript in kept.glob("*.truc"):
                (bot / "transcripts" / transcript.name).write_bytes(transcript.read_bytes())
        return tmp_path / "home"

    return SimpleNamespace(data=data, seats=facts["seats"], bots=bots, revision=request.param)


def private(path, content) -> None:
    path.write_bytes(content)
    path.chmod(0o600)


def fill(database, sql) -> None:
    with closing(sqlite3.connect(database)) as raw:
        raw.executescript(sql)


def column(data, query) -> list:
    return [value for (value,) in sql(data / "truc.db", query)]


class Returning(RawSeat):
    """A seat that has kept its secrets, and has forgotten the rest."""

    def __init__(self, client, kept) -> None:
        super().__init__(client, seed=kept["seat"] + 1, keyed="key" in kept)
        self.table, self.seat, self.name = kept["table"], kept["seat"], kept["name"]
        self.x, self.token = box_key(bytes.fromhex(kept["x"])), kept.get("token", "")
        if self.key is not None:
            self.key = signing_key_from_seed(bytes.fromhex(kept["key"]))
            self.root = bytes.fromhex(kept["root"])

    def begin(self, message) -> None:
        super().begin(message)
        if self.key is not None:
            table = open_terms(self.document, self.records[0]).table
            self.chain = Chain(self.key.public, table.tn, self.root, first=0, count=table.links)

    async def react(self, message) -> None:
        """Do what keeps the match going; a call that is held back for whoever may have asked for time is not waited for."""
        await super().react(message)
        if message["t"] == "waiting" and message.get("what") == "rekey" and self.seat in message["seats"]:
            await self.sign_once("rekey", message["at"], self.rekey())


def rashly(seat: RawSeat, message, options):
    """Choose what may end a game at once, where that is offered."""
    return next(filter(is_rash, options), None) or seat.pick(message, options)


async def come_back(server, kept) -> RawSeat:
    seat = Returning(await server.connect(), kept)
    seat.chooses = partial(rashly, seat)
    assert (await seat.come_back(seat.client))["t"] == "ok"
    return seat


async def play_bot(home, port, name) -> None:
    """Let today's bot go on from what an older one has kept."""
    command = [sys.executable, "-m", "truc_terminal", "bot", f"{HOST}:{port}", "--name", name]
    environment = {**os.environ, "TRUC_HOME": str(home)}
    await trio.run_process(command, env=environment, stdout=subprocess.DEVNULL)


async def test_everything_of_that_time_is_kept_and_goes_on_to_a_proven_end(left, tmp_path):
    assert column(left.data, "SELECT version_num FROM alembic_version") == [left.revision]
    async with running(left.data) as server:
        guest = await (await server.connect()).login_token(left.seats[1]["token"])
        tables = await listed(server)
        seats = [await come_back(server, kept) for kept in left.seats]
        found = [(await seat.ask({"t": "matches"}))["matches"] for seat in seats]
        await play_on(seats)
    assert column(left.data, "SELECT version_num FROM alembic_version") == [REVISION]
    assert (guest["t"], guest["name"]) == ("welcome", left.seats[1]["name"])
    (waiting,) = [table for table in tables if table["state"] == "open"]
    assert [seat.get("ready", False) for seat in waiting["seats"]] == [True, False]
    assert "decision_ms" not in waiting["options"]
    first = f"FROM records JOIN tables ON match_id = mid WHERE k = 0 AND code = '{seats[0].table}'"
    (began,) = column(left.data, f"SELECT at_ms {first}")
    # newer versions have stored it themselves, a moment before the first record
    assert [[0 <= began - match["since_ms"] < 100 for match in matches] for matches in found] == [[True]] * 2
    assert {seat.auditor.verdict().result for seat in seats} == {Result.PROVEN}
    out = tmp_path / "out"
    assert CliRunner().invoke(main, ["export", str(out), "--data", str(left.data)]).exit_code == 0
    assert [file.result for file in examine_files(sorted(out.iterdir())).files] == [Result.PROVEN] * 3


def begin(data) -> None:
    """Bring a database up to date, as a start does."""
    open_store(url(data)).close()


@pytest.mark.parametrize("left", REVISIONS[-1:], indirect=True)
def test_every_seat_with_a_key_may_have_asked_for_time_in_the_matches_under_way(left):
    begin(left.data)
    newest = "(SELECT max(k) FROM records WHERE records.mid = wishes.mid)"
    assert column(left.data, f"SELECT seat FROM wishes WHERE k = {newest} + 1 ORDER BY seat") == [0, 0, 1]


async def listed(server) -> list[dict]:
    """Return the tables as a new guest is told of them."""
    client = await guest(server)
    return (await client.ask({"t": "tables"}))["tables"]


@pytest.mark.parametrize(
    "left", REVISIONS[:1], indirect=True
)  # what is to be done to a newer one is the end of it
def test_kill_in_the_migration_leaves_it_repeatable(left):
    has_begun = f"SELECT count(*) FROM alembic_version WHERE version_num <> '{left.revision}'"
    command = [sys.executable, "-c", KILLED_MIGRATIONS, url(left.data), has_begun]
    killed = subprocess.run(command, check=True, capture_output=True, text=True)
    assert int(killed.stdout) > 3
    assert column(left.data, "SELECT version_num FROM alembic_version") == [REVISION]
    assert column(left.data, "SELECT count(*) FROM matches") == [4]


# the clients of 0003 and 0005 have kept it as those of the version before
@pytest.mark.parametrize("left", ["0001", "0002", "0004", "0006"], indirect=True)
async def test_clients_of_that_time_go_on_from_what_they_have_kept(left):
    begin(left.data)
    sql(left.data / "truc.db", "DELETE FROM wishes")  # of a minute, as they begin no new chain
    async with running(left.data) as server:
        home = left.bots(server.port)
        await together(*(partial(play_bot, home, server.port, name) for name in ("one", "two")))
    files = sorted(home.glob("bots/*/transcripts/*.truc"))
    together_seen = examine_files(files)
    assert ([file.result for file in together_seen.files], together_seen.contradictions) == (
        [Result.PROVEN] * 2,
        (),
    )


@pytest.mark.parametrize("left", REVISIONS[-1:], indirect=True)
async def test_table_with_less_time_than_a_decision_may_be_given_now_gets_the_least(left):
    short = "json_set(options, '$.decision_ms', 999)"
    sql(left.data / "truc.db", f"UPDATE tables SET options = {short} WHERE state = 'open'")
    async with running(left.data) as server:
        tables = await listed(server)
    assert [table["options"]["decision_ms"] for table in tables if table["state"] == "open"] == [1000]


@pytest.mark.parametrize("left", ["0003"], indirect=True)  # there was no chat before
async def test_chat_is_told_to_who_comes_back(left):
    async with running(left.data) as server:
        seat = await come_back(server, left.seats[0])
        await seat.ask({"t": "join", "table": seat.table})
    assert [line["text"] for line in seat.client.log if line["t"] == "chat"] == ["hello from before"]

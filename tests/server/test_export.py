"""`truc-server export`: which matches it writes, into what files, and that they verify."""

import json
import os
import shutil
import stat
from functools import partial

import pytest
import trio
from click.testing import CliRunner
from server.commands import call
from server.conftest import in_hand, play_on, running, together
from server.stored import older, sql

from truc_client.home.transcripts import path_of
from truc_protocol.crypto.keys import fingerprint
from truc_protocol.transcript import read_transcript
from truc_server.net.peer import tag_of
from truc_server.storage import PlayerKind, archive
from truc_server.storage.schema import REVISION
from truc_terminal.main import main as client

pytestmark = pytest.mark.slow
SHORT = {"target": 3, "match": 1}
DAY_MS = 86_400_000
NEW_YEAR_MS = 1_767_225_600_000  # 2026-01-01 00:00 UTC


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    """A home of its own for `truc verify`."""
    monkeypatch.setenv("TRUC_HOME", str(tmp_path / "home"))


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """What the first test that needs it has played, for those after it to copy."""
    return {"data": tmp_path_factory.mktemp("played") / "data"}


@pytest.fixture
async def played(path, kept):
    """Return the seats of two matches that are over, one of Truc with keys, and one of Put with a guest."""
    if "seats" not in kept:
        kept["seats"] = await play_both(kept["data"])
    shutil.copytree(kept["data"], path)
    return kept["seats"]


async def play_both(path):
    async with running(path) as server:
        first = await server.match(options=SHORT, seed=1)
        second = await server.match(variant="put", guests=(1,), seed=2, options={"guests": 1, "match": 1})
        await play_on((*first, *second))
    for seats, days in ((first, 0), (second, 10)):
        values = (NEW_YEAR_MS + days * DAY_MS, seats[0].ledger.setup.mid)
        sql(path / "truc.db", "UPDATE matches SET ended_ms = ? WHERE mid = ?", values)
    return first, second


@pytest.fixture
def export(tmp_path):
    return partial(call, tmp_path / "data", "export", tmp_path / "out")


def mids(*plays) -> list[str]:
    return [seats[0].ledger.setup.mid.hex() for seats in plays]


def exported(export, *arguments) -> list[str]:
    """Return the ids of the matches that are exported."""
    result = export("--json", *arguments)
    assert result.exit_code == 0, result.stderr
    return [json.loads(line)["match"] for line in result.stdout.splitlines()]


async def test_file_has_the_name_that_players_know_it_by_and_their_bytes_and_is_proven(
    played, export, tmp_path
):
    old = os.umask(0)
    try:
        export()
    finally:
        os.umask(old)
    out = tmp_path / "out"
    files = [path_of(out, seats[0].ledger.setup.mid) for seats in played]
    for file, seats in zip(files, played, strict=True):
        document, records = read_transcript(file.read_bytes())
        assert (document, records) == (seats[0].document, tuple(seats[0].records))
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (out, *out.iterdir())]
    assert modes == [0o700, 0o600, 0o600]  # for their owner alone
    verified = CliRunner().invoke(client, ["verify", *map(str, files)])
    assert (verified.exit_code, verified.output.count("PROVEN")) == (0, 2)


async def test_match_whose_rules_cannot_be_read_is_written_and_keeps_no_other_back(played, export, path):
    first, second = mids(*played)
    sql(path / "truc.db", "UPDATE matches SET document = x'90' WHERE mid = ?", (bytes.fromhex(first),))
    assert export().stdout.splitlines() == [
        f"written  {first[:16]}.truc  2026-01-01 00:00 UTC  -  won",
        f"written  {second[:16]}.truc  2026-01-11 00:00 UTC  put  won",
    ]
    assert [json.loads(line)["variant"] for line in export("--json").stdout.splitlines()] == [None, "put"]


async def test_index_tells_everything_of_a_match(played, export):
    _, (keyed, guest) = played
    told = json.loads(export("--json", "--variant", "put").stdout)
    mid = keyed.ledger.setup.mid.hex()
    assert told == {
        "state": "written",
        "file": f"{mid[:16]}.truc",
        "match": mid,
        "ended": "2026-01-11T00:00:00Z",
        "variant": "put",
        "seats": 2,
        "reason": "won",
        "records": len(keyed.records),
        "players": [
            {"seat": 0, "kind": "key", "tag": fingerprint(keyed.key.public)},
            {"seat": 1, "kind": "guest", "tag": guest.client.welcome["player"]},
        ],
    }


async def test_index_has_the_players_of_a_match_that_is_deleted_while_it_is_written(
    played, export, path, monkeypatch
):
    read = archive.Archive.transcript

    def read_and_delete(self, mid):
        found = read(self, mid)
        for table in ("records", "match_players", "matches"):
            sql(path / "truc.db", f"DELETE FROM {table} WHERE mid = ?", (mid,))
        return found

    monkeypatch.setattr(archive.Archive, "transcript", read_and_delete)
    told = map(json.loads, export("--json").stdout.splitlines())
    assert [len(match["players"]) for match in told] == [2, 2]


async def test_dates_are_days_from_their_beginning(played, export):
    first, second = mids(*played)
    assert exported(export, "--since", "2026-01-01", "--until", "2026-01-11") == [first]
    assert exported(export, "--since", "2026-01-02") == [second]
    assert exported(export, "--until", "2026-01-01") == []
    assert exported(export, "--until", "2026-01-01T00:01") == [first]
    assert exported(export, "--variant", "put") == [second]


async def test_no_match_is_left_out_where_many_are_read_page_by_page(played, export, monkeypatch, path):
    monkeypatch.setattr(archive, "_PAGE", 1)
    assert exported(export) == mids(*played)
    sql(path / "truc.db", "UPDATE matches SET ended_ms = 5")
    assert sorted(exported(export)) == sorted(mids(*played))


async def test_matches_of_a_player(played, export):
    first, second = played
    assert exported(export, "--player", fingerprint(first[0].key.public)) == mids(first)
    assert exported(export, "--player", second[0].key.public.hex()) == mids(second)
    assert exported(export, "--player", second[1].client.welcome["player"].lower()) == mids(second)
    assert exported(export, "--player", tag_of(PlayerKind.GUEST, b"nobody")) == []


async def test_one_match_by_the_beginning_of_its_id(played, export):
    first, second = mids(*played)
    assert exported(export, "--match", second[:16].upper()) == [second]
    assert exported(export, "--match", second, "--match", first[:9]) == [second, first]
    result = export("--match", "ab" * 32)
    assert (result.exit_code, result.stderr) == (1, f"truc-server: no match {'ab' * 32} is kept\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--match", "abc"), "expected 8 to 64 hexadecimal digits, got 'abc'"),
        (("--match", "xyzxyzxyz"), "expected 8 to 64 hexadecimal digits"),
        (("--match", "abcdefab", "--variant", "put"), "expected no --since, --until, --variant or --player"),
        (("--player", "203.0.113.7"), "expected a fingerprint, a key or the tag of a guest"),
        (("--since", "yesterday"), "--since"),
    ],
)
async def test_what_cannot_be_meant_is_refused(played, export, arguments, said, tmp_path):
    result = export(*arguments)
    assert (result.exit_code, said in result.stderr) == (2, True)
    assert not (tmp_path / "out").exists()


async def test_files_that_are_there_are_kept(played, export, tmp_path):
    def written():
        return {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}

    export()
    before = written()
    assert export().stdout.count("kept ") == 2
    assert written() == before


async def test_file_that_lacks_an_end_gets_it_and_another_of_the_name_is_kept(played, export, tmp_path):
    export()
    path = path_of(tmp_path / "out", played[0][0].ledger.setup.mid)
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    assert ("longer " in export().stdout, path.read_bytes()) == (True, whole)
    path.write_bytes(b"somebody's own")
    result = export()
    assert (result.exit_code, result.stdout.startswith("differs ")) == (1, True)
    assert path.read_bytes() == b"somebody's own"
    assert result.stderr.endswith("2 matches: 1 kept, 1 differs\n")


async def test_match_that_is_played_is_left_out(path, export):
    async with running(path) as server:
        seats = await in_hand(server)
        assert exported(export) == []
        result = export("--match", seats[0].ledger.setup.mid.hex())
    assert (result.exit_code, "is not over" in result.stderr) == (1, True)


async def test_export_beside_a_server_finds_what_is_over_and_writes_nothing_to_it(server, export):
    over = await server.match(options=SHORT, seed=1)
    await play_on(over)
    seats = await server.match(options=SHORT, seed=2)
    results = []

    async def beside():
        results.append(await trio.to_thread.run_sync(partial(exported, export)))

    await together(beside, *(seat.play for seat in seats))
    assert results[0][0] == mids(over)[0]
    assert exported(export) == mids(over, seats)


async def test_last_signatures_come_into_the_file_of_an_earlier_export(tmp_path, export):
    async with running(tmp_path / "data") as server:
        seats = await server.match(options=SHORT)
        sign, seats[1].sign_once = seats[1].sign_once, partial(all_but_ack, seats[1].sign_once)
        await play_on(seats, is_over)
        assert export().stdout.startswith("written ")
        seats[1].sign_once = sign
        await seats[1].follow()
        await play_on(seats)
        assert export().stdout.startswith("longer ")
    file = path_of(tmp_path / "out", seats[0].ledger.setup.mid)
    assert read_transcript(file.read_bytes()).records == tuple(seats[0].records)


def is_over(seat) -> bool:
    return seat.auditor is not None and seat.ledger.phase == "ended"


async def all_but_ack(sign, what, place, body) -> None:
    if what != "ack":
        await sign(what, place, body)


async def test_folder_that_is_a_file_or_in_which_nothing_may_be_written_is_said(played, path, tmp_path):
    file = tmp_path / "out"
    file.write_text("mine")
    for where, told in ((file, "expected a folder to write to"), ("/proc/truc", "cannot make the folder")):
        result = call(path, "export", where)
        assert (result.exit_code, told in result.stderr) == (1, True)


def test_folder_where_no_server_has_run_is_said(export, path):
    result = export()
    assert (result.exit_code, "no server has run in" in result.stderr) == (1, True)
    assert not path.exists()


def test_database_that_is_not_there_is_not_made(data, export):
    data.database.unlink()
    result = export()
    assert (result.exit_code, "there is none at" in result.stderr) == (1, True)
    assert not data.database.exists()


def test_database_that_cannot_be_read_is_said_and_not_taken_for_an_older_one(data, export, monkeypatch):
    data.database.write_bytes(b"no database" * 1_000)
    assert f"cannot read sqlite:///{data.database}: file is not a database" in export().stderr
    monkeypatch.setenv("TRUC_STORE_URL", "postgresql://truc@127.0.0.1:1/truc")
    assert "cannot read postgresql://truc@127.0.0.1:1/truc: connection failed" in export().stderr
    # No line tells the password, wherever it stands.
    monkeypatch.setenv("TRUC_STORE_URL", "postgresql://127.0.0.1:1/truc?user=truc&password=hush")
    assert "cannot read postgresql://127.0.0.1:1/truc?user=truc: connection failed" in export().stderr


def test_database_of_another_version_is_left_as_it_is(data, export):
    sql(data.database, "UPDATE alembic_version SET version_num = '9999'")
    result = export()
    assert (result.exit_code, "was written by a newer version" in result.stderr) == (1, True)
    data.database.unlink()
    older(data.root, "0003")
    before = data.database.read_bytes()
    result = export()
    assert (result.exit_code, f"expected schema {REVISION}, found 0003" in result.stderr) == (1, True)
    assert data.database.read_bytes() == before

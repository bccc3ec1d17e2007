"""Matches that are deleted when they have been kept long enough: which, when, and that the game goes on meanwhile."""

import threading
from contextlib import closing
from io import StringIO

import pytest
import trio
from server.commands import call
from server.conftest import QUICK, changed, in_hand, play_on, running
from server.stored import MATCH, MID, TABLE, TH, record, sql, url
from server.visitors import greeted

from truc_protocol.audit import Result
from truc_server.operation import logs
from truc_server.settings.folder import locked
from truc_server.settings.settings import LogSettings
from truc_server.storage import AddPlayer, AddRecord, AddWish, EndMatch, PlayerKind, SaveSecrets, StoreError
from truc_server.storage.sql import Store, open_store
from truc_server.timing.clock import now_ms
from truc_server.upkeep import retention

DAY_MS = 86_400_000
KEEPING = changed(QUICK, store={"keep_days": 30})
ENDED_MS = 10_000
PLAYER = AddPlayer(MID, 0, b"p" * 32, PlayerKind.KEY, 0)
OVER = EndMatch(MID, "won", ENDED_MS)
OF_A_MATCH = ("matches", "records", "match_players")


def counts(folder) -> list[int]:
    """Return how many rows there are of matches, their records and their players."""
    return [count for table in OF_A_MATCH for (count,) in asked(folder, f"SELECT count(*) FROM {table}")]


def asked(folder, statement: str) -> list:
    return sql(folder / "truc.db", statement)


async def play_one(server, **fields) -> list:
    """Play a match to its end, and close its table."""
    seats = await server.match(options={"target": 3, "match": 1, "guests": 1}, **fields)
    await play_on(seats)
    for seat in seats:
        await seat.ask({"t": "leave", "table": seat.table})
    return seats


def whole(mid: bytes, *rows: AddRecord, ended_ms: int = ENDED_MS) -> list:
    """Return what is written of a match that is over, by default with one record."""
    return [MATCH._replace(mid=mid, th=mid), *(rows or [record(0, mid)]), EndMatch(mid, "won", ended_ms)]


@pytest.fixture
def left(data):
    """Return a function that leaves matches at no table, over for so many days."""

    def leave(days: float, count: int = 1):
        ended = now_ms() - round(days * DAY_MS)
        with closing(open_store(url(data.root))) as store:
            store.claim("a server")
            for i in range(count):
                store.commit(whole(bytes([i]) * 32, ended_ms=ended))
        return data.root

    return leave


def noted(monkeypatch, name: str, holds) -> threading.Event:
    """Return what is set when something holds of what a method of the store has answered."""
    done, method = threading.Event(), getattr(Store, name)

    def noting(store, *values, **fields):
        answer = method(store, *values, **fields)
        if holds(answer):
            done.set()
        return answer

    monkeypatch.setattr(Store, name, noting)
    return done


@pytest.fixture
def emptied(monkeypatch):
    """Tell when a server has looked for old matches and found no more of them."""
    return noted(monkeypatch, "old_matches", lambda found: not found)


@pytest.fixture
def deleting(monkeypatch):
    """Tell when a match has been deleted."""
    return noted(monkeypatch, "delete_match", bool)


class Shown(StringIO):
    """A log, and whether what is waited for stands in it."""

    def __init__(self, awaited) -> None:
        super().__init__()
        self.awaited, self.has_it = awaited, trio.Event()

    def write(self, text) -> int:
        if self.awaited in text:
            self.has_it.set()
        return super().write(text)


async def wait(event) -> None:
    assert await trio.to_thread.run_sync(event.wait, 10)


# Which matches may go


@pytest.fixture
def over(store):
    """Return a store with one match that is over, at no table."""
    store.commit([TABLE, MATCH, PLAYER, record(0), record(1), OVER])
    return store


def deleted(store, before_ms=ENDED_MS + 1) -> int:
    return sum(retention.deletions(store, before_ms=before_ms))


def test_match_goes_with_its_records_its_players_its_wishes_and_secrets_that_are_left_of_it(over, folder):
    over.commit([SaveSecrets(TH, b"sealed"), AddWish(MID, 1, 0)])
    assert (deleted(over), counts(folder)) == (1, [0, 0, 0])
    assert asked(folder, "SELECT count(*) FROM secrets UNION ALL SELECT count(*) FROM wishes") == [(0,)] * 2


def test_match_that_ended_at_the_time_stays(over, folder):
    assert (deleted(over, ENDED_MS), counts(folder)) == (0, [1, 2, 1])


def test_match_that_its_table_shows_stays(over, folder):
    over.commit([TABLE._replace(state="over", match=MID)])
    assert (deleted(over), counts(folder)) == (0, [1, 2, 1])


def test_match_that_is_played_stays_however_old(store, folder):
    store.commit([TABLE._replace(state="playing", match=MID), MATCH, PLAYER, record(0)])
    assert (deleted(store, now_ms()), counts(folder)) == (0, [1, 1, 1])


def test_match_that_was_given_up_goes_when_its_newest_record_is_old(store, folder):
    store.commit([TABLE, MATCH, PLAYER, record(0), record(1)])
    newest = record(1).at_ms
    assert [deleted(store, newest), deleted(store, newest + 1)] == [0, 1]
    assert counts(folder) == [0, 0, 0]


def test_other_matches_keep_their_records(over, folder):
    over.commit(whole(b"o" * 32, ended_ms=ENDED_MS * 2))
    assert (deleted(over), counts(folder)) == (1, [1, 1, 0])


def test_more_matches_go_than_are_found_at_once(store, folder, monkeypatch):
    monkeypatch.setattr(retention, "_PAGE", 2)
    store.commit([TABLE])
    for i in range(5):
        store.commit(whole(bytes([i]) * 32))
    assert (deleted(store), counts(folder)) == (5, [0, 0, 0])


def test_match_that_a_table_shows_by_now_is_not_deleted(over, folder):
    assert over.old_matches(before_ms=ENDED_MS + 1, limit=9) == (MID,)
    over.commit([TABLE._replace(state="over", match=MID)])
    assert not over.delete_match(MID, before_ms=ENDED_MS + 1)
    assert counts(folder) == [1, 2, 1]


def test_match_is_deleted_as_a_whole_or_not_at_all(over, folder):
    fault = "BEGIN SELECT RAISE(ABORT, 'the disk fails'); END"
    asked(folder, f"CREATE TRIGGER faulty BEFORE DELETE ON matches {fault}")
    with pytest.raises(StoreError, match="the disk fails"):
        deleted(over)
    assert counts(folder) == [1, 2, 1]


def test_space_is_used_again(store, folder):
    store.commit([TABLE])
    sizes = []
    for mid in (bytes([i]) * 32 for i in range(6)):
        rows = [record(k, mid)._replace(means=b"m" * 2_000) for k in range(200)]
        store.commit(whole(mid, *rows))
        deleted(store)
        sizes += asked(folder, "PRAGMA page_count")
    assert sizes[-1] == sizes[1]


# A server that deletes


@pytest.mark.slow
async def test_match_that_is_not_old_enough_is_kept_at_the_start(left, emptied):
    async with running(path := left(29), KEEPING):
        await wait(emptied)
    assert counts(path)[0] == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "days"),
    [(QUICK, 30_000), (changed(KEEPING, access={"moved_to": "truc.example:7373"}), 31)],
    ids=["keeps everything", "has moved"],
)
async def test_server_that_keeps_everything_or_has_moved_deletes_nothing(left, monkeypatch, settings, days):
    monkeypatch.setattr(Store, "old_matches", lambda *_, **__: pytest.fail("looked for old matches"))
    async with running(path := left(days), settings) as server:
        await greeted(server)
    assert counts(path)[0] == 1


@pytest.mark.slow
async def test_old_matches_are_looked_for_again_and_again(path, monkeypatch, emptied, deleting):
    monkeypatch.setattr(retention, "DAY_S", 0.01)
    async with running(path, KEEPING) as server:
        await play_one(server, guests=(1,))
        await wait(emptied)
        asked(path, f"UPDATE matches SET ended_ms = ended_ms - {31 * DAY_MS}")
        await wait(deleting)
    assert counts(path) == [0, 0, 0]


@pytest.mark.slow
async def test_matches_go_on_to_a_proven_end_while_others_are_deleted(left, monkeypatch):
    monkeypatch.setattr(retention, "PAUSE_S", 0)
    monkeypatch.setattr(retention, "DAY_S", 0.001)
    async with running(path := left(31, count=3), KEEPING) as server:
        seats = await play_one(server, seed=5)
    assert {seat.auditor.verdict().result for seat in seats} == {Result.PROVEN}
    assert counts(path)[0] == 1


@pytest.mark.slow
async def test_match_that_is_old_enough_is_deleted_at_the_start_which_is_in_the_log(left):
    logs.configure(LogSettings(level="info"), shown := Shown("matches_pruned"))
    async with running(path := left(31), KEEPING):
        with trio.fail_after(10):
            await shown.has_it.wait()
    (line,) = [line for line in shown.getvalue().splitlines() if "matches_pruned" in line]
    assert "days=30 matches=1" in line
    assert counts(path)[0] == 0


@pytest.mark.slow
async def test_store_that_fails_is_logged_and_harms_nobody(left, monkeypatch, shown):
    failed = threading.Event()

    def fail(store, *_, **__):
        failed.set()
        raise StoreError("cannot write to it")

    monkeypatch.setattr(Store, "delete_match", fail)
    async with running(left(31), KEEPING) as server:
        await wait(failed)
        seats = await in_hand(server)
        assert (await seats[0].ask({"t": "tables"}))["t"] == "ok"
    assert "matches_not_pruned" in shown.getvalue()


# By hand


@pytest.fixture
def filled(folder):
    """Return a folder of a server with a match that ended 40 days ago, and one that ended 20 days ago."""
    with closing(open_store(url(folder))) as store:
        store.claim("a server")
        store.commit([TABLE])
        for days in (40, 20):
            mid, ended = bytes([days]) * 32, now_ms() - days * DAY_MS
            rows = [record(k, mid)._replace(means=b"m" * 2_000, at_ms=ended) for k in range(200)]
            store.commit(whole(mid, *rows, ended_ms=ended))
    return folder


def test_prune_deletes_what_is_older(filled):
    result = call(filled, "prune", "--older-than", "30")
    assert result.stdout.startswith("1 match from before ")
    assert (result.exit_code, counts(filled)[:2]) == (0, [1, 200])


def test_dry_run_says_how_many_and_deletes_nothing(filled):
    result = call(filled, "prune", "--older-than", "10", "--dry-run")
    assert result.stdout.startswith("2 matches from before ")
    assert result.stdout.endswith(" UTC would be deleted\n")
    assert counts(filled)[:2] == [2, 400]


@pytest.mark.parametrize("days", ["0", "-1", "ten", "36501"])
def test_days_that_are_none_are_refused(filled, days):
    assert call(filled, "prune", "--older-than", days).exit_code == 2
    assert counts(filled)[0] == 2


def test_compact_leaves_nothing_of_what_was_deleted_and_keeps_the_rest(filled):
    call(filled, "prune", "--older-than", "30")
    before = (filled / "truc.db").stat().st_size
    result = call(filled, "compact")
    assert (result.exit_code, counts(filled)[:2]) == (0, [1, 200])
    assert (filled / "truc.db").stat().st_size < before * 0.7
    assert "MB before" in result.stdout
    content = b"".join(file.read_bytes() for file in filled.iterdir() if file.name.startswith("truc.db"))
    assert (bytes([40]) * 32 in content, bytes([20]) * 32 in content) == (False, True)


def test_compact_is_refused_while_a_server_runs(data):
    with locked(data):
        result = call(data.root, "compact")
    assert result.exit_code == 1
    assert "is in use by process" in result.stderr


def test_compact_says_how_much_room_it_needs(filled, monkeypatch):
    monkeypatch.setattr("truc_server.operation.disk.free_bytes", lambda _: 1_000)
    before = (filled / "truc.db").read_bytes()
    result = call(filled, "compact")
    assert result.exit_code == 1
    assert "MB free on the disk of" in result.stderr
    assert (filled / "truc.db").read_bytes() == before


def test_compact_is_for_the_file_of_the_server_alone(filled, monkeypatch):
    monkeypatch.setenv("TRUC_STORE_URL", "postgresql://elsewhere/truc")
    result = call(filled, "compact")
    assert (result.exit_code, "store.url names another database" in result.stderr) == (2, True)

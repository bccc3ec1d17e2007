"""A database whose files go away while a server uses it: nothing further is acknowledged, and the log is not lost."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from rows import each_row
from server.stored import MATCH, SEAT, TABLE, record, sql, url

from truc_server.storage import StoreBusyError, StoreError
from truc_server.storage.engine import open_engine
from truc_server.storage.sql import Store, open_store


@pytest.fixture
def holding(store) -> Store:
    """Return a store with a table, the newest changes of which stand in the log alone."""
    store.commit([TABLE])
    return store


def delete(file: Path) -> None:
    file.unlink()


def replace(file: Path) -> None:
    shutil.copy(file, file.with_name("copy"))
    file.with_name("copy").rename(file)


def move_folder(file: Path) -> None:
    file.parent.rename(file.parent.with_name(f"{file.parent.name} elsewhere"))


@pytest.mark.parametrize("name", ["truc.db", "truc.db-wal"])
@pytest.mark.parametrize("happens", [delete, replace, move_folder])
def test_commit_to_a_file_that_was_deleted_replaced_or_moved_is_not_confirmed(holding, folder, name, happens):
    happens(folder / name)
    with pytest.raises(StoreError, match="was deleted, moved or replaced"):
        holding.commit([SEAT])


def test_what_stood_in_a_log_that_was_deleted_is_in_the_database(holding, folder):
    (folder / "truc.db-wal").unlink()
    with pytest.raises(StoreError):
        holding.commit([SEAT])
    shutil.copy(folder / "truc.db", folder / "found.db")
    found = sql(folder / "found.db", "SELECT (SELECT count(*) FROM tables), (SELECT count(*) FROM seats)")
    assert found == [(1, 1)]


def test_files_stay_the_same_while_others_open_and_close_the_database(holding, folder):
    sql(folder / "truc.db", "PRAGMA wal_checkpoint(TRUNCATE)")
    holding.commit([SEAT])
    assert holding.seats("ABC") == (SEAT,)


class TestConnections:
    @pytest.fixture(params=["writing", "reading"])
    def connection(self, request, store):
        if request.param == "writing":
            yield store._writing
            return
        with store._reading.connect() as connection:
            yield connection

    @each_row(
        "pragma, value",
        [("journal_mode", "wal"), ("synchronous", 2), ("fullfsync", 1), ("busy_timeout", 5_000)],
    )
    def test_every_connection_is_told_the_same(self, connection, pragma, value):
        assert connection.exec_driver_sql(f"PRAGMA {pragma}").scalar() == value


def test_log_that_a_long_read_has_made_longer_is_short_again(folder, monkeypatch):
    monkeypatch.setattr("truc_server.storage.engine.KEPT_WAL_BYTES", 200_000)
    store = open_store(url(folder))
    store.claim("this process")
    store.commit([TABLE, MATCH])
    log = folder / "truc.db-wal"
    with closing(sqlite3.connect(folder / "truc.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM records").fetchone()
        store.commit([record(k)._replace(body=bytes(4_000)) for k in range(1_200)])
        while_read = log.stat().st_size
    store.commit([record(1_200)])
    store.commit([record(1_201)])
    after = log.stat().st_size
    store.close()
    assert (while_read > 4_000_000, after <= 200_000) == (True, True)


@pytest.mark.parametrize(
    ("code", "kind"),
    [(sqlite3.SQLITE_BUSY_RECOVERY, StoreBusyError), (sqlite3.SQLITE_FULL, StoreError)],
    ids=["log is being recovered", "disk is full"],
)
def test_database_is_busy_only_while_another_program_holds_it(folder, code, kind):
    engine = open_engine(url(folder))
    error = sqlite3.OperationalError("no")
    error.sqlite_errorcode = code

    def fail(*_):
        raise error

    store = Store(engine)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(engine.dialect, "do_execute", fail)
        with pytest.raises(StoreError) as raised:
            store.claim("this process")
    store.close()
    assert type(raised.value) is kind

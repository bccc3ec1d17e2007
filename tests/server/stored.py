"""Rows to store, and databases of older versions."""

import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine

from truc_protocol.records import Record
from truc_server.storage import AddRecord, PlayerKind, SaveGuest, SaveMatch, SaveSeat, SaveTable
from truc_server.storage.sql import Store, open_store

MID, TH = b"m" * 32, b"t" * 32
TABLE = SaveTable(
    code="ABC",
    variant="truc-french",
    options={"games": 3, "reveal": "hand"},
    seats=2,
    private=False,
    creator=b"p" * 32,
    created_ms=1_700_000_000_000,
    document=b"document",
    state="open",
    match=None,
)
SEAT = SaveSeat("ABC", 1, PlayerKind.KEY, b"p" * 32, "Núria", ready=False, x=None)
MATCH = SaveMatch(MID, "ABC", b"document", (Record(0, b"body", b"sig"), Record(1, b"seat", b"")), TH, 2)


def record(k: int, mid: bytes = MID) -> AddRecord:
    return AddRecord(mid, k, 0, b"body %d" % k, b"s" * 64, b"means", 1_000 + k, b"clocks")


def guest_of(store: Store, token_hash: bytes) -> SaveGuest | None:
    """Return the guest whose token has this hash."""
    return store.guests_by_tokens([token_hash]).get(token_hash)


def url(folder: Path) -> str:
    return f"sqlite:///{folder / 'truc.db'}"


def sql(database: Path, statement: str, *values: object) -> list:
    """Run a statement on the file of a database, whoever else has it open; return its rows."""
    with closing(sqlite3.connect(database)) as raw, raw:
        return raw.execute(statement, *values).fetchall()


def inserted(database: Path, table: str, *values: object) -> None:
    """Put a row into a table of any version, as that version had its columns."""
    sql(database, f"INSERT INTO {table} VALUES ({', '.join('?' for _ in values)})", values)


@cache
def new_database() -> bytes:
    """Return the bytes of a new database, so that not every test migrates one."""
    with TemporaryDirectory() as folder:
        open_store(url(Path(folder))).close()
        return (Path(folder) / "truc.db").read_bytes()


def older(folder: Path, revision: str) -> None:
    """Make a database with the schema of an older version."""
    config = Config()
    config.set_main_option("script_location", "truc_server.storage:migrations")
    engine = create_engine(url(folder))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    engine.dispose()


# A child is forked for every ninth statement of the migration and the last, and dies right after it. Then the query in the
# second argument must give 0, as before, and at last a migration must succeed. A revision that committed by itself would be
# found by any kill behind its commit.
KILLED_MIGRATIONS = """
import os, shutil, sqlite3, sys
import alembic.command
from sqlalchemy import event
from sqlalchemy.engine import Engine
from truc_server.storage.sql import open_store

url, seen, last = sys.argv[1], [], 0
path = url.removeprefix("sqlite:///")

@event.listens_for(Engine, "after_cursor_execute")
def die(connection, cursor, statement, *rest):
    if statement.strip().startswith(("CREATE", "INSERT", "UPDATE", "ALTER")):
        seen.append(statement)
        if len(seen) == last:
            os._exit(9)

shutil.copyfile(path, path + ".copy")
open_store(url + ".copy").close()
total = len(seen)
for last in (*range(1, total, 9), total):
    seen.clear()
    child = os.fork()
    if child == 0:
        open_store(url).close()
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status == 9, status
    raw = sqlite3.connect(path)
    assert raw.execute(sys.argv[2]).fetchone() == (0,), last
    raw.close()
last = 0
open_store(url).close()
print(total)
"""

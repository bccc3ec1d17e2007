"""A SQLite database as files: whether they are sound and still in place, and how they are copied beside a running server.

SQLite goes on using a file that somebody has deleted, moved or replaced: all that is written then would be gone when the
process ends. Statements here work on every schema there has been, as a copy may be older than this version. Other databases
have no files to look at. Invariants: an inspection leaves the folder as it was found; a copy has whole transactions only,
and every one that was committed before it began.
"""

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote

from sqlalchemy import Connection

from truc_server.operation import disk
from truc_server.settings.folder import is_read_only
from truc_server.storage import StoreError
from truc_server.storage.schema import OLDEST, REVISION

# For the end of another program's transaction. The journal waits so long BUSY_TRIES times.
BUSY_TIMEOUT_MS: Final = 5_000
# More copies of the database take room during a VACUUM: the new one, and then its pages once more in the log.
_VACUUM_COPIES: Final = 2
# Tables and columns here are those of every schema.
_COUNT_UNDER_WAY: Final = """
    SELECT count(*) FROM matches JOIN tables ON tables.match_id = matches.mid WHERE matches.ended_ms IS NULL
"""

Inode = tuple[int, int]


class DatabaseFiles(NamedTuple):
    """A database and its write-ahead log, with their inodes; None for a file that is not there."""

    database: Path
    wal: Path
    inodes: tuple[Inode | None, Inode | None]

    def check(self) -> None:
        """Check that both are where they were.

        Raises:
            StoreError: One is not, or another file is in its place.
        """
        for path, before in zip((self.database, self.wal), self.inodes, strict=True):
            if _inode(path) != before:
                raise StoreError(f"{path} was deleted, moved or replaced while the server used it")


def inaccessible_file(database: Path) -> Path | None:
    """Return the one of a database's files that this user may not read and write; None if they may."""
    files = (database, *(database.with_name(f"{database.name}-{part}") for part in ("wal", "shm")))
    return next((path for path in files if path.exists() and not os.access(path, os.R_OK | os.W_OK)), None)


def why_inaccessible(file: Path) -> str:
    """Return why this user may not read and write a file of a database, with its name."""
    if is_read_only(file):
        return f"cannot write {file}: {os.strerror(errno.EROFS)}"
    return f"{file} cannot be read and written by this user"


def files_of(connection: Connection) -> DatabaseFiles | None:
    """Return the files that a connection has open, or None if it is not to SQLite."""
    if connection.dialect.name != "sqlite":
        return None
    rows = connection.exec_driver_sql("PRAGMA database_list").all()
    database = Path(rows[0][2])
    # Good as long as the connection is: SQLite makes the log anew only when nobody has the database open.
    wal = database.with_name(f"{database.name}-wal")
    return DatabaseFiles(database, wal, (_inode(database), _inode(wal)))


def checkpoint_wal(connection: Connection) -> None:
    """Move what the log holds into the database, as far as possible; not within a transaction."""
    driver = connection.connection.driver_connection
    if isinstance(driver, sqlite3.Connection):
        with suppress(sqlite3.Error):
            driver.execute("PRAGMA wal_checkpoint")


def _inode(path: Path) -> Inode | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return (found.st_dev, found.st_ino)


class Inspection(NamedTuple):
    """What was found: what is wrong, or None; and the revision of the schema, or None if there is none."""

    problem: str | None
    revision: str | None

    @property
    def is_older(self) -> bool:
        """Whether the next start brings the schema up to date."""
        return self.revision is not None and self.revision < REVISION

    @property
    def is_newer(self) -> bool:
        """Whether a newer version has written it, so that this one does not open it."""
        return self.revision is not None and self.revision > REVISION


def no_schema(found: str) -> str:
    """Say that a schema is of no version there has been."""
    return f"expected a schema from {OLDEST} to {REVISION}, found {found!r}"


def inspect(database: Path) -> Inspection:
    """Read every page of a database and the revision of its schema; blocks, long if it is large."""
    try:
        with closing(sqlite3.connect(_address(database), uri=True)) as connection:
            # The first problem is enough: a database that is damaged is not repaired but restored.
            found = [text for (text,) in connection.execute("PRAGMA quick_check(1)")]
            if found != ["ok"]:
                return Inspection(" ".join(" ".join(found).split()), None)
            if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                return Inspection(None, None)  # a first start was killed before its end
            ((revision,),) = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    except (sqlite3.Error, ValueError) as error:
        return Inspection(str(error), None)
    revision = str(revision)
    return Inspection(no_schema(revision), None) if revision < OLDEST else Inspection(None, revision)


def _address(database: Path) -> str:
    """Return the address by which a database is opened for looking at it."""
    # Even a read-only connection makes a log where there is none. But without a log nobody writes to the
    # database, so that it may be opened as one that does not change.
    is_alone = not database.with_name(f"{database.name}-wal").exists()
    return f"file:{quote(str(database.absolute()))}?{'immutable=1' if is_alone else 'mode=ro'}"


def copy_database(source: Path, target: Path) -> None:
    """Copy a database, which may be in use, to an existing empty file; blocks.

    Raises:
        StoreError: The database cannot be read, or the copy not be written.
    """
    try:
        with _opened(source) as old, _opened(target) as new:
            old.backup(new)  # in one step, so that no write makes it start over
            new.execute("PRAGMA journal_mode = DELETE")  # the copy is one file, with no log beside it
    except sqlite3.Error as error:
        raise StoreError(f"cannot copy {source} to {target.parent}: {error}") from error


def count_under_way(database: Path) -> int:
    """Return how many matches are under way in a copy.

    Raises:
        StoreError: It cannot be read.
    """
    try:
        with _opened(database) as connection:
            ((count,),) = connection.execute(_COUNT_UNDER_WAY).fetchall()
    except sqlite3.Error as error:
        raise StoreError(f"cannot read {database}: {error}") from error
    return int(count)


def vacuum(database: Path) -> tuple[int, int]:
    """Write a database that nobody uses anew, without what was deleted; return its size before and after.

    Raises:
        StoreError: It cannot be written, or the disk has too little room.
    """
    os.environ["SQLITE_TMPDIR"] = str(database.parent)  # where there is room for it, and nobody else reads
    try:
        with closing(sqlite3.connect(database, isolation_level=None)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            before = database.stat().st_size
            _check_room(database.parent, _VACUUM_COPIES * before)
            connection.execute("VACUUM")  # into the log: only the checkpoint makes the file smaller
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        raise StoreError(f"cannot write {database} anew: {error}") from error
    return before, database.stat().st_size


def _check_room(folder: Path, needed: int) -> None:
    free = disk.free_bytes(folder)
    if free < needed:
        raise StoreError(
            f"expected {needed // disk.MB} MB free on the disk of {folder}, got {free // disk.MB} MB"
        )


@contextmanager
def _opened(database: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(database, timeout=BUSY_TIMEOUT_MS / 1000)) as connection:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")
        yield connection

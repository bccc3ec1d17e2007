"""The files of a SQLite database: whether they are still the ones that the next start will find.

SQLite goes on using a file that somebody has deleted, moved or replaced: all that is written then would be gone when the
process ends. Other databases have no files to look at. Invariant: nothing here opens a file, or writes to it other than
through SQLite.
"""

import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection

from truc_server.storage.errors import StoreError

Number = tuple[int, int]


class Files(NamedTuple):
    """A database and its write-ahead log, with the numbers their disk gives them; None for a file that is not there."""

    database: Path
    log: Path
    numbers: tuple[Number | None, Number | None]

    def check(self) -> None:
        """Check that both are where they were.

        Raises:
            StoreError: One is not, or another file is in its place.
        """
        for path, before in zip((self.database, self.log), self.numbers, strict=True):
            if _number(path) != before:
                raise StoreError(f"{path} was deleted, moved or replaced while the server used it")


def closed_file(database: Path) -> Path | None:
    """Return the one of a database's files that this user may not read and write; None if they may."""
    files = (database, *(database.with_name(f"{database.name}-{part}") for part in ("wal", "shm")))
    return next((path for path in files if path.exists() and not os.access(path, os.R_OK | os.W_OK)), None)


def files_of(connection: Connection) -> Files | None:
    """Return the files that a connection has open, or None if it is not to SQLite.

    SQLite creates the log anew only when nobody else has the database open.
    """
    if connection.dialect.name != "sqlite":
        return None
    rows = connection.exec_driver_sql("PRAGMA database_list").all()
    database = Path(rows[0][2])
    log = database.with_name(f"{database.name}-wal")
    return Files(database, log, (_number(database), _number(log)))


def empty_log(connection: Connection) -> None:
    """Move what the log holds into the database, as far as possible; not within a transaction."""
    driver = connection.connection.driver_connection
    if isinstance(driver, sqlite3.Connection):
        with suppress(sqlite3.Error):
            driver.execute("PRAGMA wal_checkpoint")


def _number(path: Path) -> Number | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return (found.st_dev, found.st_ino)

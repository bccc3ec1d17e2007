"""Copies of a SQLite database: taking one while a server writes to the original, and preparing a server to go on from it.

Statements here work on every schema there has been: a copy may be older than this version. Invariant: a copy has whole
transactions only, and every one that was committed before it began.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from truc_server.storage.engine import BUSY_TIMEOUT_MS
from truc_server.storage.errors import StoreError

_OPEN_MATCHES: Final = """
    SELECT mid, (SELECT coalesce(max(k) + 1, 0) FROM records WHERE records.mid = matches.mid)
    FROM matches JOIN tables ON tables.match_id = matches.mid WHERE matches.ended_ms IS NULL
"""
_HAS_TERMS: Final = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'terms'"


class OpenPlay(NamedTuple):
    """What is under way in a copy: each match with the number of its records, and the `th` of terms that are out."""

    matches: Mapping[bytes, int]
    terms: frozenset[bytes]


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


def open_play(database: Path) -> OpenPlay:
    """Return what is under way in a copy.

    Raises:
        StoreError: It cannot be read.
    """
    try:
        with _opened(database) as connection:
            matches = dict(connection.execute(_OPEN_MATCHES).fetchall())
            ((has_terms,),) = connection.execute(_HAS_TERMS).fetchall()
            terms = connection.execute("SELECT DISTINCT th FROM terms").fetchall() if has_terms else []
    except sqlite3.Error as error:
        raise StoreError(f"cannot read {database}: {error}") from error
    return OpenPlay(matches, frozenset(th for (th,) in terms))


def leave_behind(database: Path, epoch: int) -> None:
    """Give the next claim of a copy an epoch that no claim of the original has had, or will have had by then.

    What is sealed for players is numbered from the epoch; under one that was used since the copy was taken, the same
    nonce would seal two texts.

    Raises:
        StoreError: It cannot be written.
    """
    try:
        with _opened(database) as connection, connection:
            connection.execute("UPDATE ownership SET epoch = max(epoch, ?)", (epoch,))
    except sqlite3.Error as error:
        raise StoreError(f"cannot write to {database}: {error}") from error


@contextmanager
def _opened(database: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(database, timeout=BUSY_TIMEOUT_MS / 1000)) as connection:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")
        yield connection

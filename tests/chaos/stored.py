"""What stands in the database of a server that may be running, dead or starting: read beside it, and never written.

Read by SQL of its own, so that what the server's own store reads wrongly is not read wrongly here as well.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from truc_protocol.records import Record


class ViolationError(Exception):
    """The server, or a client, has done what it must not: lost, changed or refused something."""


def stored_records(data: Path, mid: bytes) -> list[Record]:
    """Return the records of a match as they are stored, whose positions must be dense."""
    with closing(_open(data)) as database:
        rows = database.execute(
            "SELECT k, signer, body, sig FROM records WHERE mid = ? ORDER BY k", [mid]
        ).fetchall()
    if [row[0] for row in rows] != list(range(len(rows))):
        raise ViolationError(f"positions of match {mid.hex()}: {[row[0] for row in rows]}")
    return [Record(*row[1:]) for row in rows]


def stored_chat(data: Path, table: str) -> dict[int, str]:
    """Return the lines of a table as they are stored."""
    with closing(_open(data)) as database:
        return dict(database.execute("SELECT n, text FROM chat WHERE table_code = ?", [table]).fetchall())


def stored_matches(data: Path, table: str) -> list[bytes]:
    """Return the matches that were played at a table."""
    with closing(_open(data)) as database:
        return [row[0] for row in database.execute("SELECT mid FROM matches WHERE table_code = ?", [table])]


def unfinished(data: Path) -> list[bytes]:
    """Return the matches that are stored without an end."""
    with closing(_open(data)) as database:
        return [row[0] for row in database.execute("SELECT mid FROM matches WHERE reason IS NULL")]


def missing_acts(data: Path, taken: Mapping[bytes, Sequence[int]]) -> list[str]:
    """Say what is not stored of the positions that were acknowledged, which were so twice, and where there are gaps."""
    missing = []
    with closing(_open(data)) as database:
        for match, acknowledged in taken.items():
            rows = database.execute("SELECT k FROM records WHERE mid = ? ORDER BY k", [match])
            stored = [k for (k,) in rows]
            lost = set(acknowledged) - set(stored)
            if lost:
                missing.append(f"match {match.hex()[:8]} lacks positions {sorted(lost)[:5]}")
            if stored != list(range(len(stored))):
                missing.append(f"match {match.hex()[:8]} has gaps among {len(stored)} positions")
            if len(set(acknowledged)) != len(acknowledged):
                missing.append(f"match {match.hex()[:8]} had a position acknowledged twice")
    return missing


def database_bytes(data: Path) -> int:
    """Return the size of the database, with what still stands in its log of writes."""
    with closing(_open(data)) as database:
        ((pages,), (page_bytes,)) = (
            database.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size")
        )
    return int(pages * page_bytes)


def _open(data: Path) -> sqlite3.Connection:
    """Open the database to read: who only reads leaves its log of writes as it is."""
    return sqlite3.connect(f"file:{data / 'truc.db'}?mode=ro", uri=True, timeout=20)

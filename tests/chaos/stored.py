"""What stands in the database of a server that may be running, dead or starting: read beside it, and never written.

Read by SQL of its own, so that what the server's own store reads wrongly is not read wrongly here as well. Where a data
folder is asked for, the URL of a PostgreSQL will do.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

import psycopg

from truc_protocol.codec import dec
from truc_protocol.records import Record

CONNECT_S: Final = 3
Where = Path | str


class ViolationError(Exception):
    """The server, or a client, has done what it must not: lost, changed or refused something."""


class Written(NamedTuple):
    """Where a record stands, and who wrote it: under which epoch, and whose that is."""

    mid: bytes
    k: int
    epoch: int
    node: str | None


def stored_records(data: Where, mid: bytes) -> list[Record]:
    """Return the records of a match as they are stored, whose positions must be dense."""
    rows = _rows(data, "SELECT k, signer, body, sig FROM records WHERE mid = ? ORDER BY k", mid)
    if [row[0] for row in rows] != list(range(len(rows))):
        raise ViolationError(f"positions of match {mid.hex()}: {[row[0] for row in rows]}")
    return [Record(*row[1:]) for row in rows]


def stored_chat(data: Where, table: str) -> dict[int, str]:
    """Return the lines of a table as they are stored."""
    return dict(_rows(data, "SELECT n, text FROM chat WHERE table_code = ?", table))


def stored_matches(data: Where, table: str) -> list[bytes]:
    """Return the matches that were played at a table."""
    return [mid for (mid,) in _rows(data, "SELECT mid FROM matches WHERE table_code = ?", table)]


def unfinished(data: Where) -> list[bytes]:
    """Return the matches that are stored without an end."""
    return [mid for (mid,) in _rows(data, "SELECT mid FROM matches WHERE reason IS NULL")]


def every_match(data: Where) -> list[tuple[bytes, bytes, list[Record]]]:
    """Return the id of every match, its rule document, and its records before the first position."""
    rows = _rows(data, "SELECT mid, document, setup FROM matches ORDER BY mid")
    return [
        (mid, document, [Record(*record) for record in dec(setup, 1 << 20)]) for mid, document, setup in rows
    ]


def written(data: Where) -> list[Written]:
    """Return who wrote each record there is, in the order of matches and their positions."""
    query = (
        "SELECT mid, k, records.epoch, node FROM records LEFT JOIN claims ON claims.epoch = records.epoch"
        " ORDER BY mid, k"
    )
    return [Written(*row) for row in _rows(data, query)]


def unowned(data: Where) -> list[str]:
    """Return the tables that no node owns."""
    query = "SELECT code FROM tables WHERE owner NOT IN (SELECT name FROM nodes)"
    return [code for (code,) in _rows(data, query)]


def missing_acts(data: Path, taken: Mapping[bytes, Sequence[int]]) -> list[str]:
    """Say what is not stored of the positions that were acknowledged, which were so twice, and where there are gaps."""
    missing = []
    for match, acknowledged in taken.items():
        query = "SELECT k FROM records WHERE mid = ? ORDER BY k"
        stored = [k for (k,) in _rows(data, query, match)]
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
    ((pages,),), ((page_bytes,),) = (_rows(data, f"PRAGMA {name}") for name in ("page_count", "page_size"))
    return int(pages * page_bytes)


def _rows(data: Where, query: str, *values: object) -> list[Any]:
    if isinstance(data, str):
        with psycopg.connect(data, connect_timeout=CONNECT_S) as server:
            return server.execute(query.replace("?", "%s"), values).fetchall()
    # who only reads leaves the database's log of writes as it is
    with closing(sqlite3.connect(f"file:{data / 'truc.db'}?mode=ro", uri=True, timeout=20)) as database:
        return database.execute(query, values).fetchall()

"""Deleting matches, as statements in the caller's transaction.

A match goes as a whole, with its records and its list of players. It may go if it was over before a time, or was given up
without an end and has no record since that time; and if no table shows it any more. Invariant: this is checked again in
the transaction that deletes it, so no claim is needed, and a command can delete beside a running server.
"""

from typing import Final

from sqlalchemy import Connection, Executable, bindparam, delete, exists, func, or_, select

from truc_server.storage.schema import match_players, matches, records, secrets, tables

_SHOWN: Final = select(tables.c.match).where(tables.c.match.is_not(None))
_HAS_NEWER: Final = exists().where(records.c.mid == matches.c.mid, records.c.at_ms >= bindparam("before"))
_IS_OLD: Final = or_(
    matches.c.ended_ms < bindparam("before"),
    matches.c.ended_ms.is_(None) & ~_HAS_NEWER,
)
_OLD: Final = select(matches.c.mid).where(_IS_OLD, matches.c.mid.not_in(_SHOWN))
_COUNT: Final = select(func.count()).select_from(_OLD.subquery())
_STILL_OLD: Final = select(matches.c.th).where(
    matches.c.mid == bindparam("match"), _IS_OLD, matches.c.mid.not_in(_SHOWN)
)
_DELETIONS: Final[tuple[Executable, ...]] = (
    delete(records).where(records.c.mid == bindparam("match")),
    delete(match_players).where(match_players.c.mid == bindparam("match")),
    delete(matches).where(matches.c.mid == bindparam("match")),
)
_DROP_SECRETS: Final = delete(secrets).where(secrets.c.th == bindparam("of"))


def count_old(connection: Connection, *, before_ms: int) -> int:
    """Return how many matches may go."""
    return int(connection.execute(_COUNT, {"before": before_ms}).scalar_one())


def old_matches(connection: Connection, *, before_ms: int, limit: int) -> tuple[bytes, ...]:
    """Return some of the matches that may go."""
    page = _OLD.order_by(matches.c.ended_ms, matches.c.mid).limit(limit)
    return tuple(connection.execute(page, {"before": before_ms}).scalars())


def delete_match(connection: Connection, mid: bytes, *, before_ms: int) -> bool:
    """Delete a match, if it still may go; False if it may not, or is gone."""
    found = connection.execute(_STILL_OLD, {"match": mid, "before": before_ms}).first()
    if found is None:
        return False
    for deletion in _DELETIONS:
        connection.execute(deletion, {"match": mid})
    connection.execute(_DROP_SECRETS, {"of": found.th})
    return True

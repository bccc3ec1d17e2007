"""A database of PostgreSQL that was restored from a dump: what must be done before a server runs on it.

As for a backup of a file (sqlite_file.py): the next claim gets an epoch that no claim of the original has had, as under one
that was used since the dump the same nonce would seal two texts; and what is under way is told, so that it can be held.
"""

from sqlalchemy import Connection, bindparam, func, select, update

from truc_server.storage import OpenPlay, StoreError
from truc_server.storage.leases import all_nodes
from truc_server.storage.schema import matches, ownership, records, tables, terms

_LENGTH = select(func.coalesce(func.max(records.c.k) + 1, 0)).where(records.c.mid == matches.c.mid)
_OPEN = (
    select(matches.c.mid, _LENGTH.scalar_subquery())
    .join(tables, tables.c.match == matches.c.mid)
    .where(matches.c.ended_ms.is_(None))
)
_LATER = update(ownership).where(ownership.c.epoch < bindparam("least")).values(epoch=bindparam("least"))


def leave_behind(connection: Connection, epoch: int) -> OpenPlay:
    """Raise the epoch of the next claim above this one, and return what is under way.

    Raises:
        StoreError: A node runs on the database, or one did when it was dumped, and its lease lasts.
    """
    connection.execute(select(ownership.c.epoch).with_for_update())
    running = [node.name for node in all_nodes(connection) if node.left_ms is not None and node.left_ms > 0]
    if running:
        raise StoreError(f"expected a database on which no server runs, got nodes: {', '.join(running)}")
    connection.execute(_LATER, {"least": epoch})
    found = dict(tuple(row) for row in connection.execute(_OPEN))
    return OpenPlay(found, frozenset(connection.execute(select(terms.c.th).distinct()).scalars()))

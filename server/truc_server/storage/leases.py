"""Who may write: leases of nodes and the tables each owns, as statements in the caller's transaction.

A lease is one row, and a table's owner is the name of one. Time is the database's alone. Each claim draws its epoch first, from
the one row of `ownership`, which keeps all others waiting: what it then sees of nodes and tables is what the last one has
left. Whoever writes keeps its own row from being removed until the commit; whoever takes over removes it. Invariants: an
epoch is one process's; a process whose row is gone, or whose lease has ended, writes nothing; the tables of a node whose
lease has not ended are taken by nobody.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Dialect,
    Select,
    and_,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import GenericFunction

from truc_server.storage import (
    Lease,
    Node,
    NodeOrder,
    NodePlace,
    PlayUnderWay,
    StoreError,
    StoreLostError,
    TableOwner,
    TakenTables,
)
from truc_server.storage.schema import claims, matches, nodes, orders, ownership, records, tables, terms

# Each node draws the codes of its tables from a share of its own; there are 32 (table_data/codes.py).
MAX_NODES: Final = 32
# Before the name of the node that a table was given to; no name of a node begins so.
_GIFT_MARK: Final = ">"


class db_now_ms(GenericFunction[int]):  # noqa: N801 - as SQL spells it
    """The database's clock, in milliseconds since 1970; on SQLite the process registers it on every connection."""

    inherit_cache = True

    def __init__(self) -> None:
        super().__init__(type_=BigInteger())


@compiles(db_now_ms, "postgresql")
def _postgresql_now(_element: db_now_ms, _compiler: object, **_: object) -> str:
    # Not now(), which stands still within a transaction.
    return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"


_LEASE_LASTS: Final = or_(nodes.c.lease_until_ms.is_(None), nodes.c.lease_until_ms > db_now_ms())
_NEWEST_CLAIM: Final = select(func.coalesce(func.max(claims.c.epoch), 0))
# Without nodes whose row a commit still holds: to wait for one would keep the tables of the others, too.
_ENDED: Final = (
    select(nodes.c.name)
    .where(nodes.c.lease_until_ms <= db_now_ms())
    .order_by(nodes.c.name)
    .with_for_update(skip_locked=True)
)
# For so long after its end a lease is left alone: a slow node may be about to finish its commit.
_GRACE_MS: Final = 1_000
_STANDING_STILL: Final = select(nodes.c.name, nodes.c.lease_until_ms).where(
    nodes.c.lease_until_ms <= db_now_ms() - _GRACE_MS
)
# Only those with a transaction from before a moment: a process of the same name that came later has others.
_END_CONNECTIONS: Final = text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND usename = current_user"
    " AND application_name = :program AND xact_start <= to_timestamp(:until_ms / 1000.0)"
    " AND pid <> pg_backend_pid()"
)
_NOW: Final = select(db_now_ms())
_NODES: Final = (
    select(
        nodes.c.name,
        nodes.c.number,
        nodes.c.claimed,
        nodes.c.epoch,
        (nodes.c.lease_until_ms - db_now_ms()).label("left_ms"),
        nodes.c.public,
        nodes.c.inner,
        nodes.c.version,
        nodes.c.draining,
        nodes.c.started_ms,
        func.count(tables.c.code).label("tables"),
    )
    .join(tables, tables.c.owner == nodes.c.name, isouter=True)
    .group_by(nodes.c.name)
    .order_by(nodes.c.name)
)


def application_name(name: str) -> str:
    """Return what a node of this name is called among the connections of the database."""
    return f"truc {name}".rstrip()


def own_row(lease: Lease) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions by which a process finds its own row."""
    # Name and claim: a process of the same name that comes later has another claim, and the earlier finds no row.
    return (nodes.c.name == lease.owner, nodes.c.claimed == lease.epoch)


def fence(lease: Lease) -> Select[Any]:
    """Return the statement that finds the newest epoch of a process, if it may write; its row stays until the transaction ends."""
    # KEY SHARE lets a renewal change the row meanwhile; only who removes it, to take over, waits (decision 26).
    own = select(nodes.c.epoch).where(*own_row(lease), _LEASE_LASTS)
    return own.with_for_update(read=True, key_share=True)


@cache
def fence_sql(dialect: Dialect, lease: Lease) -> tuple[str, Any]:
    """Return the fence of a lease and its values, as the driver of a database takes them."""
    compiled = fence(lease).compile(dialect=dialect)
    values, ordered = compiled.params, compiled.positiontup
    return str(compiled), values if ordered is None else tuple(values[name] for name in ordered)


def claim(connection: Connection, owner: str) -> Lease:
    """Take every table for a process alone on the database, for good; nobody who was there before can write any more."""
    epoch = _draw_epoch(connection, owner)
    connection.execute(delete(nodes))
    _insert_node(connection, owner, epoch, NodePlace("", "", ""), number=None, lease_ms=None)
    connection.execute(update(tables).values(owner=owner, epoch=epoch))
    return Lease(owner, epoch)


def join(connection: Connection, name: str, place: NodePlace, *, lease_ms: int) -> Lease:
    """Let a node in; an earlier process of its name, and a server that had the database alone, can write no more.

    Raises:
        StoreLostError: There are as many nodes as there may be.
    """
    epoch = _draw_epoch(connection, name)
    # Or the removal of the row would wait for a commit in which the earlier process may stand still.
    _cut_off(connection, name, connection.execute(_NOW).scalar_one())
    connection.execute(delete(nodes).where(or_(nodes.c.name == name, nodes.c.lease_until_ms.is_(None))))
    taken = set(connection.execute(select(nodes.c.number)).scalars())
    number = next((free for free in range(MAX_NODES) if free not in taken), None)
    if number is None:
        raise StoreLostError(f"nodes of one database: at most {MAX_NODES}")
    _insert_node(connection, name, epoch, place, number=number, lease_ms=lease_ms)
    connection.execute(delete(orders).where(orders.c.node == name))  # they were for its earlier process
    connection.execute(update(tables).where(tables.c.owner == name).values(epoch=epoch))
    return Lease(name, epoch, number)


def renew(connection: Connection, lease: Lease, *, lease_ms: int, place: NodePlace, draining: bool) -> None:
    """Extend a lease from now on, and store what its node says about itself.

    Raises:
        StoreLostError: It has ended.
    """
    # A lease that has ended is not renewed, even if nobody has noticed: others may be about to take the tables.
    lasting = update(nodes).where(*own_row(lease), nodes.c.lease_until_ms > db_now_ms())
    said = {**place._asdict(), "draining": draining}
    if not connection.execute(lasting.values(**said, lease_until_ms=db_now_ms() + lease_ms)).rowcount:
        raise lease_lost(lease)


def take_tables(connection: Connection, lease: Lease, *, most: int) -> TakenTables:
    """Take at most `most` tables that no node owns any more; nodes whose lease has ended are removed.

    Raises:
        StoreLostError: The lease of whoever takes has ended itself.
    """
    # First, as it makes all other claims wait: what is found free from here on stays so.
    epoch = _draw_epoch(connection, lease.owner)
    hold_lease(connection, lease)
    ended = connection.execute(_ENDED).scalars().all()
    connection.execute(delete(nodes).where(nodes.c.name.in_(ended)))
    # Their rows are for the next look: removing them now would wait for the connections to end.
    for node, until_ms in connection.execute(_STANDING_STILL).all():
        _cut_off(connection, node, until_ms)
    codes = tuple(connection.execute(_unowned(lease, most)).scalars())
    connection.execute(update(tables).where(tables.c.code.in_(codes)).values(owner=lease.owner, epoch=epoch))
    # Commits read their epoch from here: whatever the node writes from now on has the newest.
    connection.execute(update(nodes).where(*own_row(lease)).values(epoch=epoch))
    return TakenTables(epoch, codes)


def _unowned(lease: Lease, most: int) -> Select[Any]:
    """Return the statement that finds tables which a node may take."""
    # A node that drains takes nothing: what it was given before is free.
    gifts_of_others = select(literal(_GIFT_MARK) + nodes.c.name).where(
        nodes.c.name != lease.owner, nodes.c.draining.is_(False)
    )
    # Any row of `nodes` counts, even one whose lease has ended: a table is free when its owner's row is
    # removed, as that waits for the owner's last commit.
    is_free = (tables.c.owner.not_in(select(nodes.c.name)), tables.c.owner.not_in(gifts_of_others))
    return select(tables.c.code).where(*is_free).order_by(tables.c.created_ms, tables.c.code).limit(most)


def _cut_off(connection: Connection, name: str, until_ms: int) -> None:
    """End what a node has begun until a moment and holds on to: it stands still in the middle of a commit, or its machine is gone."""
    # PostgreSQL's own timeouts do not: they are for a transaction that is idle, not for one whose next
    # statements are still on their way.
    if connection.dialect.name == "postgresql":
        connection.execute(_END_CONNECTIONS, {"program": application_name(name), "until_ms": until_ms})


def is_any_table_free(connection: Connection, lease: Lease) -> bool:
    """Tell whether there is something to `take_tables`."""
    # Asked twice a second by each node, so without the draw of an epoch, which would make all claims wait.
    if connection.execute(_unowned(lease, 1)).first() is not None:
        return True
    ended = select(nodes.c.name).where(nodes.c.lease_until_ms <= db_now_ms()).limit(1)
    return connection.execute(ended).first() is not None


def release(connection: Connection, lease: Lease) -> None:
    """Give a lease back: nothing more is written under it, and its tables are free at once."""
    connection.execute(delete(nodes).where(*own_row(lease)))


def owned_codes(connection: Connection, lease: Lease) -> tuple[str, ...]:
    """Return the codes of a node's tables."""
    owned = select(tables.c.code).where(tables.c.owner == lease.owner).order_by(tables.c.code)
    return tuple(connection.execute(owned).scalars())


def all_nodes(connection: Connection) -> tuple[Node, ...]:
    """Return every process that may write, by name."""
    return tuple(_node(row) for row in connection.execute(_NODES))


def table_owner(connection: Connection, code: str, *, spare_ms: int = 0) -> TableOwner | None:
    """Return who owns a table, nobody if less than `spare_ms` of the lease is left; None if there is no such table."""
    has_spare = or_(nodes.c.lease_until_ms.is_(None), nodes.c.lease_until_ms > db_now_ms() + spare_ms)
    owner = (
        select(nodes.c.name, nodes.c.public, nodes.c.inner)
        .select_from(tables)
        .join(nodes, and_(nodes.c.name == tables.c.owner, has_spare), isouter=True)
        .where(tables.c.code == code)
    )
    row = connection.execute(owner).first()
    return None if row is None else TableOwner(row.name or "", row.public or "", row.inner or "")


def table_codes(connection: Connection) -> tuple[str, ...]:
    """Return the code of every table, the oldest first."""
    by_age = select(tables.c.code).order_by(tables.c.created_ms, tables.c.code)
    if connection.dialect.name != "sqlite":
        return tuple(connection.execute(by_age).scalars())
    # By their bytes: one that is no text any more would keep all others from being read.
    as_hex = by_age.with_only_columns(func.hex(tables.c.code))
    return tuple(
        bytes.fromhex(code).decode(errors="replace") for code in connection.execute(as_hex).scalars()
    )


def leave_order(connection: Connection, node: str, wanted: NodeOrder) -> None:
    """Leave an order for a node, in place of an earlier one about the same."""
    connection.execute(delete(orders).where(orders.c.node == node, orders.c.code == wanted.code))
    connection.execute(insert(orders).values(node=node, code=wanted.code, to=wanted.to))


def has_orders(connection: Connection, node: str) -> bool:
    """Tell whether there are orders for a node."""
    return connection.execute(select(orders.c.code).where(orders.c.node == node).limit(1)).first() is not None


def take_orders(connection: Connection, lease: Lease) -> tuple[NodeOrder, ...]:
    """Return the orders for a node, which are gone then.

    Raises:
        StoreLostError: They are for a process of its name that came later.
    """
    hold_lease(connection, lease)
    found = connection.execute(
        select(orders.c.code, orders.c.to).where(orders.c.node == lease.owner).order_by(orders.c.code)
    )
    taken = tuple(NodeOrder(code, to) for code, to in found)
    connection.execute(delete(orders).where(orders.c.node == lease.owner))
    return taken


def count_unowned(connection: Connection) -> int:
    """Return how many tables belong to no node whose lease lasts, including those given away and not yet taken."""
    live = select(nodes.c.name).where(_LEASE_LASTS)
    count: int = connection.execute(
        select(func.count()).select_from(tables).where(tables.c.owner.not_in(live))
    ).scalar_one()
    return count


def gift_rows(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the parameters with which tables are given away."""
    return [{"given_code": row["code"], "given": f"{_GIFT_MARK}{row['to']}"} for row in rows]


def _draw_epoch(connection: Connection, owner: str) -> int:
    """Return a new epoch, which is the process's from now on; every other claim waits for the end of this transaction."""
    # The update locks the one row until the end of the transaction.
    connection.execute(update(ownership).values(epoch=ownership.c.epoch + 1))
    epoch: int = connection.execute(select(ownership.c.epoch)).scalar_one()
    newest: int = connection.execute(_NEWEST_CLAIM).scalar_one()
    # Only if the row is damaged: under an epoch that was used, the same nonce would seal two texts (decision 17).
    if epoch <= newest:
        epoch = newest + 1
        connection.execute(update(ownership).values(epoch=epoch))
    connection.execute(insert(claims).values(epoch=epoch, node=owner, at_ms=db_now_ms()))
    return epoch


def _insert_node(
    connection: Connection,
    name: str,
    epoch: int,
    place: NodePlace,
    *,
    number: int | None,
    lease_ms: int | None,
) -> None:
    row = {
        "name": name,
        "number": number,
        "claimed": epoch,
        "epoch": epoch,
        **place._asdict(),
        "draining": False,
    }
    until = None if lease_ms is None else db_now_ms() + lease_ms
    connection.execute(insert(nodes).values(**row, started_ms=db_now_ms(), lease_until_ms=until))


def lease_lost(lease: Lease) -> StoreLostError:
    """Return the error for a process that may write no more."""
    came = f"{lease.owner} came under epoch {lease.epoch}"
    return StoreLostError(f"another server has taken the tables over, or the lease has ended: {came}")


def _node(row: Any) -> Node:
    name, number, claimed, epoch, left_ms, public, inner, version, draining, started_ms, held = row
    place = NodePlace(public, inner, version)
    return Node(name, number, claimed, epoch, left_ms, place, draining, started_ms, held)


def epoch(connection: Connection, lease: Lease) -> int:
    """Return the newest epoch under which a process has claimed anything.

    Raises:
        StoreLostError: It may write no more.
    """
    found: int | None = connection.execute(select(nodes.c.epoch).where(*own_row(lease))).scalar()
    if found is None:
        raise lease_lost(lease)
    return found


def hold_lease(connection: Connection, lease: Lease) -> int:
    """Return the epoch to write under, and keep the lease from being taken until the transaction ends.

    Raises:
        StoreLostError: Nothing may be written any more.
    """
    found: int | None = connection.exec_driver_sql(*fence_sql(connection.dialect, lease)).scalar()
    if found is None:
        raise lease_lost(lease)
    return found


_RECORD_COUNT = select(func.coalesce(func.max(records.c.k) + 1, 0)).where(records.c.mid == matches.c.mid)
_UNDER_WAY = (
    select(matches.c.mid, _RECORD_COUNT.scalar_subquery())
    .join(tables, tables.c.match == matches.c.mid)
    .where(matches.c.ended_ms.is_(None))
)


def raise_epoch(connection: Connection, epoch: int) -> PlayUnderWay:
    """Raise the epoch of the next claim above this one, and return what is under way.

    Raises:
        StoreError: A node runs on the database, or one did when it was dumped, and its lease lasts.
    """
    # As claims do: no node comes in between the look and the end of the transaction.
    connection.execute(select(ownership.c.epoch).with_for_update())
    # A lone server's lease has no end, and a dump of its database still shows it.
    running = [node.name for node in all_nodes(connection) if node.left_ms is not None and node.left_ms > 0]
    if running:
        raise StoreError(f"expected a database on which no server runs, got nodes: {', '.join(running)}")
    # What is sealed for players is numbered from the epoch: under one that was used since the dump, the same
    # nonce would seal two texts (decision 17).
    connection.execute(update(ownership).where(ownership.c.epoch < epoch).values(epoch=epoch))
    found = dict(tuple(row) for row in connection.execute(_UNDER_WAY))
    return PlayUnderWay(found, frozenset(connection.execute(select(terms.c.th).distinct()).scalars()))

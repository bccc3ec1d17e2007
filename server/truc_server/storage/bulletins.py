"""What nodes tell each other, as statements in the caller's transaction: beside the log, never in its way.

A node numbers its bulletins, and what each has changed has its number; whoever knows a number asks for what came after it.
Numbers begin anew with each claim of the name, so that nothing of an earlier process is taken for the present one's.
Invariant: a process that may write no more tells nothing.

PostgreSQL also says that some node has told something. That is a hint and nothing else: what was told is read as ever, also
where no hint comes.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

from sqlalchemy import Connection, Engine, Table, and_, delete, func, or_, select

from truc_protocol.codec import dec, enc
from truc_server.storage import Lease, NodePlace, PlayerKind, StoreError
from truc_server.storage.leases import db_now_ms, hold_lease
from truc_server.storage.node_news import (
    Bulletin,
    BulletinMark,
    CrowdNews,
    LineKind,
    LineNews,
    NodeNews,
    PlayerNews,
    SeatNews,
    TableNews,
)
from truc_server.storage.schema import board, bulletins, crowds, nodes, online, said, tables
from truc_server.storage.statements import upsert

CHANNEL: Final = "truc"
"""The channel of PostgreSQL's notifications: each says that there is something to read, and not what."""
# What is over stays so long that every node has learned of it: one that hears nothing for a lease, a minute
# at the longest, may write no more, and begins anew.
KEPT_MS: Final = 300_000
_REST_BYTES: Final = 65_536

_PASSING: Final = (online, crowds, said)
"""What goes with the process that told it; a table stays, and another node takes it."""


def tell(connection: Connection, lease: Lease, bulletin: Bulletin) -> None:
    """Tell the other nodes what has changed.

    Raises:
        StoreLostError: This process may write no more.
    """
    hold_lease(connection, lease)
    # With a process's first bulletin everything goes that its name has told before; its tables stay, as
    # others may have taken them and tell of them now.
    own = (bulletins.c.node == lease.owner, bulletins.c.claimed == lease.epoch)
    before = connection.execute(select(bulletins.c.n).where(*own)).scalar()
    if before is None:
        for table in _PASSING:
            connection.execute(delete(table).where(table.c.node == lease.owner))
    n = (before or 0) + 1
    _put(connection, bulletins, [{"node": lease.owner, "claimed": lease.epoch, "n": n}])
    head = {"node": lease.owner, "n": n, "at_ms": connection.execute(select(db_now_ms())).scalar_one()}
    held = _own(connection, lease, bulletin.tables)
    _put(connection, board, [{**head, **_table_row(told)} for told in held])
    _put(connection, online, [{**head, **told._asdict()} for told in bulletin.players])
    _put(connection, crowds, [{**head, **told._asdict()} for told in bulletin.crowds])
    _put(connection, said, [{**head, **told._asdict()} for told in bulletin.lines])
    # Delivered with the commit, so whoever hears it finds the bulletin.
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_notify(CHANNEL, "")))


def _own(connection: Connection, lease: Lease, told: Sequence[TableNews]) -> list[TableNews]:
    """Leave out tables that belong to another node by now: it tells of them itself."""
    codes = [table.code for table in told]
    found = connection.execute(select(tables.c.code, tables.c.owner).where(tables.c.code.in_(codes)))
    owners: dict[str, str] = {row.code: row.owner for row in found}
    return [table for table in told if owners.get(table.code, lease.owner) == lease.owner]


def _put(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        connection.execute(upsert(connection.dialect.name, table), list(rows))


def _table_row(told: TableNews) -> dict[str, Any]:
    flags = [told.is_playing, told.is_behind]
    # Names and networks as bytes: the encoding knows no other text than ASCII.
    network = None if told.network is None else told.network.encode()
    seats = [[seat.player, seat.name.encode()] for seat in told.seats]
    rest = enc([told.creator, network, told.created_ms, flags, seats])
    return {"code": told.code, "reason": told.reason, "notice": told.notice, "rest": rest}


def news_of_others(
    connection: Connection, lease: Lease, known: Mapping[str, BulletinMark]
) -> tuple[NodeNews, ...]:
    """Return every other node that may write now and has told anything, with what it has told beyond what is `known`."""
    columns = (nodes.c[field] for field in ("name", "draining", *NodePlace._fields))
    told = (
        select(*columns, bulletins.c.claimed, bulletins.c.n)
        # Of this claim: a process that came again has told nothing yet, whatever the one before it said.
        .join(bulletins, and_(bulletins.c.node == nodes.c.name, bulletins.c.claimed == nodes.c.claimed))
        .where(nodes.c.lease_until_ms > db_now_ms(), nodes.c.name != lease.owner)
        .order_by(nodes.c.name)
    )
    found = connection.execute(told).all()
    now_ms: int = connection.execute(select(db_now_ms())).scalar_one()
    return tuple(_heard(connection, row, known.get(row.name), now_ms) for row in found)


def _heard(connection: Connection, row: Any, known: BulletinMark | None, now_ms: int) -> NodeNews:
    mark = BulletinMark(row.claimed, row.n)
    after = known.n if known is not None and known.claimed == mark.claimed else 0
    news = _news(connection, row.name, after, mark.n, now_ms=now_ms) if mark.n > after else Bulletin()
    place = NodePlace(row.public, row.inner, row.version)
    return NodeNews(row.name, place, row.draining, mark, news)


def _news(connection: Connection, node: str, after: int, until: int, *, now_ms: int) -> Bulletin:
    # Not beyond `until`: a bulletin that comes meanwhile is heard the next time, as a whole.
    told, players, crowd = (
        connection.execute(select(table).where(table.c.node == node, table.c.n.between(after + 1, until)))
        for table in (board, online, crowds)
    )
    # Without kinds that a newer version may tell of and this one does not know.
    new = (said.c.node == node, said.c.n.between(after + 1, until), said.c.what.in_(list(LineKind)))
    lines = connection.execute(select(said).where(*new).order_by(said.c.serial))
    return Bulletin(
        tuple(_table(row, now_ms) for row in told),
        tuple(
            PlayerNews(row.player, PlayerKind(row.kind), row.name, row.is_house, row.is_here)
            for row in players
        ),
        tuple(CrowdNews(row.network, row.connections, row.came, row.failed) for row in crowd),
        tuple(_line(row) for row in lines),
    )


def _line(row: Any) -> LineNews:
    kind = PlayerKind(row.kind)
    return LineNews(row.serial, LineKind(row.what), kind, row.player, row.tag, row.name, row.text)


def _table(row: Any, now_ms: int) -> TableNews:
    creator, network, created_ms, flags, seats = dec(row.rest, _REST_BYTES)
    is_playing, is_behind = flags
    return TableNews(
        row.code,
        row.reason,
        row.notice,
        creator,
        None if network is None else network.decode(),
        created_ms,
        is_playing,
        is_behind,
        tuple(SeatNews(player, name.decode()) for player, name in seats),
        max(0, now_ms - row.at_ms),
    )


def stray_listings(connection: Connection, lease: Lease) -> tuple[str, ...]:
    """Return the codes of tables that were told of but are this node's own, or are stored no longer."""
    is_stray = or_(tables.c.code.is_(None), tables.c.owner == lease.owner)
    found = (
        select(board.c.code)
        .join(tables, tables.c.code == board.c.code, isouter=True)
        .where(board.c.reason.is_(None), is_stray)
        .order_by(board.c.code)
    )
    return tuple(connection.execute(found).scalars())


def sweep_bulletins(connection: Connection) -> None:
    """Drop what has been over for a while, and what nodes that are gone have told."""
    until = db_now_ms() - KEPT_MS
    connection.execute(delete(board).where(board.c.reason.is_not(None), board.c.at_ms < until))
    # Not bots of the house: their row tells that a node has started them, wherever they are connected.
    connection.execute(delete(online).where(~online.c.is_here, ~online.c.is_house, online.c.at_ms < until))
    connection.execute(delete(crowds).where(crowds.c.connections == 0, crowds.c.at_ms < until))
    connection.execute(delete(said).where(said.c.at_ms < until))
    live = select(nodes.c.name)
    for table in (*_PASSING, bulletins):
        connection.execute(delete(table).where(table.c.node.not_in(live)))


def open_listener(engine: Engine) -> "BulletinListener | None":
    """Return a listener for news from other nodes; None where the database has none. Blocks.

    Raises:
        SQLAlchemyError: The database cannot be reached.
        StoreError: It was reached, and the connection is lost.
    """
    if engine.dialect.name != "postgresql":
        return None
    pooled = engine.raw_connection()
    driver: Any = pooled.driver_connection
    pooled.detach()  # or the pool would take it back when `pooled` is let go, and nothing would be heard
    try:
        # LISTEN counts from its commit, and a transaction that stayed open would be ended as an idle one.
        driver.autocommit = True
        driver.execute(f"LISTEN {CHANNEL}")
    except Exception as error:
        driver.close()
        raise _connection_lost(error) from error
    return BulletinListener(driver)


class BulletinListener:
    """A listener: its connection is only read, and waiting for its `socket` keeps no thread busy."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver

    def __enter__(self) -> Self:
        """Close it at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self._driver.close()

    @property
    def socket(self) -> int:
        """What can be read when there may be something to hear."""
        number: int = self._driver.pgconn.socket
        return number

    def has_news(self) -> bool:
        """Tell whether anything was told since the last time; never blocks.

        Raises:
            StoreError: The connection is lost.
        """
        found = 0
        try:
            self._driver.pgconn.consume_input()
            while self._driver.pgconn.notifies() is not None:
                found += 1
        except Exception as error:
            raise _connection_lost(error) from error
        return found > 0


def _connection_lost(error: Exception) -> StoreError:
    said = str(error).partition("\n")[0]
    return StoreError(f"the database says nothing any more: {said}")

"""The statements behind a commit: what each kind of write does, and a shortcut for commits of records alone.

Consecutive writes of one kind become one statement with many rows. Invariant: nothing here commits.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import (
    BindParameter,
    Connection,
    Dialect,
    Executable,
    Integer,
    Table,
    bindparam,
    delete,
    insert,
    select,
    update,
)
from sqlalchemy.exc import DBAPIError, IntegrityError

from truc_protocol.codec import enc
from truc_server import storage
from truc_server.storage import AddRecord, Lease, StoreLostError, Write, leases, schema
from truc_server.storage import ratings as standings
from truc_server.storage.schema import (
    chat,
    guests,
    ignored,
    match_players,
    matches,
    ratings,
    seats,
    secrets,
    tables,
    terms,
)

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite

ADD_RECORD: Final = insert(schema.records)
"""A record and the epoch it is written under; the columns are in the order of the fields."""


def append_records(connection: Connection, lease: Lease, writes: Sequence[AddRecord]) -> None:
    """Append records in a transaction of their own.

    Raises:
        StoreLostError: The lease has ended, or a position is taken.
        DBAPIError: The database failed.
    """
    dialect, driver = connection.dialect, connection.connection
    try:
        with closing(driver.cursor()) as cursor:
            _append(cursor, dialect, lease, writes)
        driver.commit()
    except dialect.loaded_dbapi.Error as error:
        _roll_back(connection, driver, error)
        if isinstance(error, dialect.loaded_dbapi.IntegrityError):
            raise position_taken(writes, error) from error
        raise DBAPIError(None, None, error, hide_parameters=True) from error
    except BaseException:  # whatever it is, nothing stays half done
        driver.rollback()
        raise


def _roll_back(connection: Connection, driver: Any, error: Any) -> None:
    """Roll back; a connection that is lost, or cannot even do that, is not used again."""
    if not connection.dialect.is_disconnect(error, driver, None):
        with suppress(connection.dialect.loaded_dbapi.Error):
            driver.rollback()
            return
    connection.invalidate(error)


def _append(cursor: Any, dialect: Dialect, lease: Lease, writes: Sequence[AddRecord]) -> None:
    if dialect.name == "sqlite":  # other drivers begin by themselves; IMMEDIATE as in engine.py
        cursor.execute("BEGIN IMMEDIATE")
    # The fence comes first. From then on whoever takes the lease over waits for this commit; if they came
    # before, no row is found.
    cursor.execute(*leases.fence_sql(dialect, lease))
    found = cursor.fetchone()
    if found is None:
        raise leases.lease_lost(lease)
    cursor.executemany(sql_text(dialect, ADD_RECORD), _record_rows(dialect, writes, found[0]))


def _record_rows(dialect: Dialect, writes: Sequence[Any], epoch: int) -> Sequence[Any]:
    """Return records as rows of the database's driver."""
    # Where a row goes by place, a write is one as it stands: half the cost of a long commit.
    if dialect.positional:
        return [(*write, epoch) for write in writes]
    return [{**write._asdict(), "epoch": epoch} for write in writes]


@cache
def sql_text(dialect: Dialect, statement: Any) -> str:
    """Return a statement as the driver of a database takes it."""
    return str(statement.compile(dialect=dialect))


def position_taken(writes: Sequence[object], error: BaseException | None) -> StoreLostError:
    """Return the error for a position that is taken: another server has written there."""
    return StoreLostError(f"expected free positions for {len(writes)} records: {error}")


Rows = list[dict[str, Any]]

_UPSERTS: Final[Mapping[type[Write], Table]] = {
    storage.SaveTable: schema.tables,
    storage.SaveSeat: schema.seats,
    storage.SaveGuest: schema.guests,
    storage.SaveSecrets: schema.secrets,
    storage.SaveTerms: schema.terms,
    storage.AddPlayer: schema.match_players,
    storage.AddWish: schema.wishes,
    storage.SaveChat: schema.chat,
    storage.SaveIgnored: schema.ignored,
}
"""The writes that set a row, whose fields are the columns of a table."""

_NOT_UPDATED: Final = {"tables": ("owner", "epoch"), "members": ("since_ms",)}
"""Columns that are set in a new row only: who owns a table is changed by claims and gifts alone; a member stays one since then."""

_CODE: Final[BindParameter[str]] = bindparam("code")
# Not `player`: in an update SQLAlchemy keeps the names of the columns for itself.
_FORGOTTEN: Final[BindParameter[bytes]] = bindparam("forgotten")
# A forgotten line leaves its number behind, which is not used again.
_EMPTY_LINE: Final = {"player": b"", "tag": "", "name": "", "seat": None, "text": "", "at_ms": 0}
_PLAYED: Final = select(match_players.c.mid).where(match_players.c.player == _FORGOTTEN)
_STATEMENTS: Final[Mapping[type[Write], tuple[Executable, ...]]] = {
    storage.DropTable: (
        delete(seats).where(seats.c.table == _CODE),
        delete(terms).where(terms.c.table == _CODE),
        delete(chat).where(chat.c.table == _CODE),
        delete(tables).where(tables.c.code == _CODE),
    ),
    storage.ClearSeat: (
        delete(seats).where(seats.c.table == bindparam("table"), seats.c.seat == bindparam("seat")),
    ),
    storage.DropSecrets: (delete(secrets).where(secrets.c.th == bindparam("th")),),
    storage.DropTerms: (delete(terms).where(terms.c.table == bindparam("table")),),
    storage.SaveMatch: (insert(matches),),
    storage.EndMatch: (update(matches).where(matches.c.mid == bindparam("ended")),),
    storage.SaveChat: (
        delete(chat).where(
            chat.c.table == bindparam("table"),
            chat.c.n <= bindparam("n", type_=Integer) - storage.KEPT_CHAT_LINES,
        ),
    ),
    storage.DropIgnored: (
        delete(ignored).where(ignored.c.player == bindparam("player"), ignored.c.tag == bindparam("tag")),
    ),
    storage.GiveTable: (
        update(tables).where(tables.c.code == bindparam("given_code")).values(owner=bindparam("given")),
    ),
    storage.ForgetPlayer: (
        delete(guests).where(guests.c.id == _FORGOTTEN),
        update(chat).where(chat.c.player == _FORGOTTEN).values(_EMPTY_LINE),
        delete(ignored).where(ignored.c.player == _FORGOTTEN),
        delete(ratings).where(ratings.c.player == _FORGOTTEN),
        # Whoever else might read them would find the player in them.
        update(matches)
        .where(matches.c.mid.in_(_PLAYED), matches.c.readers != "seats")
        .values(readers="seats"),
    ),
}
"""What else a write does; its fields are the parameters."""


def apply(connection: Connection, lease: Lease, epoch: int, writes: Sequence[Write]) -> None:
    """Carry out `writes`, which are all of one kind, under an epoch of the lease.

    Raises:
        StoreLostError: A record's position is taken.
    """
    kind = type(writes[0])
    if kind is AddRecord:
        _add_records(connection, writes, epoch)
        return
    if kind is storage.RateMatch:
        standings.rate(connection, [write for write in writes if isinstance(write, storage.RateMatch)])
        return
    rows = _rows(kind, lease, epoch, writes)
    if kind in _UPSERTS:
        connection.execute(upsert(connection.dialect.name, _UPSERTS[kind]), rows)
    for statement in _STATEMENTS.get(kind, ()):
        connection.execute(statement, rows)


def _rows(kind: type[Write], lease: Lease, epoch: int, writes: Sequence[Write]) -> Rows:
    """Return the fields of writes as their statements take them."""
    rows = [write._asdict() for write in writes]
    if kind is storage.SaveTable:
        return [{**row, "owner": lease.owner, "epoch": epoch} for row in rows]
    if kind is storage.GiveTable:
        return leases.gift_rows(rows)
    if kind is storage.SaveMatch:
        return [{**row, "setup": enc(row["setup"])} for row in rows]
    if kind is storage.EndMatch:
        return [{"ended": row.pop("mid"), **row} for row in rows]
    return [{"forgotten": row["player"]} for row in rows] if kind is storage.ForgetPlayer else rows


def _add_records(connection: Connection, writes: Sequence[Write], epoch: int) -> None:
    dialect = connection.dialect
    try:
        connection.exec_driver_sql(sql_text(dialect, ADD_RECORD), _record_rows(dialect, writes, epoch))
    except IntegrityError as error:
        # The key alone keeps two records from one position, whatever went wrong with leases.
        raise position_taken(writes, error.orig) from error


@cache
def upsert(dialect: str, table: Table) -> Executable:
    """Return the statement that sets rows of a table, those there are and those there are not yet."""
    # Core has no portable upsert; both databases spell it alike, each in a module of its own.
    statement = _insert_of(dialect)(table)
    kept = _NOT_UPDATED.get(table.name, ())
    fresh = {
        column.key: statement.excluded[column.key]
        for column in table.columns
        if not (column.primary_key or column.key in kept)
    }
    upsert: Executable = (
        statement.on_conflict_do_update(index_elements=table.primary_key, set_=fresh)
        if fresh
        else statement.on_conflict_do_nothing(index_elements=table.primary_key)
    )
    return upsert


def _insert_of(dialect: str) -> "type[postgresql.Insert | sqlite.Insert]":
    if dialect == "postgresql":
        from sqlalchemy.dialects.postgresql import Insert as PostgresqlInsert

        return PostgresqlInsert
    from sqlalchemy.dialects.sqlite import Insert as SqliteInsert

    return SqliteInsert

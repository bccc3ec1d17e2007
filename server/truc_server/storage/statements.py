"""The statements behind a commit: the fence that opens it, and what each kind of write does.

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
from truc_server.storage import AddRecord, Lease, StoreLostError, Write, schema
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
NEWEST_CLAIM: Final = select(schema.ownership.c.epoch).with_for_update(read=True)


def append(connection: Connection, lease: Lease, writes: Sequence[AddRecord]) -> bool:
    """Append records in a transaction of its own; False, and nothing written, if tables may have been claimed since.

    Raises:
        StoreLostError: A position is taken.
        DBAPIError: The database failed.
    """
    dialect, driver = connection.dialect, connection.connection.dbapi_connection
    if driver is None:
        return False
    try:
        with closing(driver.cursor()) as cursor:
            is_ours = _append(cursor, dialect, lease, writes)
        (driver.commit if is_ours else driver.rollback)()
    except dialect.loaded_dbapi.Error as error:
        _give_up(connection, driver, error)
        if isinstance(error, dialect.loaded_dbapi.IntegrityError):
            raise taken(writes, error) from error
        raise DBAPIError(None, None, error, hide_parameters=True) from error
    except BaseException:  # whatever it is, nothing stays half done
        driver.rollback()
        raise
    return is_ours


def _give_up(connection: Connection, driver: Any, error: Any) -> None:
    """Roll back; a connection that is lost, or cannot even do that, is not used again."""
    if not connection.dialect.is_disconnect(error, driver, None):
        with suppress(connection.dialect.loaded_dbapi.Error):
            driver.rollback()
            return
    connection.invalidate(error)


def _append(cursor: Any, dialect: Dialect, lease: Lease, writes: Sequence[AddRecord]) -> bool:
    if dialect.name == "sqlite":  # other drivers begin by themselves
        cursor.execute("BEGIN IMMEDIATE")
    cursor.execute(text_of(dialect, NEWEST_CLAIM))
    if cursor.fetchone() != (lease.epoch,):
        return False
    # The columns are in the order of the fields.
    rows = writes if dialect.positional else [write._asdict() for write in writes]
    cursor.executemany(text_of(dialect, ADD_RECORD), rows)
    return True


@cache
def text_of(dialect: Dialect, statement: Any) -> str:
    """Return a statement as the driver of a database takes it."""
    return str(statement.compile(dialect=dialect))


def taken(writes: Sequence[object], error: BaseException | None) -> StoreLostError:
    """Return the error for a position that is taken: another server has written there."""
    return StoreLostError(f"expected free positions for {len(writes)} records: {error}")


Name = str | bytes
Rows = list[dict[str, Any]]

_UPSERTS: Final[Mapping[type[Write], Table]] = {
    storage.SaveTable: schema.tables,
    storage.SaveSeat: schema.seats,
    storage.SaveGuest: schema.guests,
    storage.SaveSecrets: schema.secrets,
    storage.SaveTerms: schema.terms,
    storage.AddPlayer: schema.match_players,
    storage.SaveChat: schema.chat,
    storage.SaveIgnored: schema.ignored,
}
"""The writes that set a row, whose fields are the columns of a table."""

_CODE: Final[BindParameter[str]] = bindparam("code")
_GONE: Final[BindParameter[bytes]] = bindparam(
    "forgotten"
)  # not `player`: an update keeps the names of its columns to itself
# A forgotten line leaves its number behind, which is not used again.
_EMPTIED: Final = {"player": b"", "tag": "", "name": "", "seat": None, "text": "", "at_ms": 0}
_PLAYED: Final = select(match_players.c.mid).where(match_players.c.player == _GONE)
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
            chat.c.table == bindparam("table"), chat.c.n <= bindparam("n", type_=Integer) - storage.KEPT_LINES
        ),
    ),
    storage.DropIgnored: (
        delete(ignored).where(ignored.c.player == bindparam("player"), ignored.c.tag == bindparam("tag")),
    ),
    storage.ForgetPlayer: (
        delete(guests).where(guests.c.id == _GONE),
        update(chat).where(chat.c.player == _GONE).values(_EMPTIED),
        delete(ignored).where(ignored.c.player == _GONE),
        delete(ratings).where(ratings.c.player == _GONE),
        update(matches)
        .where(matches.c.mid.in_(_PLAYED), matches.c.readers != "seats")
        .values(readers="seats"),
    ),
}
"""What else a write does; its fields are the parameters."""

_FENCED: Final[Mapping[type[Write], str]] = {
    **dict.fromkeys((storage.SaveTable, storage.DropTable), "code"),
    **dict.fromkeys(
        (
            storage.SaveSeat,
            storage.ClearSeat,
            storage.SaveChat,
            storage.SaveTerms,
            storage.DropTerms,
            storage.SaveMatch,
        ),
        "table",
    ),
    **dict.fromkeys((AddRecord, storage.EndMatch, storage.AddPlayer, storage.RateMatch), "mid"),
}
"""The field that names the table or the match whose owner alone may write this; the other writes belong to no table."""

_CREATED: Final[Mapping[type[Write], str]] = {storage.SaveTable: "code", storage.SaveMatch: "mid"}
_TABLE_HOLDERS: Final = (
    select(tables.c.code, tables.c.owner, tables.c.epoch)
    .where(tables.c.code.in_(bindparam("names", expanding=True)))
    .with_for_update(read=True)
)
_MATCH_HOLDERS: Final = (
    select(matches.c.mid, tables.c.owner, tables.c.epoch)
    .join(tables, tables.c.code == matches.c.table)
    .where(matches.c.mid.in_(bindparam("names", expanding=True)))
    .with_for_update(read=True, of=tables)
)


def check_fence(connection: Connection, lease: Lease, writes: Sequence[Write]) -> None:
    """Make sure that `lease` owns every table written to, and keep it so until the commit.

    Raises:
        StoreLostError: Somebody else claimed one, or removed it.
    """
    if connection.execute(NEWEST_CLAIM).scalar_one() == lease.epoch:
        return  # every claim raises it, so no table has changed hands since ours
    names, created = _named(writes, _FENCED), _named(writes, _CREATED)
    codes = sorted(name for name in names if isinstance(name, str))
    mids = sorted(name for name in names if isinstance(name, bytes))
    holders: dict[Name, Lease] = {}
    for statement, wanted in ((_TABLE_HOLDERS, codes), (_MATCH_HOLDERS, mids)):
        if wanted:
            rows = connection.execute(statement, {"names": wanted})
            holders |= {name: Lease(owner, epoch) for name, owner, epoch in rows}
    for name in names:
        holder = holders.get(name, lease if name in created else None)
        if holder != lease:
            what = f"table {name}" if isinstance(name, str) else f"the table of match {name.hex()[:16]}"
            now = "no such table" if holder is None else f"{holder.owner} owns it now"
            raise StoreLostError(
                f"another server has taken the tables over: {what} was of {lease.owner}, {now}"
            )


def _named(writes: Sequence[Write], fields: Mapping[type[Write], str]) -> set[Name]:
    return {getattr(write, fields[type(write)]) for write in writes if type(write) in fields}


def apply(connection: Connection, lease: Lease, writes: Sequence[Write]) -> None:
    """Carry out `writes`, which are all of one kind.

    Raises:
        StoreLostError: A record's position is taken.
    """
    kind = type(writes[0])
    if kind is AddRecord:
        _add_records(connection, writes)
        return
    if kind is storage.RateMatch:
        standings.rate(connection, [write for write in writes if isinstance(write, storage.RateMatch)])
        return
    rows = _rows(kind, lease, writes)
    if kind in _UPSERTS:
        connection.execute(_upsert(connection.dialect.name, _UPSERTS[kind]), rows)
    for statement in _STATEMENTS.get(kind, ()):
        connection.execute(statement, rows)


def _rows(kind: type[Write], lease: Lease, writes: Sequence[Write]) -> Rows:
    """Return the fields of writes as their statements take them."""
    rows = [write._asdict() for write in writes]
    if kind is storage.SaveTable:
        return [{**row, **lease._asdict(), "lease_until_ms": None} for row in rows]
    if kind is storage.SaveMatch:
        return [{**row, "setup": enc(row["setup"])} for row in rows]
    if kind is storage.EndMatch:
        return [{"ended": row.pop("mid"), **row} for row in rows]
    return [{"forgotten": row["player"]} for row in rows] if kind is storage.ForgetPlayer else rows


def _add_records(connection: Connection, writes: Sequence[Write]) -> None:
    dialect = connection.dialect
    try:
        if dialect.positional:
            # The columns are in the order of the fields, so that a write is a row: half the cost of a long commit.
            connection.exec_driver_sql(text_of(dialect, ADD_RECORD), [tuple(write) for write in writes])
        else:
            connection.execute(ADD_RECORD, [write._asdict() for write in writes])
    except IntegrityError as error:
        raise taken(writes, error.orig) from error


@cache
def _upsert(dialect: str, table: Table) -> Executable:
    # Core has no portable upsert; both databases spell it alike, each in a module of its own.
    statement = _insert_of(dialect)(table)
    fresh = {column.key: statement.excluded[column.key] for column in table.columns if not column.primary_key}
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

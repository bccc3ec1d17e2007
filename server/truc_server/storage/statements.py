"""The statements behind a commit: the fence that opens it, and what each kind of write does.

Consecutive writes of one kind become one statement with many rows. Invariant: nothing here commits.
"""

from collections.abc import Sequence
from contextlib import closing, suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, assert_never

from sqlalchemy import Connection, Dialect, Executable, Table, bindparam, delete, insert, select, update
from sqlalchemy.exc import DBAPIError, IntegrityError

from truc_protocol.codec import enc
from truc_server.storage import ratings as standings
from truc_server.storage import schema
from truc_server.storage.errors import StoreLostError
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
from truc_server.storage.writes import (
    KEPT_LINES,
    AddPlayer,
    AddRecord,
    ClearSeat,
    CompanyChange,
    DropIgnored,
    DropSecrets,
    DropTable,
    DropTerms,
    EndMatch,
    ForgetPlayer,
    Lease,
    LobbyChange,
    MatchChange,
    RateMatch,
    SaveChat,
    SaveGuest,
    SaveIgnored,
    SaveMatch,
    SaveSeat,
    SaveSecrets,
    SaveTable,
    SaveTerms,
    Write,
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

_SAVE_MATCH: Final = insert(matches)
_END_MATCH: Final = update(matches).where(matches.c.mid == bindparam("ended"))
_DROP_TABLE: Final = delete(tables).where(tables.c.code == bindparam("code"))
_DROP_SEATS: Final = delete(seats).where(seats.c.table == bindparam("code"))
_DROP_TERMS: Final = delete(terms).where(terms.c.table == bindparam("table"))
_DROP_CHAT: Final = delete(chat).where(chat.c.table == bindparam("code"))
_TRIM_CHAT: Final = delete(chat).where(
    chat.c.table == bindparam("trimmed"), chat.c.n <= bindparam("newest") - KEPT_LINES
)
_DROP_IGNORED: Final = delete(ignored).where(
    ignored.c.player == bindparam("player"), ignored.c.tag == bindparam("tag")
)
# A forgotten line leaves its number behind, which is not used again.
_EMPTIED: Final = {"player": b"", "tag": "", "name": "", "seat": None, "text": "", "at_ms": 0}
_PLAYED: Final = select(match_players.c.mid).where(match_players.c.player == bindparam("forgotten"))
_FORGET: Final = (
    delete(guests).where(guests.c.id == bindparam("forgotten")),
    update(chat).where(chat.c.player == bindparam("forgotten")).values(_EMPTIED),
    delete(ignored).where(ignored.c.player == bindparam("forgotten")),
    delete(ratings).where(ratings.c.player == bindparam("forgotten")),
    update(matches).where(matches.c.mid.in_(_PLAYED), matches.c.readers != "seats").values(readers="seats"),
)
_CLEAR_SEAT: Final = delete(seats).where(
    seats.c.table == bindparam("table"), seats.c.seat == bindparam("seat")
)
_DROP_SECRETS: Final = delete(secrets).where(secrets.c.th == bindparam("th"))
_TABLE_HOLDERS: Final = (
    select(tables.c.code, tables.c.owner, tables.c.epoch)
    .where(tables.c.code.in_(bindparam("codes", expanding=True)))
    .with_for_update(read=True)
)
_MATCH_HOLDERS: Final = (
    select(matches.c.mid, tables.c.owner, tables.c.epoch)
    .join(tables, tables.c.code == matches.c.table)
    .where(matches.c.mid.in_(bindparam("mids", expanding=True)))
    .with_for_update(read=True, of=tables)
)


class _Touched(NamedTuple):
    """The tables and matches that a commit writes to, and which of them it creates."""

    codes: set[str]
    mids: set[bytes]
    created: set[Name]


def check_fence(connection: Connection, lease: Lease, writes: Sequence[Write]) -> None:
    """Make sure that `lease` owns every table written to, and keep it so until the commit.

    Raises:
        StoreLostError: Somebody else claimed one, or removed it.
    """
    if connection.execute(NEWEST_CLAIM).scalar_one() == lease.epoch:
        return  # every claim raises it, so no table has changed hands since ours
    touched = _touched(writes)
    holders: dict[Name, Lease] = {}
    if touched.codes:
        holders |= _holders(connection, _TABLE_HOLDERS, {"codes": sorted(touched.codes)})
    if touched.mids:
        holders |= _holders(connection, _MATCH_HOLDERS, {"mids": sorted(touched.mids)})
    names: set[Name] = {*touched.codes, *touched.mids}
    for name in names:
        holder = holders.get(name, lease if name in touched.created else None)
        if holder != lease:
            what = f"table {name}" if isinstance(name, str) else f"the table of match {name.hex()[:16]}"
            now = "no such table" if holder is None else f"{holder.owner} owns it now"
            raise StoreLostError(
                f"another server has taken the tables over: {what} was of {lease.owner}, {now}"
            )


def apply(connection: Connection, lease: Lease, writes: Sequence[Write]) -> None:
    """Carry out `writes`, which are all of one kind.

    Raises:
        StoreLostError: A record's position is taken.
    """
    match writes[0]:
        case AddRecord():
            _add_records(connection, writes)
        case SaveTable() | DropTable() | SaveSeat() | ClearSeat() | SaveGuest() as first:
            _apply_to_lobby(connection, lease, first, [write._asdict() for write in writes])
        case (
            SaveSecrets() | DropSecrets() | SaveTerms() | DropTerms() | SaveMatch() | AddPlayer() | EndMatch()
        ) as first:
            _apply_to_matches(connection, first, [write._asdict() for write in writes])
        case SaveChat() | SaveIgnored() | DropIgnored() | ForgetPlayer() | RateMatch() as first:
            _apply_to_company(connection, first, [write._asdict() for write in writes])
        case _ as never:
            assert_never(never)


def _apply_to_lobby(connection: Connection, lease: Lease, first: LobbyChange, rows: Rows) -> None:
    match first:
        case SaveTable():
            owned = [{**row, **lease._asdict(), "lease_until_ms": None} for row in rows]
            connection.execute(_upsert(connection.dialect.name, tables), owned)
        case DropTable():
            connection.execute(_DROP_SEATS, rows)
            connection.execute(_DROP_TERMS, [{"table": row["code"]} for row in rows])
            connection.execute(_DROP_CHAT, rows)
            connection.execute(_DROP_TABLE, rows)
        case SaveSeat():
            connection.execute(_upsert(connection.dialect.name, seats), rows)
        case ClearSeat():
            connection.execute(_CLEAR_SEAT, rows)
        case SaveGuest():
            connection.execute(_upsert(connection.dialect.name, guests), rows)
        case _:
            assert_never(first)


def _apply_to_matches(connection: Connection, first: MatchChange, rows: Rows) -> None:
    match first:
        case SaveSecrets():
            connection.execute(_upsert(connection.dialect.name, secrets), rows)
        case DropSecrets():
            connection.execute(_DROP_SECRETS, rows)
        case SaveTerms():
            connection.execute(_upsert(connection.dialect.name, terms), rows)
        case DropTerms():
            connection.execute(_DROP_TERMS, rows)
        case SaveMatch():
            connection.execute(_SAVE_MATCH, [{**row, "setup": enc(row["setup"])} for row in rows])
        case AddPlayer():
            connection.execute(_upsert(connection.dialect.name, match_players), rows)
        case EndMatch():
            connection.execute(_END_MATCH, [{"ended": row.pop("mid"), **row} for row in rows])
        case _:
            assert_never(first)


def _apply_to_company(connection: Connection, first: CompanyChange, rows: Rows) -> None:
    match first:
        case SaveChat():
            connection.execute(_upsert(connection.dialect.name, chat), rows)
            newest = {row["table"]: row["n"] for row in rows}
            connection.execute(_TRIM_CHAT, [{"trimmed": code, "newest": n} for code, n in newest.items()])
        case SaveIgnored():
            connection.execute(_upsert(connection.dialect.name, ignored), rows)
        case DropIgnored():
            connection.execute(_DROP_IGNORED, rows)
        case ForgetPlayer():
            for statement in _FORGET:
                connection.execute(statement, [{"forgotten": row["player"]} for row in rows])
        case RateMatch():
            standings.rate(connection, [RateMatch(**row) for row in rows])
        case _:
            assert_never(first)


def _touched(writes: Sequence[Write]) -> _Touched:
    touched = _Touched(set(), set(), set())
    for write in writes:
        match write:
            case SaveTable(code=code):
                touched.codes.add(code)
                touched.created.add(code)
            case DropTable(code=code) | SaveSeat(table=code) | ClearSeat(table=code) | SaveChat(table=code):
                touched.codes.add(code)
            case SaveTerms(table=code) | DropTerms(table=code):
                touched.codes.add(code)
            case SaveMatch(mid=mid, table=code):
                touched.codes.add(code)
                touched.created.add(mid)
            case AddRecord(mid=mid) | EndMatch(mid=mid) | AddPlayer(mid=mid) | RateMatch(mid=mid):
                touched.mids.add(mid)
            case SaveGuest() | SaveSecrets() | DropSecrets() | SaveIgnored() | DropIgnored() | ForgetPlayer():
                pass
            case _:
                assert_never(write)
    return touched


def _holders(connection: Connection, statement: Executable, names: dict[str, Any]) -> dict[Name, Lease]:
    return {name: Lease(owner, epoch) for name, owner, epoch in connection.execute(statement, names)}


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

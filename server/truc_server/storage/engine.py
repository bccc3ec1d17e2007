"""Opening the database: the engine, what SQLite is told on every connection, and bringing the schema up to date.

Invariant: a migration is one transaction, so a process killed during it leaves the schema as it was.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from types import MappingProxyType
from typing import Final

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError, StatementError

from truc_server.storage import DamagedRowError, StoreError
from truc_server.storage.column_types import ColumnError
from truc_server.storage.leases import application_name, db_now_ms
from truc_server.storage.schema import OLDEST, REVISION
from truc_server.storage.sqlite_file import (
    BUSY_TIMEOUT_MS,
    Inspection,
    inaccessible_file,
    no_schema,
    why_inaccessible,
)
from truc_server.timing.clock import now_ms

_MIN_CONNECT_S: Final = 2  # libpq takes no less
# PostgreSQL's own: for a transaction whose client says nothing, and for whoever waits for a lock.
_TIMEOUTS: Final = ("idle_in_transaction_session_timeout", "lock_timeout")
_MIGRATION_LOCK: Final = 0x7472_7563  # any number that all versions agree on; in ASCII, "truc"
KEPT_WAL_BYTES: Final = 64 * 1024 * 1024  # kept of a write-ahead log that a long read has let grow

# serialization_failure, deadlock_detected, lock_not_available
_BUSY_STATES: Final = ("40001", "40P01", "55P03")
"""What PostgreSQL says when two transactions have waited for each other, or one for too long: the one it ends may be tried again."""

_UNDECODED: Final = re.compile(r"column '(\w+)'")
"""How the driver of SQLite names a column whose bytes are no text."""

_Prepare = Callable[[sqlite3.Connection, object], None]


def open_engine(url: str, *, patience_s: float | None = None, node: str = "") -> Engine:
    """Return an engine on `url` whose schema is the newest.

    With a `patience_s` PostgreSQL keeps no lock for a process that stands still for longer between the statements of a
    transaction, and neither side waits longer for the network, or for a lock. The other nodes know the connections of a
    `node` by its name.

    Raises:
        StoreError: No such database, no driver for it, or a schema this version does not know.
    """
    engine = _engine(url, _prepare_to_write, _connect_options(patience_s, node))
    try:
        _bring_up_to_date(engine)
    except SQLAlchemyError as error:
        engine.dispose()
        raise StoreError(f"cannot open {shown_url(engine)}: {reason(error)}") from error
    except StoreError:
        engine.dispose()
        raise
    return engine


def open_to_read(url: str) -> Engine:
    """Return an engine on `url` that writes nothing, not even a newer schema: a server may be running on it.

    Raises:
        StoreError: No such database, no driver for it, or another schema than the newest.
    """
    engine = _engine(url, _prepare_to_read)
    is_file = engine.dialect.name == "sqlite"
    if is_file and not Path(str(engine.url.database)).exists():  # opening it would create it
        raise StoreError(f"expected a database, there is none at {engine.url.database}")
    try:
        # By itself, as `_revision` takes whatever is wrong for an empty database.
        with reading(for_reading(engine)) as connection:
            inspect(connection).get_table_names()
    except StoreError:
        engine.dispose()
        raise
    found = _revision(engine)
    if found != REVISION:
        engine.dispose()
        # First, as no start of this version helps then.
        _check_known(engine, found)
        raise StoreError(
            f"{shown_url(engine)}: expected schema {REVISION}, found {found or 'none'};"
            " a start of this version's server brings an older one up to date"
        )
    return for_reading(engine)


def inspect_server(url: str) -> Inspection:
    """Look at a database that has a server of its own, such as PostgreSQL; nothing is written."""
    try:
        engine = _engine(url, _prepare_to_read)
    except StoreError as error:
        return Inspection(str(error), None)
    try:
        # By itself, as `_revision` takes whatever is wrong for an empty database.
        engine.connect().close()
    except SQLAlchemyError as error:
        return Inspection(f"cannot open {shown_url(engine)}: {reason(error)}", None)
    else:
        return Inspection(None, _revision(engine))
    finally:
        engine.dispose()


def for_reading(engine: Engine) -> Engine:
    """Return the same engine for `reading`: each transaction sees one state of the database, and takes no lock to write."""
    if engine.dialect.name == "postgresql":
        # By default each statement would see what was committed since the one before: a match that is deleted
        # meanwhile would be found without its records.
        return engine.execution_options(reading=True, isolation_level="REPEATABLE READ")
    return engine.execution_options(reading=True)


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Read from one state of a database.

    Raises:
        StoreError: It cannot be read.
        DamagedRowError: Something in it is not as it was written.
    """
    try:
        with engine.connect() as connection:
            yield connection
    except (SQLAlchemyError, ValueError) as error:
        where, damage = f"cannot read {shown_url(engine)}", damage_in(error)
        if damage is None:
            raise StoreError(f"{where}: {reason(error)}") from error
        raise DamagedRowError(f"{where}: {damage}") from error


def damage_in(error: SQLAlchemyError | ValueError) -> str | None:
    """Return what is wrong with a row, without its values, if that is all that is wrong; else None."""
    told = "a row is not as it was written"
    if isinstance(error, ColumnError):
        return f"{told}: {error}"
    if isinstance(error, DBAPIError):
        # bytes that are no text: all other errors of SQLite have its code
        if not isinstance(error.orig, sqlite3.OperationalError) or hasattr(error.orig, "sqlite_errorcode"):
            return None
        column = _UNDECODED.search(str(error.orig))
        return told if column is None else f"{told}: expected text in column {column[1]}, got other bytes"
    # what the driver could not take of one row to ask for another
    return told if isinstance(error, ValueError | StatementError) else None


def shown_url(engine: Engine) -> str:
    """Return where a database is, without its password: it may stand among the parameters, too."""
    url = engine.url
    secret = [name for name in url.query if name.endswith("password")]
    return url.difference_update_query(secret).render_as_string()


def reason(error: SQLAlchemyError | ValueError) -> str:
    """Return the database's own words: one line without statement and values, which may hold secrets."""
    words = str(error.orig) if isinstance(error, DBAPIError) else str(error)
    told = words.partition("\n")[0]  # PostgreSQL adds the values in question
    return f"{told}: move it away and restore a backup" if told == "file is not a database" else told


def is_busy(error: SQLAlchemyError) -> bool:
    """Tell whether all that is wrong is that another program holds the database, or what this one needs of it.

    Nothing was written then, and the same may be tried again.
    """
    cause = error.orig if isinstance(error, DBAPIError) else None
    if getattr(cause, "sqlstate", None) in _BUSY_STATES:
        return True
    return isinstance(cause, sqlite3.OperationalError) and _primary(cause) == sqlite3.SQLITE_BUSY


def _primary(error: sqlite3.OperationalError) -> int:
    return error.sqlite_errorcode & 0xFF  # the rest is detail, such as that the log is being recovered


def _connect_options(patience_s: float | None, node: str) -> dict[str, object]:
    """Return psycopg's options for a connection on which nothing takes much longer than the patience."""
    if patience_s is None:
        return {}
    patience_ms = round(patience_s * 1_000)
    # Both ends ask once a second, and give up after as many seconds without an answer as the patience has.
    alive = {"keepalives_idle": 1, "keepalives_interval": 1, "keepalives_count": max(1, round(patience_s))}
    # PostgreSQL too asks for signs of life: of a machine that is gone it would otherwise hear nothing for
    # hours, and keep the row of its lease locked as long.
    kept = dict.fromkeys(_TIMEOUTS, patience_ms) | {f"tcp_{name}": value for name, value in alive.items()}
    return {
        "application_name": application_name(node),
        "options": " ".join(f"-c {name}={value}" for name, value in kept.items()),
        "connect_timeout": max(_MIN_CONNECT_S, round(patience_s)),
        "tcp_user_timeout": patience_ms,
        **alive,
    }


def _engine(url: str, prepare: _Prepare, bounds: Mapping[str, object] = MappingProxyType({})) -> Engine:
    try:
        parsed = make_url(url)
        is_file = parsed.get_backend_name() == "sqlite"
        # Without hide_parameters an error would show the values of the statement, among them secrets.
        engine = create_engine(parsed, hide_parameters=True, connect_args={} if is_file else dict(bounds))
    except (ArgumentError, NoSuchModuleError) as error:
        raise StoreError(f"store.url: {error}") from error
    except ImportError as error:  # the driver is an extra
        raise StoreError(f"store.url: {error}: run pip install 'truc[postgres]'") from error
    if engine.dialect.name == "sqlite" and engine.url.database in {None, "", ":memory:"}:
        raise StoreError(f"store.url: expected a file for SQLite to write to, got {shown_url(engine)}")
    if engine.dialect.name == "sqlite":
        # SQLite's own error does not say which file it is: a truc.db-wal left by root looked like damage.
        if closed := inaccessible_file(Path(str(engine.url.database))):
            raise StoreError(why_inaccessible(closed))
        event.listen(engine, "connect", prepare)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare(connection: sqlite3.Connection) -> None:
    # The driver's own transactions begin at the first INSERT only; with None every BEGIN is ours.
    connection.isolation_level = None
    connection.create_function(db_now_ms.__name__, 0, now_ms)
    connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")


def _prepare_to_read(connection: sqlite3.Connection, _record: object) -> None:
    _prepare(connection)
    connection.execute("PRAGMA query_only = ON")


def _prepare_to_write(connection: sqlite3.Connection, _record: object) -> None:
    _prepare(connection)
    connection.execute("PRAGMA journal_mode = WAL")  # reads and commits do not wait for each other
    # In WAL mode NORMAL would lose the newest commits at a power cut, and these have been acknowledged.
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")  # without it macOS leaves what is synced in the disk's cache
    connection.execute(f"PRAGMA journal_size_limit = {KEPT_WAL_BYTES}")


def _begin_sqlite(connection: Connection) -> None:
    reading = connection.get_execution_options().get("reading", False)
    # IMMEDIATE takes the write lock before anything is read. A transaction that reads first, as every one
    # with a fence does, could not write any more if another program wrote in between, and SQLite would not
    # let it wait for that.
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")


def _bring_up_to_date(engine: Engine) -> None:
    found = _revision(engine)
    if found == REVISION:
        return
    _check_known(engine, found)
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            for timeout in _TIMEOUTS:  # a migration takes as long as it takes
                connection.execute(text(f"SET LOCAL {timeout} = 0"))
            # Of nodes that start together one migrates; for the others, who wait here, nothing is left to do.
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _MIGRATION_LOCK})
        _migrate(connection)


def _check_known(engine: Engine, found: str | None) -> None:
    if found is not None and found < OLDEST:  # as text: revisions are numbers of four digits
        raise StoreError(f"{shown_url(engine)}: {no_schema(found)}; restore it from a backup")
    if found is not None and found > REVISION:
        raise StoreError(
            f"{shown_url(engine)} was written by a newer version: expected revision {REVISION} or older, found {found}"
        )


def _revision(engine: Engine) -> str | None:
    try:
        with for_reading(engine).connect() as connection:
            found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    except DBAPIError:  # an empty database; anything else that is wrong, the migration meets again
        return None
    return None if found is None else str(found)


def _migrate(connection: Connection) -> None:
    # Slow to import: a start that finds the newest schema by one SELECT does without.
    from alembic import command
    from alembic.config import Config

    with as_file(files("truc_server.storage") / "migrations") as folder:
        config = Config()
        # Config takes a % in the path for the beginning of a variable.
        config.set_main_option("script_location", str(folder).replace("%", "%%"))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")

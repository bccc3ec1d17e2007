"""Appending records, the commit that is made all the time, through the database's own driver.

What SQLAlchemy does around each statement is two fifths of the work of a small commit, and here it is always the same few
statements. Their texts are SQLAlchemy's, for every database. Invariant: either all records are durable and `append` says
so, or nothing was written.
"""

from collections.abc import Sequence
from contextlib import closing, suppress
from functools import cache
from typing import Any, Final

from sqlalchemy import Connection, Dialect, insert, select
from sqlalchemy.exc import DBAPIError

from truc_server.storage import schema
from truc_server.storage.errors import StoreLostError
from truc_server.storage.writes import AddRecord, Lease

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

"""A connection on which PostgreSQL says that some node has told something.

It is a hint and nothing else: what was told is read as ever, also where no hint comes.
"""

from typing import Any, Self

from sqlalchemy import Engine

from truc_server.storage import StoreError
from truc_server.storage.bulletins import CHANNEL


def open_ear(engine: Engine) -> "Ear | None":
    """Return what hears that something was told; None where the database cannot say so. Blocks.

    Raises:
        SQLAlchemyError: The database cannot be reached.
        StoreError: It was reached, and the connection is lost.
    """
    if engine.dialect.name != "postgresql":
        return None
    pooled = engine.raw_connection()
    driver: Any = pooled.driver_connection
    pooled.detach()
    try:
        driver.autocommit = True
        driver.execute(f"LISTEN {CHANNEL}")
    except Exception as error:
        driver.close()
        raise _silence(error) from error
    return Ear(driver)


class Ear:
    """The connection, which is only read; whoever waits for its `socket` to be readable keeps no thread waiting."""

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

    def heard(self) -> bool:
        """Tell whether anything was told since the last time; this blocks for nothing.

        Raises:
            StoreError: The connection is lost.
        """
        found = 0
        try:
            self._driver.pgconn.consume_input()
            while self._driver.pgconn.notifies() is not None:
                found += 1
        except Exception as error:
            raise _silence(error) from error
        return found > 0


def _silence(error: Exception) -> StoreError:
    said = str(error).partition("\n")[0]
    return StoreError(f"the database says nothing any more: {said}")

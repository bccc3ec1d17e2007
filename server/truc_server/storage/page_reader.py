"""Reads of the store for watchers who are shown a table late: one task reads, page after page, for every table.

Invariant: whoever has asked is answered with what the store has, in the order of asking; while the store cannot be
read, nobody is answered. A row that is not as it was written keeps nobody else waiting.
"""

from collections import deque
from collections.abc import Callable
from typing import Any, Final, TypeVar

import structlog
import trio

from truc_server.storage import StoreError

PAGE: Final = 64  # records read at once
RETRY_S: Final = 1.0  # after a read that has failed

Found = TypeVar("Found")

log = structlog.get_logger()


class PageReader:
    """The pages that are still to be read."""

    def __init__(self) -> None:
        self._asked: deque[tuple[Callable[[], Any], Callable[[Any], None]]] = deque()
        self._more = trio.lowlevel.ParkingLot()

    def ask(self, read: Callable[[], Found], take: Callable[[Found], None]) -> None:
        """Ask for what `read`, which blocks, returns; `take` is called with it."""
        self._asked.append((read, take))
        self._more.unpark()

    async def run(self) -> None:
        """Read what is asked for."""
        while True:
            if self._asked:
                await self._answer(*self._asked[0])
            else:
                await self._more.park()

    async def _answer(self, read: Callable[[], Found], take: Callable[[Found], None]) -> None:
        """Answer the first of those who have asked; if the store cannot be read they stay the first."""
        try:
            found = await trio.to_thread.run_sync(read)
        except StoreError as error:
            log.warning("page_not_read", reason=str(error))
            await trio.sleep(RETRY_S)
            return
        except Exception:  # it concerns those who have asked, and nobody else
            log.exception("internal", incident="page")
        else:
            _hand_on(found, take)
        self._asked.popleft()


def _hand_on(found: Found, take: Callable[[Found], None]) -> None:
    try:
        take(found)
    except Exception:
        log.exception("internal", incident="page")

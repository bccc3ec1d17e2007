"""Reads of the store for watchers who are shown a table late: one task reads, page after page, for every table.

Invariant: whoever has asked is answered with what the store has, in the order of asking, or told that it is damaged;
while the store cannot be read, nobody is answered. A row that is not as it was written keeps nobody waiting.
"""

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

import structlog
import trio

from truc_server.storage import AddRecord, DamagedRowError, StoreError
from truc_server.storage.sql import Store

PAGE: Final = 64  # records read at once
RETRY_S: Final = 1.0  # after a read that has failed

Records = tuple[AddRecord, ...]

log = structlog.get_logger()


class PageRequest(NamedTuple):
    """From where records of a match are read; who takes them; and who is told if they are damaged."""

    mid: bytes
    first: int
    take: Callable[[Records], None]
    lose: Callable[[], None]


class PageReader:
    """The pages that are still to be read."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._asked: deque[PageRequest] = deque()
        self._more = trio.lowlevel.ParkingLot()

    def ask(self, request: PageRequest) -> None:
        """Have some records read and taken, or lost if they cannot be used."""
        self._asked.append(request)
        self._more.unpark()

    async def run(self) -> None:
        """Read what is asked for."""
        while True:
            if self._asked:
                await self._answer(self._asked[0])
            else:
                await self._more.park()

    async def _answer(self, request: PageRequest) -> None:
        """Answer the first of those who have asked; if the store cannot be read they stay the first."""
        read = partial(self._store.records, request.mid, first=request.first, limit=PAGE)
        try:
            found = await trio.to_thread.run_sync(read)
        except DamagedRowError as error:
            log.warning("row_not_read", reason=str(error))
            _lose(request)
        except StoreError as error:
            log.warning("page_not_read", reason=str(error))
            await trio.sleep(RETRY_S)
            return
        except Exception:  # it concerns those who have asked, and nobody else
            log.exception("internal", incident="page")
            _lose(request)
        else:
            _hand_on(request, found)
        self._asked.popleft()


def _hand_on(request: PageRequest, found: Records) -> None:
    try:
        request.take(found)
    except Exception:
        log.exception("internal", incident="page")
        _lose(request)


def _lose(request: PageRequest) -> None:
    try:
        request.lose()
    except Exception:
        log.exception("internal", incident="page")

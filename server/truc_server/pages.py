"""Stored records for those who are shown them late: one task reads them, a page after the other, for every table.

Invariant: whoever has asked is answered with what the store has, in the order in which was asked; while the store cannot
be read, nobody is.
"""

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

import structlog
import trio

from truc_server.store import AddRecord, Store, StoreError

PAGE: Final = 64  # records read at once
AGAIN_S: Final = 1.0  # after a read that has failed

log = structlog.get_logger()


class Asked(NamedTuple):
    """Records of a match from a position on, and who takes them."""

    match: bytes
    first: int
    take: Callable[[tuple[AddRecord, ...]], None]


class Pages:
    """The pages that are still to be read."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._asked: deque[Asked] = deque()
        self._wake = trio.Event()

    def ask(self, match: bytes, first: int, take: Callable[[tuple[AddRecord, ...]], None]) -> None:
        """Ask for a page of a match; `take` is called with it."""
        self._asked.append(Asked(match, first, take))
        self._wake.set()

    async def run(self) -> None:
        """Read what is asked for."""
        while True:
            while not self._asked:
                self._wake = trio.Event()
                await self._wake.wait()
            asked = self._asked[0]
            read = partial(self._store.records, asked.match, first=asked.first, limit=PAGE)
            try:
                rows = await trio.to_thread.run_sync(read)
            except StoreError as error:
                log.warning("page_not_read", reason=str(error))
                await trio.sleep(AGAIN_S)
                continue
            self._asked.popleft()
            _give(asked, rows)


def _give(asked: Asked, rows: tuple[AddRecord, ...]) -> None:
    try:
        asked.take(rows)
    except Exception:
        log.exception("internal", incident="page")

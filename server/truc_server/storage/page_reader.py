"""What the store has for those who are shown it late: one task reads it, page after page, for every table.

Invariant: whoever has asked is answered with what the store has, in the order of asking; while the store cannot be
read, nobody is answered. A row that is not as it was written keeps nobody else waiting.
"""

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

import structlog
import trio

from truc_server.operation.logs import Seldom
from truc_server.storage import StoreError

PAGE: Final = 64  # records read at once
AGAIN_S: Final = 1.0  # after a read that has failed

Answer = Callable[[], None]
Read = TypeVar("Read")

log = structlog.get_logger()


class Pages:
    """The pages that are still to be read."""

    def __init__(self) -> None:
        self._asked: deque[Callable[[], Answer]] = deque()
        self._wake = trio.Event()
        self._complaints = Seldom()

    def ask(self, read: Callable[[], Read], take: Callable[[Read], None]) -> None:
        """Ask for what `read`, which blocks, returns; `take` is called with it."""
        self._asked.append(lambda: partial(take, read()))
        self._wake.set()

    async def run(self) -> None:
        """Read what is asked for."""
        while True:
            while not self._asked:
                self._wake = trio.Event()
                await self._wake.wait()
            try:
                answer = await trio.to_thread.run_sync(self._asked[0])
            except StoreError as error:
                if self._complaints.is_due(trio.current_time()):
                    log.warning("page_not_read", reason=str(error))
                await trio.sleep(AGAIN_S)
                continue
            except Exception:  # it is theirs who have asked, and nobody else's
                log.exception("internal", incident="page")
                answer = _nothing
            self._asked.popleft()
            _give(answer)
            del answer  # holds the table, which may be gone


def _nothing() -> None:
    """Do nothing."""


def _give(answer: Answer) -> None:
    try:
        answer()
    except Exception:
        log.exception("internal", incident="page")

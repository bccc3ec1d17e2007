"""Matches that have been kept long enough: how they are deleted, by a running server and by hand.

One at a time, each in a transaction of its own, with a pause after it: what is played meanwhile waits for one at most.
Invariant: a match is kept as a whole or deleted as a whole, even if the process is killed.
"""

from collections.abc import Iterator
from typing import Final

import structlog
import trio

from truc_server.settings.in_force import InForce
from truc_server.settings.settings import Settings
from truc_server.storage import StoreError
from truc_server.storage.sql import Store
from truc_server.timing.clock import now_ms

DAY_S: Final = 86_400
PAUSE_S: Final = 0.05  # after each deletion, which takes some milliseconds
_DAY_MS: Final = DAY_S * 1_000
_PAGE: Final = 100

log = structlog.get_logger()


def days_ago(days: int) -> int:
    """Return the time before which matches must have ended to be older than so many days."""
    return now_ms() - days * _DAY_MS


def deletions(store: Store, *, before_ms: int) -> Iterator[bool]:
    """Delete the matches that were over before a time, one at each step; yield whether it was deleted.

    Steps may be made in different threads, one after another.
    """
    while True:
        deleted = 0
        for mid in store.old_matches(before_ms=before_ms, limit=_PAGE):
            is_gone = store.delete_match(mid, before_ms=before_ms)
            deleted += is_gone
            yield is_gone
        if not deleted:
            return


async def prune_daily(settings: InForce[Settings], store: Store) -> None:
    """Delete the matches that are older than the settings in force keep them, at once and then every day."""
    while True:
        days = settings.now.store.keep_days
        if days and not settings.now.access.moved_to:
            await _prune(store, days)
        await trio.sleep(DAY_S)


async def _prune(store: Store, days: int) -> None:
    deleted = 0
    steps = deletions(store, before_ms=days_ago(days))
    try:
        while (is_gone := await trio.to_thread.run_sync(next, steps, None)) is not None:
            deleted += is_gone
            await trio.sleep(PAUSE_S)
    except StoreError as error:
        log.warning("matches_not_pruned", reason=str(error), deleted=deleted)
        return
    if deleted:
        log.info("matches_pruned", matches=deleted, days=days)

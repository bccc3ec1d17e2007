"""What has been kept long enough: matches, deleted by a running server or by hand, and absent guests.

Matches go one at a time, each in a transaction of its own, with a pause after it: what is played meanwhile waits for one at most.
Invariant: a match is kept as a whole or deleted as a whole, even if the process is killed; a guest who is
connected or has a seat is kept.
"""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

import structlog
import trio

from truc_server.storage import StoreError
from truc_server.storage.sql import Store
from truc_server.timing.clock import now_ms

if TYPE_CHECKING:
    from truc_server.parts import ServerParts  # slow to import, and a command needs the rest alone

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
        # a page of which nothing could be deleted would be found again, for ever
        if not deleted:
            return


async def prune_daily(parts: "ServerParts") -> None:
    """Forget absent guests and delete old matches, at once and then every day, as the settings in force have it."""
    settings, store = parts.settings, parts.store
    # nothing where everybody is sent elsewhere: what is kept may be needed there
    while not settings.now.access.moved_to:
        if days := settings.now.access.guest_days:
            await _prune_guests(store, parts.lobby.online.guests(), days)
        if days := settings.now.store.keep_days:
            await _prune_matches(store, days)
        await trio.sleep(DAY_S)


async def _prune_matches(store: Store, days: int) -> None:
    deleted = 0
    steps = deletions(store, before_ms=days_ago(days))
    try:
        while (is_gone := await trio.to_thread.run_sync(next, steps, None)) is not None:
            deleted += is_gone
            # what is played meanwhile goes first
            await trio.sleep(PAUSE_S)
    except StoreError as error:
        log.warning("matches_not_pruned", reason=str(error), deleted=deleted)
        return
    if deleted:
        log.info("matches_pruned", matches=deleted, days=days)


async def _prune_guests(store: Store, connected: frozenset[bytes], days: int) -> None:
    prune = partial(store.prune_guests, before_ms=days_ago(days), connected=connected, now_ms=now_ms())
    try:
        gone = await trio.to_thread.run_sync(prune)
    except StoreError as error:
        log.warning("guests_not_pruned", reason=str(error))
        return
    if gone:
        log.info("guests_pruned", guests=gone, days=days)

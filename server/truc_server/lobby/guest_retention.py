"""Guests who stay away: when each was last seen, and when they are kept no longer.

A guest is kept so that they can come back; after a time nobody will. Invariant: a guest who is connected or has a seat
is kept.
"""

from functools import partial
from typing import Final

import structlog
import trio

from truc_server.lobby.lobby import Lobby
from truc_server.settings.in_force import InForce
from truc_server.settings.settings import Settings
from truc_server.storage import SaveGuest, StoreError
from truc_server.storage.journal import Journal
from truc_server.storage.sql import Store
from truc_server.timing.clock import now_ms

DAY_S: Final = 86_400
_DAY_MS: Final = DAY_S * 1_000

log = structlog.get_logger()


def see_again(journal: Journal, guest: SaveGuest) -> None:
    """Note that a guest has come back, but not more than once a day."""
    now = now_ms()
    if now - guest.seen_ms >= _DAY_MS:
        journal.write(guest._replace(seen_ms=now))


async def prune_daily(settings: InForce[Settings], store: Store, lobby: Lobby) -> None:
    """Forget guests who stay away, at once and then every day, as long as the server runs."""
    while not settings.now.access.moved_to:
        if days := settings.now.access.guest_days:
            await _prune(store, lobby, days)
        await trio.sleep(DAY_S)


async def _prune(store: Store, lobby: Lobby, days: int) -> None:
    now = now_ms()
    prune = partial(
        store.prune_guests,
        before_ms=now - days * _DAY_MS,
        connected=lobby.presence.guests(),
        now_ms=now,
    )
    try:
        gone = await trio.to_thread.run_sync(prune)
    except StoreError as error:
        log.warning("guests_not_pruned", reason=str(error))
        return
    if gone:
        log.info("guests_pruned", guests=gone, days=days)

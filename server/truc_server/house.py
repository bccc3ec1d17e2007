"""What every part of the server shares: settings, games, keys, store, journal, timers, the clock on the wall."""

import time
from secrets import randbits
from typing import Final

import trio

from truc_server.bans import Bans
from truc_server.grease import Grease
from truc_server.identity import Identity
from truc_server.journal import Journal
from truc_server.outbox import Flusher
from truc_server.pages import Pages
from truc_server.settings import Settings
from truc_server.store import Lease, Store, StoreError, Write
from truc_server.timers import Timers
from truc_server.variants import Catalogue

PUBLIC_CODE: Final = 5  # characters of the code of a table that is listed


class House:
    """One running server.

    Attributes:
        gate: the newest batch of the journal that was written to. A frame that is queued now waits for it, so that
            nobody sees what is not durable.
        bans: who is shut out.
        grease: what is put into everything that is sent, to try clients; None unless the host wants it.
        failure: why the store has stopped taking writes.
        failed: set when it has.
    """

    def __init__(
        self, settings: Settings, catalogue: Catalogue, identity: Identity, store: Store, lease: Lease
    ) -> None:
        self.settings = settings
        self.catalogue = catalogue
        self.identity = identity
        self.store = store
        self.epoch = lease.epoch
        self.timers = Timers()
        self.flusher = Flusher()
        self.journal = Journal(store, on_durable=self.flusher.release, on_failure=self._fail)
        self.gate = 0
        self.pages = Pages()
        self.bans = Bans.of(settings.access.banned)
        self.grease = Grease(randbits(64)) if settings.grease else None
        self.failed = trio.Event()
        self.failure: StoreError | None = None

    def write(self, *writes: Write) -> None:
        """Make `writes` durable together; whatever is sent from now on waits for them."""
        self.gate = self.journal.write(*writes)

    def renounce(self) -> None:
        """Let what is sent from now on wait for nothing: for goodbyes after the store has failed."""
        self.gate = self.journal.durable

    def _fail(self, error: StoreError) -> None:
        self.failure = error
        self.failed.set()


def label(code: str) -> str:
    """Return how a table is named in logs: never by the whole code of a private one, which is its invite."""
    return code if len(code) <= PUBLIC_CODE else f"{code[:4]}..."


def now_ms() -> int:
    """Return Unix time in milliseconds."""
    return time.time_ns() // 1_000_000

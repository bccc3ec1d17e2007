"""The parts of one running server, put together; each floor below is handed those it works with.

Only what watches and keeps the whole server holds all of it: the server itself, the host's desk, the figures.
"""

from importlib.metadata import version
from pathlib import Path
from secrets import randbits

import trio

from truc_server.identity.identity import Identity
from truc_server.lobby.lobby import Lobby
from truc_server.net.admission import Admission
from truc_server.net.grease import Grease
from truc_server.net.outbox import Flusher
from truc_server.net.sanctions import Sanctions
from truc_server.net.usage_limits import Pace
from truc_server.operation.disk import Disk
from truc_server.operation.figures import Figures
from truc_server.operation.worker import Worker
from truc_server.settings.in_force import CurrentValue, ServerDrain
from truc_server.settings.settings import Settings
from truc_server.settings.variants import VariantCatalogue
from truc_server.storage import Lease, NodePlace, StoreError
from truc_server.storage.guest_tokens import GuestTokens
from truc_server.storage.journal import TIME_BOUNDS, Histogram, Journal
from truc_server.storage.page_reader import PageReader
from truc_server.storage.sql import Store
from truc_server.timing.clock import Timers


class ServerParts:
    """The parts of one running server.

    Attributes:
        lease: what it writes under.
        is_node: whether other nodes have tables too.
        place: what it says about itself as a node, from the next renewal of its lease on; of no place until it listens.
        disk: whether there is room for more.
        admission: how many connections there may be, and how fast they may come.
        lobby: every table here, and who is connected.
        pace: how fast one address may have pages of the store or the lobby, acts, and steps with a pack.
        drain: whether the server is about to be stopped.
        reloading: held while settings are read again, so that those that were read first are not in force last.
        grease: what is put into everything that is sent, to test clients; None unless the host wants it.
        figures: what has happened so far, for whoever watches the server.
        renewals_s: how many seconds each renewal of the lease took; `late_s` is how late the loop was at each look.
        tokens: finds guests by their tokens.
        signatures: the thread in which the signatures of acts are checked; `steps` is that of all else about mode blind.
        failure: why the store has stopped taking writes.
        failed: set when it has.
    """

    def __init__(
        self,
        settings: Settings,
        catalogue: VariantCatalogue,
        identity: Identity,
        store: Store,
        lease: Lease,
        *,
        folder: Path,
    ) -> None:
        self.settings = CurrentValue(settings)
        self.catalogue = catalogue
        self.identity = identity
        self.store = store
        self.lease = lease
        self.epoch = lease.epoch
        self.is_node = lease.number is not None
        self.place = NodePlace("", "", version("truc"))
        self.disk = Disk(folder, self.settings)
        self.figures = Figures()
        self.renewals_s, self.late_s = Histogram(TIME_BOUNDS), Histogram(TIME_BOUNDS)
        self.timers = Timers()
        self.flusher = Flusher()
        self.journal = Journal(store, on_durable=self.flusher.release, on_failure=self.fail)
        self.tokens = GuestTokens(store)
        self.page_reader = PageReader(store)
        # a step of mode blind takes milliseconds, which no signature of an act should wait for
        self.signatures = Worker("signatures")
        self.steps = Worker("steps")
        self.pace = Pace(self.settings)
        self.sanctions = CurrentValue(Sanctions.of(settings.access))
        self.drain = ServerDrain()
        self.reloading = trio.Lock()
        self.grease = Grease(randbits(64)) if settings.grease else None
        self.admission = Admission(self)
        self.lobby = Lobby(self, catalogue, self.disk, share=lease.number)
        self.failed = trio.Event()
        self.failure: StoreError | None = None

    def fail(self, error: StoreError) -> None:
        """Note that nothing more can be acknowledged, and why; the first reason stands."""
        self.failure = self.failure or error
        self.failed.set()

"""The journal: what the tables decide becomes durable, many decisions in one transaction.

Table code calls `write` and goes on; one task commits batch after batch in a worker thread, and while one commits the next
fills (decision 4). If another program holds the store, a commit is tried again for a while. Deliberately not here: what
waits for a batch (frames in outboxes), and what the server says when the store fails. Invariants: batches become durable in
the order of their numbers, each as a whole or not at all; after a failure of any kind, nothing more becomes durable.
"""

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Final, NamedTuple

import structlog
import trio

from truc_server.operation.worker import Worker
from truc_server.storage import StoreBusyError, StoreError, Write
from truc_server.storage.sql import Store
from truc_server.timing.clock import StoppingError

MAX_BATCH: Final = 500  # writes in one transaction
MAX_WAITING: Final = 20 * MAX_BATCH  # writes not yet taken for a commit, before `is_behind`
# Before `is_full`: what is under way may go on for as much again after nothing new is taken on.
MAX_FILLED: Final = 2 * MAX_WAITING
# Of one commit while another program holds the store: each waits BUSY_TIMEOUT_MS, so a minute in all.
BUSY_TRIES: Final = 12
SLOW_S: Final = 5.0  # of one commit, before it is logged
TIME_BOUNDS: Final = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
SIZE_BOUNDS: Final = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0)

log = structlog.get_logger()


class HistogramShape(NamedTuple):
    """A histogram at one moment: how many values fell up to each bound, and last above all of them; and their sum."""

    bounds: tuple[float, ...]
    counts: tuple[int, ...]
    total: float


class Histogram:
    """A histogram: how many values fell up to each bound and above the one before."""

    __slots__ = ("_bounds", "_counts", "_total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = tuple(bounds)
        self._counts = [0] * (len(self._bounds) + 1)
        self._total = 0.0

    def add(self, *values: float) -> None:
        """Count values."""
        for value in values:
            self._counts[bisect_left(self._bounds, value)] += 1
            self._total += value

    def shape(self) -> HistogramShape:
        """Return the histogram as it is now."""
        return HistogramShape(self._bounds, tuple(self._counts), self._total)


class JournalStoppedError(StoreError, StoppingError):
    """The journal takes no more writes: a commit failed, or the server is closing."""


class Journal:
    """The open batches of one store, and the thread that commits them.

    Attributes:
        gate: the newest batch that was written to. A frame that is queued now waits for it, so that nobody sees what is
            not durable.
        durable: the number of the newest durable batch; 0 before the first.
        commits_s: how many seconds each commit took.
        sizes: how many writes each had.
        acts_s: how many seconds passed from when each act was read until it was durable and let out.
        waiting: how many writes wait for a commit, without those of the one under way.
    """

    def __init__(
        self,
        store: Store,
        *,
        on_durable: Callable[[int], None],
        on_failure: Callable[[StoreError], None],
    ) -> None:
        self._store = store
        self._thread = Worker("commits")  # of its own: reads of the store never keep a commit waiting
        self._on_durable = on_durable
        self._on_failure = on_failure
        self._batches: deque[list[Write]] = deque()
        self._room = 0  # how many more writes the last of these has room for
        self._newest = 0  # the number of that one
        self.gate = 0
        self.waiting = 0
        self._taken = 0
        self.durable = 0
        self._stopped: str | None = None
        self._began = 0.0
        self.commits_s = Histogram(TIME_BOUNDS)
        self.sizes = Histogram(SIZE_BOUNDS)
        self.acts_s = Histogram(TIME_BOUNDS)
        # when each was read, by the batch it waits for
        self._acts: defaultdict[int, list[float]] = defaultdict(list)
        self._more = trio.lowlevel.ParkingLot()
        self._progress = trio.lowlevel.ParkingLot()
        self._calls: list[tuple[int, Callable[[float], object]]] = []

    @property
    def is_closed(self) -> bool:
        """Whether no more writes are taken."""
        return self._stopped is not None

    def commit_s(self, now: float) -> float:
        """Return how long the commit under way has taken so far; 0 if there is none."""
        return 0.0 if self.is_idle else now - self._began

    @property
    def is_behind(self) -> bool:
        """Whether so much waits for the store that no new work should be taken on."""
        return self.waiting >= MAX_WAITING

    @property
    def is_idle(self) -> bool:
        """Whether no commit is under way."""
        return self._taken == self.durable

    @property
    def is_full(self) -> bool:
        """Whether so much waits that not even a match can go on."""
        return self.waiting >= MAX_FILLED

    def write(self, *writes: Write) -> int:
        """Put `writes` into one batch, to be committed together, and return its number.

        Raises:
            JournalStoppedError: They would never become durable.
        """
        if self._stopped is not None:
            raise JournalStoppedError(self._stopped)
        size = len(writes)
        if not self._batches:
            self._more.unpark()
            # `_room` is that of a batch which is being committed: even an empty write begins another.
            self._room = -1
        if size > self._room:
            self._batches.append([])
            self._room, self._newest = MAX_BATCH, self._taken + len(self._batches)
        # Never divided: what is written in one call, such as a record and the end that follows from it,
        # becomes durable together, even if the batch gets longer than MAX_BATCH by that.
        self._batches[-1] += writes
        self._room -= size
        self.waiting += size
        self.gate = self._newest
        return self._newest

    def call_when_durable(self, call: Callable[[float], object]) -> None:
        """Have a call made, with the moment, once everything written so far is durable and has been let out."""
        if self.gate <= self.durable:
            call(trio.current_time())
        else:
            self._calls.append((self.gate, call))

    def note_act(self, read: float) -> None:
        """Note that what was written so far comes from an act that was read at this moment."""
        self._acts[self.gate].append(read)

    def open_gate(self) -> None:
        """Let what is sent from now on wait for no commit: for goodbyes after the store has failed."""
        self.gate = self.durable

    async def wait_durable(self, number: int) -> None:
        """Wait until batch `number` is durable.

        Raises:
            JournalStoppedError: It never will be.
        """
        while self.durable < number:
            # A journal that was closed still commits what it has taken; one that failed has cleared it.
            if self._stopped is not None and number > self._taken + len(self._batches):
                raise JournalStoppedError(self._stopped)
            await self._progress.park()

    def close(self) -> None:
        """Take no more writes; `run` ends when those taken are durable."""
        if self._stopped is None:
            self._stopped = "the journal is closed: the server is stopping"
            self._more.unpark()

    async def run(self) -> None:
        """Commit batch after batch until the journal is closed or a commit fails; a commit once begun is finished."""
        with closing(self._thread):
            async with trio.open_nursery() as tasks:
                tasks.start_soon(self._watch)
                while self._batches or self._stopped is None:
                    if self._batches:
                        await self._commit(self._batches.popleft())
                    else:
                        await self._more.park()
                tasks.cancel_scope.cancel()

    async def _watch(self) -> None:
        """Log a warning while a commit is stuck."""
        told = 0
        while True:
            await trio.sleep(SLOW_S)
            took = self.commit_s(trio.current_time())
            if took >= SLOW_S and told < self._taken:  # once for each commit
                told = self._taken
                log.warning("store_is_slow", seconds=round(took, 1), waiting=self.waiting)

    async def _commit(self, batch: list[Write]) -> None:
        """Commit a batch, and let out what has waited for it; or stop."""
        self.waiting -= len(batch)
        self._taken += 1
        self._began = trio.current_time()
        try:
            await self._keep_trying(batch)
        except StoreError as error:
            self._fail(error)
        except Exception as error:  # whatever it is, the batch is not known to be durable
            log.exception("store_failed_strangely")
            self._fail(StoreError(f"the store has failed in an unforeseen way ({type(error).__name__})"))
        else:
            self._measure(len(batch))
            # Raised first: the outboxes that are flushed next compare their gates with it.
            self.durable += 1
            self._progress.unpark_all()
            self._on_durable(self.durable)
            # After the frames: time runs only for whoever was sent the question (decision 14).
            if self._acts or self._calls:
                self._note_let_out(trio.current_time())

    def _note_let_out(self, now: float) -> None:
        """Count the acts that have waited, and make the calls; one that fails stops neither the others nor the journal."""
        for gate in tuple(self._acts):
            if gate <= self.durable:
                self.acts_s.add(*[now - read for read in self._acts.pop(gate)])
        # Taken away first, as a call may ask for another one.
        calls, self._calls = self._calls, []
        for gate, call in calls:
            if gate > self.durable:
                self._calls.append((gate, call))
                continue
            try:
                call(now)
            except Exception:
                log.exception("internal", incident="durable")

    async def _keep_trying(self, batch: list[Write]) -> None:
        """Commit a batch, trying again for a while if another program holds the store."""
        for tried in range(1, BUSY_TRIES + 1):
            try:
                await self._thread.run(self._store.commit, batch)
            # A busy store has written nothing, so it can be given the batch again; after other errors it may
            # have.
            except StoreBusyError as error:
                if tried == BUSY_TRIES:
                    raise
                log.warning("store_is_held", reason=str(error), tried=tried)
            else:
                return

    def _measure(self, writes: int) -> None:
        took = trio.current_time() - self._began
        self.commits_s.add(took)
        self.sizes.add(writes)
        if took > SLOW_S:
            log.warning("store_was_slow", seconds=round(took, 1), waiting=self.waiting)

    def _fail(self, error: StoreError) -> None:
        self._stopped = f"the journal has stopped: {error}"
        # What waits was seen by nobody, and must not become durable behind a batch that may not be.
        self._batches.clear()
        self.waiting = 0
        self._taken = self.durable  # `is_idle`: the server does not wait for this commit when it ends
        self._progress.unpark_all()
        self._on_failure(error)

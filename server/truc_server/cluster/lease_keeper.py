"""A node among others: it renews its lease, stops in time if it cannot, and takes the tables that nobody owns any more.

The lease runs on the database's clock. The node counts from its last successful request: the lease lasts at least that
long. Invariants: a node that does not know whether its lease lasts, or which tables it has, fails as if its store had failed;
a table is taken up as after a start, from what is stored alone, so that the time it was without an owner is charged to nobody.
"""

import time
from typing import Final

import structlog
import trio

from truc_server import recovery
from truc_server.parts import ServerParts
from truc_server.settings.settings import ClusterSettings
from truc_server.storage import StoreError, StoreLostError, TakenTables
from truc_server.storage.backups import Restored

RENEWALS: Final = 3  # in the time of one lease
LOOK_S: Final = 0.5
"""At the longest between two looks whether there are tables to take."""
_LOOKS_PER_LEASE: Final = 20  # at the time that is left; two of them are as long as _MARGIN
_MARGIN: Final = 0.1  # of a lease: so much before its end nothing more is done
_AT_ONCE: Final = 64  # tables taken in one go: the others are free for other nodes
UNHEARD: Final = 1.5
"""Times `limits.idle_s`: after so long a client takes a silent connection for lost, as that to a machine that is gone."""
_WAY_BACK_S: Final = 10.0  # for it to connect elsewhere
_RETRY_S: Final = 0.2  # after a renewal that has failed

log = structlog.get_logger()


def lease_ms(settings: ClusterSettings) -> int:
    """Return for how long each lease is taken, as the database counts."""
    return settings.lease_s * 1_000


class LeaseKeeper:
    """The lease of this node, and what follows from it."""

    def __init__(self, parts: ServerParts, *, since: float) -> None:
        self._parts = parts
        self._lease = parts.lease
        self._epoch = self._lease.epoch  # of the newest tables that it knows of
        self._lease_s = parts.settings.now.cluster.lease_s
        # `since` is a moment before the lease was asked for, as `asked` is in `_renew`.
        self._until = parts.figures.lease_until = since + self._lease_s
        self._is_due = trio.Event()

    def renew_now(self) -> None:
        """Let the others know at once what has changed about this node."""
        self._is_due.set()

    @property
    def left_s(self) -> float:
        """For how long the lease lasts at least."""
        # Not by Trio's clock here, which stands still while the process does (`RunningClock`).
        return self._until - time.monotonic()

    async def run(self, restored: Restored, *, task_status: trio.TaskStatus[None]) -> None:
        """Hold the lease and take up free tables, until cancelled or the lease is lost.

        The task counts as started when the node's own tables are back.
        """
        async with trio.open_nursery() as tasks:
            # Before the tables are read, which may take longer than a lease: the others would take them, the
            # node would end, and begin again for ever.
            tasks.start_soon(self._watch)
            tasks.start_soon(self._renew)
            await self._take_up_own(restored)
            task_status.started()
            tasks.start_soon(self._take_over, restored)

    async def _take_up_own(self, restored: Restored) -> None:
        """Take up the tables that the name has, some at a time."""
        codes = await trio.to_thread.run_sync(self._parts.store.owned_codes, self._lease)
        # At least once, also without tables: what belongs to none is read with them.
        for first in range(0, max(1, len(codes)), _AT_ONCE):
            if self._parts.failure is not None:
                return
            await self._take_up(TakenTables(self._lease.epoch, codes[first : first + _AT_ONCE]), restored)

    async def _watch(self) -> None:
        """Stop the server before the lease ends."""
        while True:
            if self.left_s <= _MARGIN * self._lease_s:
                break
            await trio.sleep(self._lease_s / _LOOKS_PER_LEASE)
        self._parts.fail(StoreLostError(f"the lease of {self._lease.owner} could not be renewed in time"))
        self._parts.store.sever()  # a commit or a read may be under way that the end would wait for

    async def _renew(self) -> None:
        figures = self._parts.figures
        while True:
            # Before it is asked for: the database counts from some moment after that.
            asked = time.monotonic()
            try:
                # Left behind when the node ends: the thread may wait for a database that does not answer.
                await trio.to_thread.run_sync(self._renew_once, abandon_on_cancel=True)
            except StoreLostError as error:
                self._parts.fail(error)
                return
            except StoreError as error:
                figures.renewals_failed += 1
                log.warning("lease_not_renewed", reason=str(error), left_s=round(self.left_s, 1))
                await trio.sleep(_RETRY_S)
                continue
            self._until = figures.lease_until = asked + self._lease_s
            self._parts.renewals_s.add(time.monotonic() - asked)
            with trio.move_on_after(self._lease_s / RENEWALS):
                await self._is_due.wait()
            self._is_due = trio.Event()

    def _renew_once(self) -> None:
        parts = self._parts
        parts.store.renew(
            self._lease,
            lease_ms=lease_ms(parts.settings.now.cluster),
            place=parts.place,
            draining=parts.drain.is_on,
        )

    async def _take_over(self, restored: Restored) -> None:
        """Look for free tables, and take some: one go at a time."""
        taken: TakenTables | None = None  # until they are in the lobby: what could not be read is read again
        while True:
            try:
                # A node that drains takes none.
                if taken is None and not self._parts.drain.is_on:
                    taken = await trio.to_thread.run_sync(self._take, abandon_on_cancel=True)
                if taken is not None:
                    await self._take_up(taken, restored)
                    self._parts.figures.tables_taken += len(taken.codes)
                    log.info("tables_taken_over", tables=len(taken.codes), epoch=taken.epoch)
            except StoreLostError as error:
                self._parts.fail(error)
                return
            except StoreError as error:
                log.warning("tables_not_taken", reason=str(error))
            else:
                there_may_be_more = taken is not None and len(taken.codes) == _AT_ONCE
                taken = None
                if there_may_be_more:
                    continue
            await trio.sleep(min(LOOK_S, self._lease_s / RENEWALS))

    def _take(self) -> TakenTables | None:
        """Take free tables, if there are any; blocks.

        Raises:
            StoreLostError: Some were taken before, and which was not heard: when it comes again they are its own.
        """
        store, lease = self._parts.store, self._lease
        # The answer to a claim may be lost: the tables are this node's then, so no other's, and in no lobby.
        if store.epoch(lease) != self._epoch:
            raise StoreLostError(f"{lease.owner} has taken tables and does not know which")
        if not store.is_any_table_free(lease):
            return None
        taken = store.take_tables(lease, most=_AT_ONCE)
        self._epoch = taken.epoch
        return taken

    def _read(self, taken: TakenTables, restored: Restored) -> recovery.StoredState:
        """Read what was taken; blocks."""
        store = self._parts.store
        stored = recovery.read(store, restored, taken.epoch, codes=taken.codes)
        # No clock runs for so long: players may still be on a dead connection to the node that had the table,
        # and would have their cards played for them before they notice.
        late_s = UNHEARD * self._parts.settings.now.limits.idle_s + _WAY_BACK_S
        return stored._replace(late_s=late_s)

    async def _take_up(self, taken: TakenTables, restored: Restored) -> None:
        """Let the matches of tables go on."""
        stored = await trio.to_thread.run_sync(self._read, taken, restored, abandon_on_cancel=True)
        recovery.restore(self._parts, stored)

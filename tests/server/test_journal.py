"""The journal: batches, their order, and what a failing store leaves behind."""

import threading
from collections.abc import Sequence

import pytest
import trio
from server.clocks import pass_time
from structlog.testing import capture_logs
from trio.testing import wait_all_tasks_blocked

from truc_server.storage import SaveGuest, StoreBusyError, StoreError, Write
from truc_server.storage.journal import (
    BUSY_TRIES,
    MAX_BATCH,
    MAX_FILLED,
    MAX_WAITING,
    SLOW_S,
    Journal,
    JournalStoppedError,
)

FULL = StoreError("cannot write to the disk: it is full")


def guest(n: int) -> SaveGuest:
    return SaveGuest(b"%d" % n, "Pau", b"%d" % n, 0)


class GatedStore:
    """A store that commits only when told to, and fails when told to."""

    def __init__(self, *, is_open: bool = True, failure: Exception | None = None) -> None:
        self.committed: list[tuple[Write, ...]] = []
        self.failure = failure
        self.attempts = 0
        self._permits = threading.Semaphore(1_000 if is_open else 0)

    def let_one_through(self) -> None:
        self._permits.release()

    def open(self) -> None:
        """Let everything through from now on."""
        self._permits.release(1_000)

    def commit(self, writes: Sequence[Write]) -> None:
        self.attempts += 1
        assert self._permits.acquire(timeout=10)
        if self.failure is not None:
            raise self.failure
        self.committed.append(tuple(writes))


class Heard:
    """What the journal has called back."""

    def __init__(self) -> None:
        self.durable: list[int] = []
        self.failures: list[StoreError] = []


@pytest.fixture
def heard():
    return Heard()


def journal_of(store, heard: Heard | None = None) -> Journal:
    """Return a journal on a store, which does not run yet."""
    heard = heard or Heard()
    return Journal(store, on_durable=heard.durable.append, on_failure=heard.failures.append)


@pytest.fixture
def start(nursery, heard):
    """Start a journal on a store, whose commits are let through at the end."""
    stores = []

    def started(store) -> Journal:
        stores.append(store)
        journal = journal_of(store, heard)
        nursery.start_soon(journal.run)
        return journal

    yield started
    for store in stores:
        store.open()


async def test_batch_fills_while_another_commits_nothing_is_durable_before_its_end_and_then_the_journal_idles(
    start, heard
):
    journal = start(store := GatedStore(is_open=False))
    journal.write(guest(1))
    await wait_all_tasks_blocked()
    assert not journal.is_idle
    assert (journal.write(guest(2)), journal.write(guest(3))) == (2, 2)
    assert (journal.durable, heard.durable) == (0, [])
    store.let_one_through()
    await journal.wait_durable(1)
    assert (journal.durable, heard.durable) == (1, [1])
    store.let_one_through()
    await journal.wait_durable(2)
    assert store.committed == [(guest(1),), (guest(2), guest(3))]
    assert journal.is_idle


async def test_durable_is_raised_before_the_callback(nursery):
    seen: list[int] = []
    journal = Journal(GatedStore(), on_durable=lambda _: seen.append(journal.durable), on_failure=seen.append)
    nursery.start_soon(journal.run)
    await journal.wait_durable(journal.write(guest(1)))
    assert seen == [1]


async def test_call_is_made_when_all_written_before_it_is_durable_and_let_out(start, heard):
    journal, seen = start(store := GatedStore(is_open=False)), []
    journal.write(guest(1))
    await wait_all_tasks_blocked()
    for n in (2, 3):
        journal.write(guest(n))
        journal.call_when_durable(lambda _now: seen.append(list(heard.durable)))
    store.let_one_through()
    await journal.wait_durable(1)
    assert seen == []
    store.let_one_through()
    await journal.wait_durable(2)
    assert seen == [[1, 2], [1, 2]]


async def test_call_that_fails_stops_no_other(start):
    journal, seen = start(GatedStore()), []
    number = journal.write(guest(1))
    journal.call_when_durable(lambda _now: 1 / 0)
    journal.call_when_durable(lambda _now: seen.append(1))
    with capture_logs() as logged:
        await journal.wait_durable(number)
    assert (seen, [entry["event"] for entry in logged]) == ([1], ["internal"])


async def test_commit_has_at_most_max_batch_writes_and_a_number_tells_in_which_one_is(start):
    journal = start(store := GatedStore())
    numbers = [journal.write(guest(n)) for n in range(2 * MAX_BATCH + 1)]
    await journal.wait_durable(numbers[-1])
    assert [len(batch) for batch in store.committed] == [MAX_BATCH, MAX_BATCH, 1]
    assert numbers == [1] * MAX_BATCH + [2] * MAX_BATCH + [3]
    assert guest(MAX_BATCH) in store.committed[1]


async def test_writes_given_together_stay_in_one_batch(start):
    journal = start(store := GatedStore())
    for n in range(MAX_BATCH - 1):
        journal.write(guest(n))
    await journal.wait_durable(journal.write(guest(-1), guest(-2)))
    assert store.committed[-1] == (guest(-1), guest(-2))


async def test_journal_is_behind_when_much_waits_and_full_when_more_does_until_it_catches_up(start):
    journal = start(store := GatedStore(is_open=False))
    for n in range(MAX_WAITING - 1):
        journal.write(guest(n))
    assert not journal.is_behind
    journal.write(guest(-1))
    assert (journal.is_behind, journal.is_full) == (True, False)
    for n in range(MAX_WAITING, MAX_FILLED - 1):
        journal.write(guest(n))
    assert not journal.is_full
    number = journal.write(guest(-2))
    assert journal.is_full
    store.open()
    await journal.wait_durable(number)
    assert (journal.is_behind, journal.is_full) == (False, False)


async def test_failed_commit_is_reported_once_and_whoever_waits_or_writes_hears_why(heard):
    journal = journal_of(GatedStore(failure=FULL), heard)
    number = journal.write(guest(1))
    await journal.run()
    with pytest.raises(JournalStoppedError, match="it is full"):
        await journal.wait_durable(number)
    assert (heard.failures, heard.durable, journal.durable) == ([FULL], [], 0)
    for close in (lambda: None, journal.close):
        close()
        with pytest.raises(JournalStoppedError, match="it is full"):
            journal.write(guest(2))


async def test_batches_behind_a_failed_one_are_not_committed(start):
    journal = start(store := GatedStore(is_open=False, failure=FULL))
    journal.write(guest(1))
    await wait_all_tasks_blocked()
    second = journal.write(guest(2))
    store.let_one_through()
    with pytest.raises(JournalStoppedError, match="it is full"):
        await journal.wait_durable(second)
    assert (store.committed, store.attempts) == ([], 1)


async def test_waiting_for_what_is_durable_ends_at_once_after_a_failure(start):
    journal = start(store := GatedStore())
    await journal.wait_durable(journal.write(guest(1)))
    store.failure = FULL
    with pytest.raises(JournalStoppedError):
        await journal.wait_durable(journal.write(guest(2)))
    await journal.wait_durable(1)
    assert journal.durable == 1


async def test_closed_journal_takes_no_more_commits_what_it_took_and_ends():
    journal = journal_of(store := GatedStore())
    for n in range(MAX_BATCH + 1):
        journal.write(guest(n))
    journal.close()
    with pytest.raises(JournalStoppedError, match="closed"):
        journal.write(guest(-1))
    await journal.run()
    assert [len(batch) for batch in store.committed] == [MAX_BATCH, 1]


async def test_closing_ends_an_idle_run():
    journal = journal_of(GatedStore())
    async with trio.open_nursery() as inner:
        inner.start_soon(journal.run)
        await wait_all_tasks_blocked()
        journal.close()


async def test_error_of_any_other_kind_stops_the_journal_as_well(start, heard):
    journal = start(GatedStore(failure=MemoryError()))
    with pytest.raises(JournalStoppedError, match="MemoryError"):
        await journal.wait_durable(journal.write(guest(1)))
    assert (len(heard.failures), heard.durable) == (1, [])


class BusyStore(GatedStore):
    """A store that another program holds for a while."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    def commit(self, writes: Sequence[Write]) -> None:
        self.failure = StoreBusyError("it is held") if self.attempts < self.times else None
        super().commit(writes)


async def test_commit_is_tried_again_while_another_program_holds_the_store(start, heard):
    journal = start(store := BusyStore(BUSY_TRIES - 1))
    await journal.wait_durable(journal.write(guest(1)))
    assert (store.committed, heard.durable) == ([(guest(1),)], [1])


async def test_store_that_is_held_for_too_long_has_failed(start, heard):
    journal = start(BusyStore(BUSY_TRIES))
    with pytest.raises(JournalStoppedError, match="it is held"):
        await journal.wait_durable(journal.write(guest(1)))
    assert [type(error) for error in heard.failures] == [StoreBusyError]


async def test_slow_commit_is_in_the_log(start, mock_clock):
    journal = start(store := GatedStore(is_open=False))
    number = journal.write(guest(1))
    await wait_all_tasks_blocked()
    mock_clock.jump(30)
    store.let_one_through()
    with capture_logs() as logged:
        await journal.wait_durable(number)
    assert [entry["seconds"] for entry in logged if entry["event"] == "store_was_slow"] == [30.0]


async def test_commit_that_does_not_return_is_in_the_log_while_it_hangs_once(start, mock_clock):
    journal = start(store := GatedStore(is_open=False))
    journal.write(guest(1))
    await wait_all_tasks_blocked()
    number = journal.write(guest(2))
    with capture_logs() as logged:
        for _ in range(4):
            await pass_time(mock_clock, SLOW_S)
    assert [(entry["event"], entry["waiting"]) for entry in logged] == [("store_is_slow", 1)]
    store.open()
    await journal.wait_durable(number)


async def test_cancelled_run_lets_its_commit_finish():
    journal = journal_of(store := GatedStore(is_open=False))
    async with trio.open_nursery() as inner:
        inner.start_soon(journal.run)
        journal.write(guest(1))
        await wait_all_tasks_blocked()
        inner.cancel_scope.cancel()
        store.open()
    assert store.committed == [(guest(1),)]

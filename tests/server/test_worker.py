"""A thread that does one job after another: what comes of each, in which order, and how it ends."""

import threading
from collections.abc import Callable

import pytest
import trio
from outcome import Outcome

from truc_server.timing.poller import Poller, Worker


class Started:
    """A worker that runs, and what has come of its jobs."""

    def __init__(self, nursery) -> None:
        self.came: list[Outcome] = []
        self._poller = Poller()
        self._worker = Worker("tried", self._poller)
        self._heard = trio.Event()
        nursery.start_soon(self._poller.run)
        nursery.start_soon(self._worker.run)

    def give(self, job: Callable[[], object]) -> None:
        self._worker.give(job, self._note)

    def _note(self, outcome: Outcome) -> None:
        self.came.append(outcome)
        self._heard.set()

    async def result(self) -> object:
        """Wait for the next job to be done; return its result, or raise what it has raised."""
        while not self.came:
            await self._heard.wait()
            self._heard = trio.Event()
        return self.came.pop(0).unwrap()


@pytest.fixture
def worker(nursery):
    return Started(nursery)


async def test_job_is_done_in_the_thread_of_that_name_and_its_result_comes_back(worker):
    worker.give(lambda: threading.current_thread().name)
    assert await worker.result() == "tried"


async def test_result_is_told_in_the_main_thread(worker):
    told: list[threading.Thread] = []
    worker._worker.give(lambda: None, lambda _: told.append(threading.current_thread()))
    worker.give(lambda: None)
    await worker.result()
    assert told == [threading.main_thread()]


async def test_what_a_job_raises_is_raised_where_it_is_waited_for_and_the_next_is_done(worker):
    worker.give(lambda: 1 // 0)
    worker.give(lambda: 1)
    with pytest.raises(ZeroDivisionError):
        await worker.result()
    assert await worker.result() == 1


async def test_jobs_are_done_in_the_order_in_which_they_came(worker):
    done: list[int] = []
    for i in range(20):
        worker.give(lambda i=i: done.append(i))
    for _ in range(20):
        await worker.result()
    assert done == list(range(20))


async def test_job_that_was_given_before_the_thread_began_is_done(nursery):
    poller, done = Poller(), trio.Event()
    worker = Worker("tried", poller)
    worker.give(lambda: None, lambda _: done.set())
    nursery.start_soon(poller.run)
    nursery.start_soon(worker.run)
    await done.wait()
    nursery.cancel_scope.cancel()


async def test_worker_that_is_cancelled_ends_when_the_job_has_that_has_begun():
    begun, go, done = threading.Event(), threading.Event(), threading.Event()

    def job() -> None:
        begun.set()
        assert go.wait(10)
        done.set()

    async with trio.open_nursery() as nursery:
        Started(nursery).give(job)
        await trio.to_thread.run_sync(begun.wait)
        nursery.cancel_scope.cancel()
        go.set()
    assert done.is_set()
    assert "tried" not in {thread.name for thread in threading.enumerate()}

"""A thread that does one job after another: what comes back, in which order, and what a cancelled job costs."""

import threading
from contextlib import closing

import pytest
import trio

from truc_server.worker import Worker


@pytest.fixture
async def worker():
    with closing(Worker("tried")) as worker:
        yield worker


async def test_job_is_done_in_the_thread_of_that_name_and_its_result_comes_back(worker):
    assert await worker.do(lambda: threading.current_thread().name) == "tried"


async def test_what_a_job_raises_is_raised_where_it_is_waited_for_and_the_next_is_done(worker):
    with pytest.raises(ZeroDivisionError):
        await worker.do(lambda: 1 // 0)
    assert await worker.do(lambda: 1) == 1


async def test_jobs_are_done_in_the_order_in_which_they_came(worker):
    done: list[int] = []
    async with trio.open_nursery() as nursery:
        for i in range(20):
            nursery.start_soon(worker.do, lambda i=i: done.append(i))
            await trio.lowlevel.checkpoint()
    assert done == list(range(20))


async def test_job_that_has_begun_is_waited_for_although_cancelled(worker):
    begun, go, done = threading.Event(), threading.Event(), threading.Event()

    def job() -> None:
        begun.set()
        assert go.wait(10)
        done.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(worker.do, job)
        await trio.to_thread.run_sync(begun.wait)
        nursery.cancel_scope.cancel()
        go.set()
    assert done.is_set()


async def test_nothing_is_begun_for_who_is_cancelled_already(worker):
    done: list[int] = []
    with trio.CancelScope() as scope:
        scope.cancel()
        await worker.do(lambda: done.append(1))
    await worker.do(lambda: None)
    assert done == []


async def test_thread_ends_after_what_it_was_given():
    worker = Worker("ended")
    (thread,) = (thread for thread in threading.enumerate() if thread.name == "ended")
    assert await worker.do(lambda: 1) == 1
    worker.close()
    await trio.to_thread.run_sync(thread.join, 10)
    assert not thread.is_alive()

"""A thread that makes calls one at a time, in order, and answers the tasks that wait for them."""

import threading

import trio
import trio.testing

from truc_server.operation.worker import Worker


async def test_calls_are_made_in_order_and_answered_each_to_its_task():
    worker, made, answers = Worker("test"), [], {}

    def call(number):
        made.append((number, threading.current_thread().name))
        if number == 2:
            raise ValueError("two")
        return -number

    async def ask(number):
        try:
            answers[number] = await worker.run(call, number)
        except ValueError as error:
            answers[number] = str(error)

    async with trio.open_nursery() as tasks:
        for number in range(5):
            tasks.start_soon(ask, number)
            await trio.testing.wait_all_tasks_blocked()
    assert made == [(number, "test") for number in range(5)]
    assert answers == {0: 0, 1: -1, 2: "two", 3: -3, 4: -4}


async def test_call_is_waited_for_by_a_task_that_is_cancelled():
    worker, go_on, ended = Worker("test"), threading.Event(), trio.Event()

    async def ask():
        await worker.run(go_on.wait, 10)
        ended.set()

    async with trio.open_nursery() as tasks:
        tasks.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
        with trio.CancelScope(shield=True):
            await trio.testing.wait_all_tasks_blocked()
            assert not ended.is_set()
            go_on.set()
    assert ended.is_set()


async def test_call_is_made_for_a_task_that_was_cancelled_before_which_is_told_next():
    worker, made = Worker("test"), []
    with trio.CancelScope() as scope:
        scope.cancel()
        await worker.run(made.append, 1)
        await trio.lowlevel.checkpoint()
        made.append(2)
    assert (made, scope.cancelled_caught) == ([1], True)


async def test_thread_ends_behind_what_was_asked_of_it_when_the_worker_is_closed():
    worker, threads, made = Worker("test"), [], []
    async with trio.open_nursery() as tasks:
        tasks.start_soon(worker.run, lambda: threads.append(threading.current_thread()))
        tasks.start_soon(worker.run, made.append, 1)
        await trio.testing.wait_all_tasks_blocked()
        worker.close()
    (thread,) = threads
    thread.join(timeout=10)
    assert (made, thread.is_alive()) == ([1], False)

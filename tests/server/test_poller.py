"""The rounds of a server: who is called in them, and what is done at their end."""

import socket
import threading

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from truc_server.net.sockets import read
from truc_server.timing.poller import Poller


@pytest.fixture
async def pipe(nursery):
    """Return (a poller that runs, a socket that it may watch, the other end)."""
    near, far = socket.socketpair()
    near.setblocking(False)
    poller = Poller()
    nursery.start_soon(poller.run)
    with near:
        async with trio.SocketStream(trio.socket.from_stdlib_socket(far)) as other:
            yield poller, near, other


async def test_poller_calls_once_for_what_is_read_at_once(pipe):
    poller, wire, other = pipe
    received: list[bytes | None] = []
    poller.add(wire, lambda: received.append(read(wire, 100)))
    for sent in (b"one", b"two"):
        await other.send_all(sent)
        await wait_all_tasks_blocked()
    assert received == [b"one", b"two"]


async def test_poller_calls_again_for_what_was_left_unread(pipe):
    poller, wire, other = pipe
    received: list[bytes | None] = []
    await other.send_all(b"abcd")
    poller.add(wire, lambda: received.append(read(wire, 2)))
    await wait_all_tasks_blocked()
    assert received == [b"ab", b"cd"]


async def test_poller_calls_nobody_who_was_removed(pipe):
    poller, wire, other = pipe
    received: list[bytes | None] = []
    poller.add(wire, lambda: received.append(read(wire, 100)))
    poller.remove(wire)
    await other.send_all(b"unheard")
    await wait_all_tasks_blocked()
    assert received == []


async def test_what_is_put_off_is_done_at_the_end_of_the_round_and_once(pipe):
    poller, wire, other = pipe
    done: list[str] = []

    def hear() -> None:
        poller.put_off(lambda: done.append("put off"))
        read(wire, 100)
        done.append("heard")

    poller.add(wire, hear)
    await other.send_all(b"one")
    await wait_all_tasks_blocked()
    assert done == ["heard", "put off"]


async def test_what_is_put_off_at_the_end_of_a_round_is_done_in_it(pipe):
    poller, _, _ = pipe
    done: list[int] = []
    poller.put_off(lambda: (done.append(1), poller.put_off(lambda: done.append(2))))
    await wait_all_tasks_blocked()
    assert done == [1, 2]


async def test_what_is_put_off_outside_of_a_round_is_done_soon_and_not_at_once(pipe):
    poller, _, _ = pipe
    done: list[int] = []
    poller.put_off(lambda: done.append(1))
    assert done == []
    await wait_all_tasks_blocked()
    assert done == [1]


async def test_what_is_put_off_before_it_runs_is_done_when_it_does(nursery):
    poller, done = Poller(), []
    poller.put_off(lambda: done.append(1))
    nursery.start_soon(poller.run)
    await wait_all_tasks_blocked()
    nursery.cancel_scope.cancel()
    assert done == [1]


async def test_calls_that_threads_ring_in_are_made_in_the_main_thread_and_none_is_lost(pipe):
    poller, _, _ = pipe
    calls: list[tuple[int, threading.Thread]] = []
    all_made = trio.Event()

    def note(i: int) -> None:
        calls.append((i, threading.current_thread()))
        if len(calls) == 4_000:
            all_made.set()

    def ring(first: int) -> None:
        for i in range(first, first + 1_000):
            poller.ring_in(lambda i=i: note(i))

    threads = [threading.Thread(target=ring, args=(1_000 * n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    await all_made.wait()
    for thread in threads:
        thread.join()
    assert sorted(i for i, _ in calls) == list(range(4_000))
    assert {thread for _, thread in calls} == {threading.main_thread()}


async def test_thread_that_rings_when_it_has_ended_is_not_heard_and_does_not_fail():
    poller, done = Poller(), []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(poller.run)
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    poller.ring_in(lambda: done.append(1))
    await wait_all_tasks_blocked()
    assert done == []

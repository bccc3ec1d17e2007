"""Frames leave in order, when what they tell is durable, and never beyond the limit."""

import socket

import pytest
import trio
from server.clocks import pass_time
from trio.testing import wait_all_tasks_blocked

from truc_server.net.outbox import Flusher, Outbox


@pytest.fixture
async def pipe(nursery):
    """Return (outbox, its flusher, the other end, what broke)."""
    near, far = socket.socketpair()
    broken = []
    flusher = Flusher()
    await nursery.start(flusher.run)
    wire = trio.socket.from_stdlib_socket(near)
    outbox = Outbox(wire, 100_000, flusher, on_broken=lambda: broken.append(True))
    async with trio.SocketStream(trio.socket.from_stdlib_socket(far)) as other:
        yield outbox, flusher, other, broken
    nursery.cancel_scope.cancel()
    near.close()


async def test_frame_that_waits_for_nothing_leaves_at_once(pipe):
    outbox, flusher, other, _ = pipe
    outbox.push(b"now", 0)
    flusher.touch(outbox)
    assert await other.receive_some() == b"now"


async def test_frame_waits_until_its_batch_is_durable_and_none_overtakes_it(pipe):
    outbox, flusher, other, _ = pipe
    outbox.push(b"first", 3)
    outbox.push(b"second", 0)
    flusher.touch(outbox)
    flusher.release(2)
    await wait_all_tasks_blocked()
    assert outbox.size == 11
    flusher.release(3)
    assert await other.receive_some() == b"firstsecond"


async def test_more_than_the_limit_is_not_taken(pipe):
    outbox, _, _, _ = pipe
    assert (outbox.push(b"x" * 100_000, 1), outbox.push(b"x", 1)) == (True, False)


async def fill(outbox, flusher) -> int:
    """Push until the kernel takes no more; return how many bytes that was."""
    sent = 0
    while not outbox.is_draining:
        outbox.push(b"x" * 90_000, 0)
        sent += 90_000
        flusher.touch(outbox)
        await wait_all_tasks_blocked()
    return sent


async def test_what_the_kernel_does_not_take_is_finished_later(pipe):
    outbox, flusher, other, _ = pipe
    sent = await fill(outbox, flusher)
    received = 0
    while received < sent:
        received += len(await other.receive_some())
    await wait_all_tasks_blocked()
    assert (received, outbox.size, outbox.is_draining) == (sent, 0, False)


async def test_end_of_the_stream_follows_the_last_frame(pipe):
    outbox, flusher, other, _ = pipe
    outbox.push(b"bye", 0)
    outbox.is_finishing = True
    flusher.touch(outbox)
    assert [await other.receive_some(), await other.receive_some()] == [b"bye", b""]


async def test_everybody_who_waits_for_the_last_frame_is_woken(pipe):
    outbox, flusher, _, _ = pipe
    outbox.push(b"last", 1)
    async with trio.open_nursery() as waiting:
        for _ in range(2):
            waiting.start_soon(outbox.wait_empty)
        await wait_all_tasks_blocked()
        flusher.release(1)
    assert outbox.size == 0


async def test_peer_that_takes_nothing_for_long_is_given_up(pipe, mock_clock):
    outbox, flusher, _, broken = pipe
    await fill(outbox, flusher)
    await pass_time(mock_clock, 10.01)
    assert (broken, outbox.is_broken) == ([True], True)


async def test_connection_that_is_closed_before_the_rest_has_its_turn_harms_nobody(pipe):
    outbox, flusher, _, _ = pipe
    while not outbox.is_draining:
        outbox.push(b"x" * 90_000, 0)
        flusher.release(0)
    outbox.wire.close()
    outbox.shut()
    await wait_all_tasks_blocked()
    assert flusher.stuck == 0


async def test_peer_that_is_gone_breaks_the_outbox(pipe):
    outbox, flusher, other, broken = pipe
    await other.aclose()
    outbox.push(b"hello?", 0)
    flusher.touch(outbox)
    await wait_all_tasks_blocked()
    assert broken == [True]


async def test_what_is_loose_is_dropped_and_the_rest_stays_in_order(pipe):
    outbox, flusher, other, _ = pipe
    for frame, is_loose in ((b"1", False), (b"2", True), (b"3", False), (b"4", True)):
        outbox.push(frame, 1, is_loose=is_loose)
    outbox.drop_loose()
    flusher.touch(outbox)
    flusher.release(1)
    assert (await other.receive_some(), outbox.size) == (b"13", 0)


async def test_who_wants_to_know_is_told_once_that_little_waits(pipe):
    outbox, flusher, other, _ = pipe
    told = []
    outbox.on_low = lambda: told.append(outbox.size)
    for _ in range(2):
        outbox.push(b"frame", 0)
        flusher.touch(outbox)
        await other.receive_some()
    assert told == [0]


async def test_flusher_that_has_ended_writes_nothing_more():
    near, far = socket.socketpair()
    flusher = Flusher()
    async with trio.open_nursery() as nursery:
        await nursery.start(flusher.run)
        nursery.cancel_scope.cancel()
    outbox = Outbox(trio.socket.from_stdlib_socket(near), 10_000_000, flusher, on_broken=lambda: None)
    with near, far:
        outbox.push(b"x" * 9_000_000, 1)  # more than the kernel takes at once
        flusher.release(1)
        assert (outbox.size, outbox.is_draining) == (9_000_000, False)

"""Calls come at their moments, once, and a failing one harms no other."""

import gc
import weakref

import pytest
import trio
from server.clocks import pass_time
from trio.testing import wait_all_tasks_blocked

from truc_protocol.codec import enc_trusted
from truc_protocol.records import Record
from truc_server.matches.game import MEANS, RecentRecords, SentRecord, record_frame
from truc_server.storage import AddRecord
from truc_server.timing.clock import FEW, Alarm, Timers


@pytest.fixture
def timers(nursery, mock_clock):
    timers = Timers()
    nursery.start_soon(timers.run)
    return timers


def after(timers: Timers, seconds: float, call) -> Alarm:
    """Set an alarm."""
    alarm = Alarm(timers, call)
    alarm.set(trio.current_time() + seconds)
    return alarm


async def passed(clock, seconds) -> None:
    await wait_all_tasks_blocked()
    await pass_time(clock, seconds)


async def test_calls_come_in_the_order_of_their_moments_and_not_before_unless_cancelled(timers, mock_clock):
    called = []
    after(timers, 2, lambda: called.append(2))
    after(timers, 1, lambda: called.append(1))
    after(timers, 1, lambda: called.append(0)).stop()
    await passed(mock_clock, 1.9)
    assert called == [1]
    await passed(mock_clock, 1)
    assert called == [1, 2]


async def test_earlier_call_asked_for_later_comes_first(timers, mock_clock):
    called = []
    after(timers, 10, lambda: called.append(10))
    await wait_all_tasks_blocked()
    after(timers, 1, lambda: called.append(1))
    await passed(mock_clock, 2)
    assert called == [1]


async def test_call_that_fails_does_not_stop_the_others(timers, mock_clock):
    called = []
    after(timers, 1, lambda: 1 / 0)
    after(timers, 2, lambda: called.append(2))
    await passed(mock_clock, 3)
    assert called == [2]


@pytest.mark.parametrize(
    ("moments", "expected"), [((5, 3), [3]), ((3, 5), [5]), ((3, None), []), ((3, 5, 4), [4])]
)
async def test_alarm_rings_once_at_the_moment_set_last(timers, mock_clock, moments, expected):
    rung = []
    alarm = Alarm(timers, lambda: rung.append(trio.current_time()))
    for moment in moments:
        alarm.set(moment)
    for _ in range(8):
        await passed(mock_clock, 1)
    assert rung == expected


class Asker:
    """Somebody who waits for time."""

    def __init__(self, timers) -> None:
        self.alarm = Alarm(timers, self.ring)

    def ring(self) -> None:
        pass


async def test_who_has_stopped_an_alarm_is_gone_without_being_collected(timers):
    asker = Asker(timers)
    asker.alarm.set(1_000)
    asker.alarm.stop()
    seen = weakref.ref(asker)
    gc.disable()
    del asker
    gc.enable()
    assert seen() is None


async def test_alarms_set_and_taken_back_do_not_pile_up(timers):
    alarm = Alarm(timers, lambda: None)
    for _ in range(10 * FEW):
        alarm.set(1_000)
        alarm.set(None)
    assert len(timers._heap) <= FEW


async def test_calls_still_come_after_cancelled_ones_were_swept(timers, mock_clock):
    called = []
    after(timers, 2, lambda: called.append(2))
    for _ in range(10 * FEW):
        after(timers, 1, lambda: called.append(1)).stop()
    await passed(mock_clock, 3)
    assert called == [2]


def item(k: int, gate: int = 0) -> SentRecord:
    row = AddRecord(bytes(32), k, 0, bytes([k]), b"", MEANS + enc_trusted(()), 0, b"")
    return SentRecord(k, record_frame("AYN3B", row), gate)


def filled(*ks: int, gate: int = 0) -> RecentRecords:
    tail = RecentRecords()
    for k in ks:
        tail.add(item(k, gate))
    return tail


def test_tail_keeps_the_hand_before_the_present_one():
    tail = filled(0, 1, 2)
    assert [held.k for held in tail.since(1)] == [1, 2]
    tail.close_hand(9)
    assert tail.first == 0
    tail.add(item(3))
    tail.close_hand(9)
    assert (tail.first, [held.k for held in tail.since(0)]) == (3, [3])


def test_tail_finds_a_record_of_its_signer():
    tail = filled(0, 1, 2)
    looked_for = Record(0, b"\x01", b""), Record(0, b"\x07", b""), Record(1, b"\x01", b"")
    assert [tail.find(record, since=0) for record in looked_for] == [1, None, None]


def test_tail_drops_nothing_that_is_not_durable():
    tail = filled(0, 1, gate=4)
    tail.close_hand(3)
    tail.close_hand(3)
    assert tail.first == 0

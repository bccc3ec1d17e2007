"""Where somebody begins who watches: from the first record, from where they were, or from a snapshot."""

from functools import partial

import pytest
from server.acting import stand
from server.calls import BRIEF, after
from server.conftest import PATIENT, QUICK, changed, holder_of, in_hand, play_on, running, under
from server.late import eye_at
from server.rawclient import is_rash
from server.watching import Eye, Held

from truc_protocol.audit import Auditor, Result
from truc_protocol.bodies import Call
from truc_protocol.records import Record, parse
from truc_server.spectating.audience import Audience


def newest_call(seat) -> int:
    """Return the position of the newest call that a seat knows."""
    setup = 2 + len(seat.ledger.setup.seats)
    calls = (k - setup for k, record in enumerate(seat.records) if isinstance(parse(record), Call))
    return max(calls)


def third_hand(seat) -> bool:
    return seat.done or seat.ledger.deal_index >= 3


async def later(server, **options):
    """Return two seats in the middle of a match."""
    seats = await server.match(2, "truc-french", options=options)
    await play_on(seats, lambda seat: seat.auditor and third_hand(seat))
    return seats


async def snapshot_of(eye: Eye) -> dict:
    return next(message for message in eye.client.log if message["t"] == "snapshot")


async def test_snapshot_has_the_setup_the_head_and_the_state_that_the_records_go_on_from(server):
    seats = await later(server)
    eye = await eye_at(server, seats[0].table, "snapshot")
    snapshot = await snapshot_of(eye)
    auditor = Auditor(snapshot["doc"])
    known = seats[0].records[: 2 + 2 + snapshot["k"]]
    for record in known:
        auditor.feed(record)
    assert [Record(*record) for record in snapshot["records"]] == known[:4]
    assert auditor.ledger.head == snapshot["head"]
    told = {message["k"]: message for message in seats[0].client.log if message["t"] == "record"}
    assert snapshot["view"] == told[snapshot["k"] - 1]["means"][-1]
    assert snapshot["view"]["what"] == "state"


async def test_snapshot_at_the_first_position_has_no_view(server):
    seats = await server.match(2, "truc-french")
    await play_on(seats, lambda seat: seat.auditor)
    eye = await eye_at(server, seats[0].table, "snapshot")
    assert ((await snapshot_of(eye))["k"], (await snapshot_of(eye))["view"]) == (0, {})


async def test_snapshot_after_a_match_is_at_its_last_close(server):
    seats = await server.match(2, "truc-french", options=BRIEF)
    await play_on(seats)
    eye = await eye_at(server, seats[0].table, "snapshot")
    assert eye.records == list(range(seats[0].next - 3, seats[0].next))


async def test_snapshot_of_a_table_that_shows_hands_says_nothing_of_the_present_one(server):
    seats = await in_hand(server, options={"spectators": 2})
    eye = await eye_at(server, seats[0].table, "snapshot")
    assert (eye.next, max(eye.records, default=None)) == (4, 3)


@under(PATIENT)
async def test_snapshot_of_a_table_that_is_shown_late_is_of_what_is_shown(server, mock_clock):
    seats = await in_hand(server, options={"spectators": 3 + 60})
    mock_clock.jump(61)
    await stand(holder_of(seats)[0])
    eye = await eye_at(server, seats[0].table, "snapshot")
    assert eye.records == list(range(newest_call(seats[0]), 8))


async def test_watcher_who_wants_snapshots_goes_on_within_the_present_hand(server):
    seats = await in_hand(server)
    eye = await eye_at(server, seats[0].table, "snapshot")
    eye.next = 7
    await eye.connect(server)
    del eye.order[:]
    await eye.go_on(seats[0].table)
    assert eye.order == ["playing", "record"]


async def test_watcher_who_wants_snapshots_is_not_sent_old_hands(server):
    seats = await in_hand(server)
    eye = await eye_at(server, seats[0].table, "snapshot")
    reply = await eye.watch(seats[0].table, match=eye.match, next=1)
    assert (reply["k"], eye.order.count("snapshot")) == (8, 2)


async def test_watcher_of_a_match_before_begins_the_present_one(server):
    seats = await in_hand(server)
    eye = await eye_at(server, seats[0].table, match=bytes(32), next=7)
    assert eye.records == list(range(8))


async def test_position_that_is_not_shown_or_of_no_match_is_refused_to_watchers(server):
    seats = await in_hand(server, options={"spectators": 2})
    eye = await Eye().connect(server)
    reply = await eye.watch(seats[0].table, match=seats[0].ledger.setup.mid, next=5)
    assert (reply["code"], reply["field"]) == ("bad_position", "next")
    reply = await eye.watch(seats[0].table, next=5)
    assert (reply["code"], reply["field"]) == ("bad_message", "match")


@pytest.fixture
def held(monkeypatch) -> Held:
    return Held(monkeypatch)


def never_all_at_once(seat, message, options):
    """Choose at random, but nothing that may end a match before it has filled an outbox."""
    return seat.pick(message, [option for option in options if not is_rash(option)] or options)


async def overflow(server, held, eye: Eye, seats) -> None:
    """Let seats play a match to its end, and somebody watch it who is not sent what does not fit in."""
    await eye.connect(server)
    await eye.watch(seats[0].table)
    held.hold(eye)
    for seat in seats:
        await seat.ready()
    await play_on(seats, after(5))
    held.leave_no_room(eye)
    await play_on(seats)


async def overflown(server, held, eye: Eye) -> list:
    """Return two seats that have played more than a watcher takes, and the watcher is not sent anything."""
    seats = await server.seats(2, "truc-french", options={"reveal": "match", **BRIEF})
    for seat in seats:
        seat.chooses = partial(never_all_at_once, seat)
    await overflow(server, held, eye, seats)
    return seats


async def test_watcher_who_falls_behind_goes_on_from_a_snapshot_and_has_every_reply(server, held):
    eye = Eye("snapshot")
    seats = await overflown(server, held, eye)
    assert {seat.auditor.verdict().result for seat in seats} == {Result.PROVEN}
    number = await eye.client.send({"t": "tables"})
    held.release(eye)
    await eye.until(lambda eye: eye.skips and eye.next == seats[0].next)
    await eye.until(lambda eye: any(note.get("re") == number for note in eye.notes))
    assert len(eye.records) < seats[0].next


async def test_failure_where_a_watcher_is_to_go_on_ends_that_connection_alone(server, held, monkeypatch):
    eye = Eye("snapshot")
    seats = await overflown(server, held, eye)
    monkeypatch.setattr(Audience, "come_back", lambda *_: 1 / 0)
    held.release(eye)
    goodbye = (await eye.client.closed())[-1]
    assert (goodbye["t"], goodbye["code"]) == ("bye", "internal")
    assert (await seats[0].client.ask({"t": "tables"}))["t"] == "ok"


async def test_watcher_who_knows_no_snapshots_is_cut_with_a_reason(server, held, mock_clock):
    eye = Eye()
    await overflown(server, held, eye)
    held.release(eye)
    goodbye = (await eye.client.closed())[-1]
    assert (goodbye["t"], goodbye["code"], goodbye["retryable"]) == ("bye", "slow_consumer", True)


async def test_seat_that_does_not_read_is_cut_and_keeps_its_seat(path, held, mock_clock):
    tight = changed(QUICK, limits={"outbox_bytes": 65_536})
    async with running(path, tight) as server:
        seats = await in_hand(server)
        held.hold(seats[0])
        for n in range(3_000):
            await seats[0].client.send({"t": "ping", "n": n})
        held.release(seats[0])
        goodbye = (await seats[0].client.closed())[-1]
        assert (goodbye["t"], goodbye["code"]) == ("bye", "slow_consumer")
        assert (await seats[0].come_back(await server.connect()))["t"] == "ok"

"""Time that runs out becomes a signed ruling; what it does, the terms of the match say, and orders do not stop it."""

import pytest
from server.acting import act, all_ask, stand
from server.calls import after, awake, called, rulings
from server.clocks import come_back, leave, pass_time
from server.conftest import PATIENT, holder_of, in_hand, play_on, under
from server.rawclient import RawSeat
from structlog.testing import capture_logs

from truc_protocol.bodies import Void
from truc_protocol.records import Phase, parse
from truc_rules import deciders

SETTINGS = PATIENT


async def test_nothing_is_ruled_before_the_time_that_is_told_is_over(server, mock_clock):
    seats = await in_hand(server, options={"decision_ms": 1000, "bank_ms": 500})
    mover, other = holder_of(seats)
    told = other.waiting or other.options
    assert (mover.options["deadline_ms"], told["deadline_ms"]) == (1500, 1500)
    mock_clock.jump(1.4)
    await stand(mover)
    assert rulings(mover) == []


async def test_the_bank_pays_for_what_a_decision_takes_beyond_its_time(server, mock_clock):
    mover, _ = holder_of(await in_hand(server, options={"decision_ms": 1000, "bank_ms": 500}))
    mock_clock.jump(1.2)
    await stand(mover)
    await mover.play(until=lambda seat: seat.options["at"] == 9)
    assert mover.options["deadline_ms"] == 1300


async def test_a_silent_seat_voids_the_draw_which_is_logged_and_called_again(server, mock_clock):
    with capture_logs() as logged:
        seats = await called(server, options={"release_ms": 5000})
        await awake(seats[0])
        await play_on(seats, after(2))
        mock_clock.jump(5.01)
        await play_on(seats, after(4))
    void = parse(seats[0].records[-2])
    assert (isinstance(void, Void), void.seats, seats[0].ledger.phase) == (True, (1,), Phase.CALLED)
    (told,) = (entry for entry in logged if entry["event"] == "voided")
    assert (told["table"], told["k"], told["seats"]) == (seats[0].table, 2, [1])


async def test_releases_do_not_give_the_others_more_time(server, mock_clock):
    seats = await called(server, options={"release_ms": 5000})
    mock_clock.jump(3)
    await awake(seats[0])
    await play_on(seats, after(2))
    mock_clock.jump(2.01)
    await play_on(seats, after(3))
    assert parse(seats[0].records[-1]).seats == (1,)


async def test_terms_that_nobody_signs_are_dropped_and_the_silent_seat_is_not_ready(server, mock_clock):
    seats = await server.match(2, options={"release_ms": 5000})
    await seats[0].play(until=lambda seat: seat.sent is not None)
    assert (await seats[0].client.until("ok"))["t"] == "ok"
    mock_clock.jump(5.01)
    state = await seats[0].client.until("table", state="open")
    assert [seat.get("ready", False) for seat in state["seats"]] == [True, False]


@under(limits={"idle_s": 3600}, tables={"between_hands_ms": 2000})
async def test_without_keyed_seats_the_deal_follows_after_the_pause(server, mock_clock):
    seats = await server.match(2, guests=(0, 1), boxed=False)
    await play_on(seats, after(3))
    assert seats[0].ledger.phase is Phase.CALLED
    mock_clock.jump(2.01)
    await play_on(seats, after(4))
    assert seats[0].ledger.phase is Phase.HAND


async def test_a_pause_that_every_seat_asks_for_stops_the_clock(server, mock_clock):
    seats = await in_hand(server, options={"decision_ms": 1000, "bank_ms": 0, "pause_ms": 60_000})
    await all_ask(seats, "pause")
    mock_clock.jump(50)
    await all_ask(seats, "resume")
    assert rulings(seats[0]) == [("pause", None, None), ("resume", None, None)]


async def deserted(server) -> list[RawSeat]:
    """Return two players in a hand without a clock, both of whose connections have ended."""
    seats = await in_hand(server, options={"decision_ms": 0})
    for seat in seats:
        await leave(seat)
    return seats


async def test_a_table_deserted_by_its_match_is_closed_later(server, mock_clock):
    await deserted(server)
    for _ in range(2):
        await pass_time(mock_clock, 1_801)
    client = await server.connect()
    await client.login_guest()
    assert (await client.ask({"t": "tables"}))["tables"] == []


async def test_a_player_who_comes_back_in_time_or_stays_alone_keeps_the_match(server, mock_clock):
    seats = await deserted(server)
    mock_clock.jump(1_000)
    await come_back(server, seats[1])
    await pass_time(mock_clock, 1_801)
    await come_back(server, seats[0])
    assert rulings(seats[0]) == []


def stand_if_asked(_message, options):
    return next((option for option in options if option["kind"] == "stand"), None)


def stood(seat):
    return bool(
        seat.auditor
        and seat.ledger
        and seat.ledger.hand
        and seat.ledger.match.hand.phase.name == "PLAY"
        and (seat.options or seat.waiting)
    )


@pytest.mark.slow
@under(limits={"idle_s": 3600}, match={"decision_ms": 30_000, "bank_ms": 0})
async def test_orders_do_not_stop_the_clock(server, mock_clock):
    seats = await server.match(4, "truc-partnership")
    for seat in seats:
        seat.chooses = stand_if_asked
    await play_on(seats, stood)
    eldest = deciders(seats[0].ledger.match)[0]
    governor = seats[eldest]
    mock_clock.jump(20)
    k = governor.next
    await governor.hand_in(act(governor, "order", ["low"]))
    mock_clock.jump(15)
    await governor.play(after(k + 2))
    ruled = parse(governor.records[-1])
    assert (ruled.ruling, ruled.seat, ruled.kind) == ("move", eldest, "play")

"""Seats that were ruled for too often: offered after the hand, taken over, and as a restart finds them."""

import pytest
from server.calls import after, is_ended, results, rulings
from server.clocks import leave
from server.conftest import PATIENT as SETTINGS
from server.conftest import only_cut, play_on, running, together
from server.rawclient import RawSeat
from server.restarting import come_back, play_until_stopped
from server.substituting import (
    TERMS,
    offered,
    standing_by,
    state_of,
    step_in,
    vacancies,
    voided,
    with_newcomer,
)

from truc_protocol.audit import Result
from truc_protocol.records import Phase, parse
from truc_rules import deciders_in_view


async def absent(server, mock_clock, *, leaves=False, guests=()) -> list[RawSeat]:
    """Return seats the second of which was ruled for through a whole hand, so that it is offered to others."""
    options = {**TERMS, "gone_after": 1, "guests": 1, "target": 12}
    seats = there = await server.match(2, guests=guests, options=options)
    first, away = seats
    away.chooses = only_cut
    await play_on(seats, waits_for_second)
    if leaves:
        await leave(away)
        there = [first]
    while not offered(first):
        ruled = after(first.next + 1)
        mock_clock.jump(1.01)
        await play_on(there, ruled)
        await play_on(there, lambda seat: offered(seat) or waits_for_second(seat))
    return seats


def waits_for_second(seat: RawSeat) -> bool:
    """Tell whether a seat knows that the hand waits for a decision of the second."""
    told = [message for message in (seat.options, seat.waiting) if message and message["at"] == seat.next]
    return bool(told and seat.ledger.hand and 1 in deciders_in_view(seat.ledger.match))


@pytest.mark.slow
async def test_seat_ruled_for_too_often_is_offered_after_the_hand_not_claimed_against_and_forfeits_there(
    server, mock_clock
):
    other, away = await absent(server, mock_clock, leaves=True)
    ruled = {ruling for ruling, _, _ in rulings(other)}
    assert (ruled, other.ledger.phase, other.waiting["seats"]) == ({"move"}, Phase.BETWEEN, [away.seat])
    wanted = {"t": "claim_match", "table": other.table, "match": other.ledger.setup.mid}
    assert (await other.ask(wanted))["retry_after_ms"] == 5000
    mock_clock.jump(5.01)
    await play_on([other], is_ended)
    assert rulings(other)[-1] == ("forfeit", away.seat, "absent")


@pytest.mark.slow
async def test_player_who_comes_back_keeps_the_seat_from_who_stands_by_and_the_next_hand_is_called(
    server, mock_clock
):
    other, away = await absent(server, mock_clock, leaves=True)
    newcomer = await standing_by(server, [other])
    await come_back(server, away)
    assert (await step_in(newcomer))["code"] == "not_seated"
    await other.play(is_called)
    await other.client.ask({"t": "tables"})
    assert (vacancies(other), state_of(other)["seats"][away.seat]["name"]) == ([], away.name)


def is_called(seat: RawSeat) -> bool:
    return seat.ledger.phase is Phase.CALLED


@pytest.mark.slow
async def test_time_of_the_offer_stands_still_while_nobody_is_connected(server, mock_clock):
    other, _ = await absent(server, mock_clock, leaves=True)
    await leave(other)
    mock_clock.jump(500)
    await come_back(server, other)
    await other.client.ask({"t": "tables"})
    assert (is_called(other), offered(other)) == (False, True)


@pytest.mark.slow
async def test_guest_whose_seat_was_taken_over_has_it_no_more_and_is_told_so_after_a_restart_too(
    path, mock_clock
):
    async with running(path, SETTINGS) as server:
        seats = await absent(server, mock_clock, guests=(1,))
        newcomer = await standing_by(server, seats)
        await step_in(newcomer)
        assert (await seats[1].client.until("seat_taken_over"))["seat"] == 1
        assert (await seats[1].choose_line("resign"))["code"] == "seat_gone"
    async with running(path, SETTINGS) as server:
        client = await server.connect()
        assert (await client.login_token(seats[1].token)).get("seats", []) == []
        here = {"table": seats[1].table, "match": newcomer.ledger.setup.mid}
        assert (await client.ask({"t": "resume", **here, "next": 0}))["code"] == "seat_gone"


@pytest.mark.slow
async def test_newcomer_has_the_seat_after_a_restart_too(path, mock_clock):
    async with running(path, SETTINGS) as server:
        seats, newcomer = await with_newcomer(server, mock_clock)
        await step_in(newcomer)
        await play_until_stopped(server, (seats[0], newcomer), lambda seat: seat.ledger.hand is not None)
    async with running(path, SETTINGS) as server:
        for seat in (seats[0], newcomer):
            await come_back(server, seat)
            await seat.follow()
        left = await server.connect()
        assert "seats" not in await left.login_key(seats[1].key)
        await together(seats[0].play, newcomer.play)
    assert results([newcomer]) == {(Result.PROVEN, "won")}


async def test_table_of_a_match_that_is_over_has_no_vacant_seat(server, mock_clock):
    seats = await voided(server, mock_clock)
    mock_clock.jump(5.01)
    await play_on(seats[:1], is_ended)
    await seats[0].client.until("table", state="over")
    assert vacancies(seats[0]) == []


async def test_rematch_is_between_those_who_sit_there_now(server, mock_clock):
    seats, newcomer = await with_newcomer(server, mock_clock)
    await step_in(newcomer)
    players = [seats[0], newcomer]
    await play_on(players)
    first = newcomer.ledger.setup.mid
    for seat in players:
        assert (await seat.ready())["t"] == "ok"
    await play_on(players, lambda seat: seat.ledger.setup.mid != first and seat.ledger.hand is not None)
    assert [taken.pk for taken in newcomer.ledger.setup.seats] == [seat.key.public for seat in players]


async def test_reader_at_another_table_is_told_which_seats_are_vacant(server, mock_clock):
    seats = await voided(server, mock_clock)
    reader = await server.seat(seed=8)
    listed = (await reader.ask({"t": "tables"}))["tables"]
    assert [seat.get("vacant", False) for seat in listed[0]["seats"]] == [False, True]
    assert parse(seats[0].records[-1]).seats == (1,)

"""Seats that were ruled for too often: offered after the hand, taken over, and as a restart finds them."""

import pytest
from server.calls import after, is_ended, results, rulings
from server.conftest import PATIENT as SETTINGS
from server.conftest import give_up, only_cut, play_on, running, together
from server.rawclient import RawSeat
from server.restarting import come_back, play_until_stopped
from server.substituting import TERMS, offered, standing_by, step_in, vacancies, voided, with_newcomer

from truc_protocol.audit import Result
from truc_protocol.records import Phase, parse
from truc_rules import deciders_in_view


async def absent(server, mock_clock, *, guests=(), **options) -> tuple[list[RawSeat], int]:
    """Return seats one of which was ruled for through a whole hand, so that it is offered; and which."""
    seats = await server.match(2, guests=guests, options={**TERMS, "gone_after": 1, "guests": 1, **options})
    away = 1
    seats[away].chooses = only_cut

    def stuck(seat: RawSeat) -> bool:
        return offered(seat) or (is_told(seat) and away in deciders_in_view(seat.ledger.match))

    while not offered(seats[0]):
        await play_on(seats, stuck)
        if not offered(seats[0]):
            k = seats[0].next
            mock_clock.jump(1.01)
            await play_on(seats, after(k + 1))
    return seats, away


def is_told(seat: RawSeat) -> bool:
    """Tell whether a seat knows whose decision is waited for in a hand."""
    told = [message for message in (seat.options, seat.waiting) if message and message["at"] == seat.next]
    return bool(told and seat.ledger.hand)


@pytest.mark.slow
async def test_seat_ruled_for_too_often_is_offered_after_the_hand_and_forfeits_there(server, mock_clock):
    seats, away = await absent(server, mock_clock, target=12)
    ruled = {ruling for ruling, _, _ in rulings(seats[0])}
    assert (ruled, seats[0].ledger.phase, seats[0].waiting["seats"]) == ({"move"}, Phase.BETWEEN, [away])
    mock_clock.jump(5.01)
    await play_on(seats, is_ended)
    assert rulings(seats[0])[-1] == ("forfeit", away, "absent")


@pytest.mark.slow
async def test_absent_seat_is_taken_over_by_a_player_with_a_key(server, mock_clock):
    seats, _ = await absent(server, mock_clock, target=12)
    newcomer = await standing_by(server, seats)
    await step_in(newcomer)
    await give_up([newcomer, seats[0]])


@pytest.mark.slow
async def test_guest_whose_seat_was_taken_over_has_it_no_more_and_is_told_so_after_a_restart_too(
    path, mock_clock
):
    async with running(path, SETTINGS) as server:
        seats, _ = await absent(server, mock_clock, guests=(1,), target=12)
        newcomer = await standing_by(server, seats)
        await step_in(newcomer)
        assert (await seats[1].client.until("seat_taken_over"))["seat"] == 1
        here = {"table": seats[1].table, "match": newcomer.ledger.setup.mid}
        chosen = {"t": "act", **here, "at": newcomer.next, "choose": "resign"}
        assert (await seats[1].client.ask(chosen))["code"] == "seat_gone"
    async with running(path, SETTINGS) as server:
        client = await server.connect()
        assert (await client.login_token(seats[1].token)).get("seats", []) == []
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

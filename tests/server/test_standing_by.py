"""Newcomers who stand by for a vacant seat: who may, how many, and what they are shown meanwhile."""

import pytest
from server.calls import after
from server.conftest import PATIENT, in_hand, play_on, together
from server.substituting import (
    follow,
    standing_by,
    step_in,
    voided,
)
from trio.testing import wait_all_tasks_blocked

from truc_server.tables.standby import MOST

SETTINGS = PATIENT


async def test_newcomers_without_a_wish_are_spread_over_the_vacant_seats_and_keep_them(server, mock_clock):
    seats = await voided(server, mock_clock, count=4, variant="truc-catalan", silent=(1, 3))
    newcomers = [await standing_by(server, seats, seed=seed) for seed in (5, 6, 7, 8)]
    assert [newcomer.seat for newcomer in newcomers] == [1, 3, 1, 3]
    assert (await newcomers[1].join(seats[0].table))["seat"] == 3


async def test_one_key_under_two_names_stands_by_once(server, mock_clock):
    seats = await voided(server, mock_clock, count=4, variant="truc-catalan", silent=(1, 3))
    first = await standing_by(server, seats, seat=1)
    other = await server.seat(seed=8)
    other.client = await server.connect()
    await other.client.login_key(first.key, "another name")
    assert (await other.join(seats[0].table, 3))["t"] == "ok"
    assert (await step_in(first))["code"] == "not_seated"


async def test_more_newcomers_than_a_table_holds_take_the_place_of_the_first(server, mock_clock):
    seats = await voided(server, mock_clock)
    first = await standing_by(server, seats)
    second = await standing_by(server, seats, seed=8)
    for seed in range(20, 20 + MOST - 1):
        assert (await (await server.seat(seed=seed)).join(seats[0].table))["t"] == "ok"
    assert (await step_in(first))["code"] == "not_seated"
    assert (await step_in(second))["t"] == "ok"


async def test_newcomer_who_joins_again_keeps_its_place_among_the_others(server, mock_clock):
    seats = await voided(server, mock_clock)
    first = await standing_by(server, seats)
    for seed in range(20, 20 + MOST - 1):
        assert (await (await server.seat(seed=seed)).join(seats[0].table))["t"] == "ok"
    assert (await first.join(seats[0].table))["t"] == "ok"
    assert (await (await server.seat(seed=8)).join(seats[0].table))["t"] == "ok"
    assert (await step_in(first))["code"] == "not_seated"


async def test_newcomer_whose_connection_has_ended_takes_no_place(server, mock_clock):
    seats = await voided(server, mock_clock)
    newcomer = await standing_by(server, seats)
    gone = await standing_by(server, seats, seed=8)
    await gone.client.stream.aclose()
    await wait_all_tasks_blocked()
    for seed in range(20, 20 + MOST - 1):
        assert (await (await server.seat(seed=seed)).join(seats[0].table))["t"] == "ok"
    assert (await step_in(newcomer))["t"] == "ok"


async def test_newcomer_crowded_out_is_shown_no_more_of_a_match_that_nobody_may_watch(server, mock_clock):
    seats = await voided(server, mock_clock, spectators=0)
    first = await standing_by(server, seats)
    for seed in range(20, 20 + MOST):
        assert (await (await server.seat(seed=seed)).join(seats[0].table))["t"] == "ok"
    k = first.next
    await seats[0].act(seats[0].sign(seats[0].rekey()))
    await play_on(seats[:1], after(k + 1))
    assert (await first.ask({"t": "tables"}))["t"] == "ok"
    assert first.next == k


@pytest.mark.parametrize("request_", ["leave", "unwatch"])
async def test_who_stands_by_may_step_back(server, mock_clock, request_):
    seats = await voided(server, mock_clock)
    first = await standing_by(server, seats)
    assert (await first.ask({"t": request_, "table": first.table}))["t"] == "ok"
    assert (await step_in(first))["code"] == "not_seated"


async def test_newest_connection_of_a_player_stands_by(server, mock_clock):
    seats = await voided(server, mock_clock)
    newcomer = await standing_by(server, seats)
    newcomer.client = await server.connect()
    await newcomer.client.login_key(newcomer.key, newcomer.name)
    assert (await newcomer.join(seats[0].table))["t"] == "ok"
    assert (await follow(newcomer, seats))["t"] == "ok"
    assert (await step_in(newcomer))["t"] == "ok"


async def test_older_connection_of_who_stands_by_sees_no_more_of_a_match_that_nobody_may_watch(
    server, mock_clock
):
    seats = await voided(server, mock_clock, spectators=0)
    newcomer = await standing_by(server, seats)
    older, newcomer.client = newcomer.client, await server.connect()
    seen = len(older.log)
    await newcomer.client.login_key(newcomer.key, newcomer.name)
    await newcomer.join(seats[0].table)
    await follow(newcomer, seats)
    await step_in(newcomer)
    await together(seats[0].play, newcomer.play)
    assert (await older.ask({"t": "tables"}))["t"] == "ok"
    assert [message for message in older.log[seen:] if message["t"] == "record"] == []


async def test_guest_player_of_the_match_and_whoever_wants_another_seat_cannot_stand_by(server, mock_clock):
    seats = await voided(server, mock_clock)
    guest = await server.seat(seed=8, keyed=False)
    assert (await guest.join(seats[0].table))["code"] == "guests_not_allowed"
    reply = await seats[0].ask({"t": "join", "table": seats[0].table, "seat": 1})
    assert reply["code"] == "not_now"
    newcomer = await server.seat(seed=9)
    assert (await newcomer.join(seats[0].table, 0))["code"] == "seat_taken"


async def test_table_without_a_vacant_seat_is_full_as_ever(server):
    seats = await in_hand(server, options={"gone": 1})
    newcomer = await server.seat(seed=8)
    assert (await newcomer.join(seats[0].table))["code"] == "table_full"

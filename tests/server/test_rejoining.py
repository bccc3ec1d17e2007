"""Whoever comes back to a seat has every check made again that was made when they sat down, and true remaining times."""

import pytest
from server.calls import BRIEF
from server.conftest import PATIENT, holder_of, in_hand, play_on
from server.rawclient import RawSeat
from server.watching import Eye

SETTINGS = PATIENT
WAYS = ("join", "resume")


async def come_back(server, seat: RawSeat, way: str) -> dict:
    """Log in on another connection and ask for the seat; return the reply."""
    client = await server.connect()
    if seat.key is not None:
        await client.login_key(seat.key)
    else:
        await client.login_token(seat.token)
    return await client.ask(request(seat, way))


def request(seat: RawSeat, way: str) -> dict:
    place = {} if way == "join" else {"match": seat.ledger.setup.mid, "next": seat.next}
    return {"t": way, "table": seat.table, **place}


REFUSED = {"join": "table_full", "resume": "not_seated"}


async def test_player_who_has_left_has_no_right_to_the_seat_of_who_came_then(server):
    seats = await server.match(2, "truc-french", options=BRIEF)
    await play_on(seats)
    await seats[1].client.ask({"t": "leave", "table": seats[1].table})
    await (await server.seat(seed=9)).join(seats[0].table)
    assert {way: (await come_back(server, seats[1], way))["code"] for way in WAYS} == REFUSED


async def test_player_of_another_key_does_not_get_the_seat_by_its_name(server):
    seats = await in_hand(server)
    impostor = await server.seat(seed=9)
    impostor.name = seats[0].name
    replies = {way: await impostor.client.ask(request(seats[0], way)) for way in WAYS}
    assert {way: reply["code"] for way, reply in replies.items()} == REFUSED


@pytest.mark.parametrize("way", WAYS)
async def test_newest_connection_that_asks_has_the_seat(server, way):
    seats = await in_hand(server)
    older = seats[0].client
    assert (await come_back(server, seats[0], "join"))["t"] == "ok"
    await older.until("seat_taken_over")
    newer = server.clients[-1]
    assert (await older.ask(request(seats[0], way)))["t"] == "ok"
    assert (await newer.until("seat_taken_over"))["seat"] == 0


@pytest.mark.parametrize("way", WAYS)
async def test_connection_that_asks_again_for_the_seat_it_has_is_told_alone_how_the_table_stands(server, way):
    seats = await in_hand(server)
    told = [[message["t"] for message in seat.client.log].count("table") for seat in seats]
    assert (await seats[0].client.ask(request(seats[0], way)))["t"] == "ok"
    for seat in seats:
        await seat.client.ask({"t": "tables"})
    now = [[message["t"] for message in seat.client.log].count("table") for seat in seats]
    assert now == [told[0] + 1, told[1]]


async def test_connection_whose_seat_was_taken_over_is_sent_no_more_of_it_but_may_watch(server):
    seats = await in_hand(server)
    older = seats[0].client
    await come_back(server, seats[0], "resume")
    await older.until("seat_taken_over")
    eye = Eye()
    eye.client = older
    await eye.settle()
    assert [tag for tag in eye.order if tag != "table"] == []
    reply = await older.ask({"t": "watch", "table": seats[0].table})
    assert (reply["t"], reply["k"]) == ("ok", 8)


async def test_forfeited_match_is_sent_to_its_seat_but_asks_it_nothing(server, mock_clock):
    seats = await in_hand(server)
    await seats[1].resign()
    await play_on(seats)
    reply = await come_back(server, seats[1], "resume")
    kinds = {message["t"] for message in server.clients[-1].log}
    assert (reply["k"], "options" in kinds) == (seats[1].next, False)


async def test_deadline_after_coming_back_is_what_remains(server, mock_clock):
    mover, _ = holder_of(await in_hand(server))
    mock_clock.jump(10)
    await come_back(server, mover, "resume")
    options = await server.clients[-1].until("options")
    assert options["deadline_ms"] == mover.options["deadline_ms"] - 10_000


async def test_who_comes_to_watch_is_told_what_remains_too(server, mock_clock):
    mover, _ = holder_of(await in_hand(server))
    mock_clock.jump(10)
    eye = await Eye().connect(server)
    await eye.watch(mover.table)
    waiting = await eye.client.until("waiting")
    assert (waiting["at"], waiting["deadline_ms"]) == (8, mover.options["deadline_ms"] - 10_000)

"""Coming back on another connection, with every check made again; taking a seat over, and watching."""

import pytest
import trio
from server.acting import resumption, stand
from server.calls import BRIEF
from server.conftest import PATIENT, holder_of, in_hand, play_on, together
from server.late import eye_at
from server.rawclient import RawClient, RawSeat
from server.stored import sql
from server.watching import Eye

from truc_protocol.audit import Result
from truc_server.requests import catching_up


async def elsewhere(server, seat) -> RawClient:
    """Return another connection of a key."""
    client = await server.connect()
    await client.login_key(seat.key)
    return client


@pytest.mark.slow
async def test_resume_reads_old_records_from_the_store_without_a_hole(server, monkeypatch):
    monkeypatch.setattr(catching_up, "PAGE", 7)
    seats = await server.match(2, "truc-french", options=BRIEF)
    await play_on(seats)
    client = await elsewhere(server, seats[0])
    await client.ask(resumption(seats[0], 0))
    ks = [message["k"] for message in client.log if message["t"] == "record"]
    assert ks == list(range(seats[0].next))


@pytest.mark.slow
async def test_record_that_the_store_has_lost_is_an_incident_and_no_endless_search(server):
    seats = await server.match(2, "truc-french", options=BRIEF)
    await play_on(seats)
    sql(server.folder.database, "DELETE FROM records WHERE k = 3")
    client = await elsewhere(server, seats[0])
    with trio.fail_after(20):
        assert (await client.ask(resumption(seats[0], 0)))["code"] == "internal"


@pytest.mark.slow
async def test_a_seat_that_resumes_again_and_again_while_others_play_has_every_record(server, monkeypatch):
    monkeypatch.setattr(catching_up, "PAGE", 5)
    seats = await server.match(4, "truc-catalan", options=BRIEF)

    async def restless():
        seat = seats[0]
        while not seat.done:
            have = seat.next
            await seat.play(until=lambda seat, have=have: seat.done or seat.next >= have + 6)
            if not seat.done:
                reply = await seat.come_back(await server.connect())
                assert reply["t"] == "ok"
                await seat.send_again()

    await together(restless, *(seat.play for seat in seats[1:]))
    assert {seat.auditor.verdict().result for seat in seats} == {Result.PROVEN}


@pytest.mark.slow
@pytest.mark.parametrize("spectators", [1, 2])
async def test_watcher_who_comes_late_is_sent_the_records_so_far(server, spectators, monkeypatch):
    monkeypatch.setattr(catching_up, "PAGE", 5)
    seats = await server.match(2, "truc-catalan", options={**BRIEF, "spectators": spectators})
    await play_on(seats, lambda seat: seat.done or seat.next > 10)
    eye = await eye_at(server, seats[0].table)
    await play_on(seats)
    await eye.settle()
    assert eye.records == list(range(seats[0].next))


async def test_unwatch_changes_nothing_for_a_connection_with_a_seat(server):
    first, second = await server.seats(2)
    assert (await first.client.ask({"t": "unwatch", "table": first.table}))["t"] == "ok"
    await second.client.ask({"t": "ready", "table": second.table})
    state = await first.client.until("table")
    while not state["seats"][second.seat]["ready"]:
        state = await first.client.until("table")
    assert (await first.client.ask({"t": "ready", "table": first.table}))["t"] == "ok"


async def test_join_on_the_connection_that_has_the_seat_changes_nothing(server):
    mover, other = holder_of(await in_hand(server))
    await other.client.ask({"t": "join", "table": other.table})
    await stand(mover)
    assert (await other.client.until("record"))["k"] == 8


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
    return resumption(seat, seat.next) if way == "resume" else {"t": way, "table": seat.table}


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

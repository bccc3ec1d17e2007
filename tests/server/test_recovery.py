"""A server that comes back has every table as it was."""

import contextlib

import pytest
import trio
from server.calls import BRIEF
from server.conftest import QUICK, changed, in_hand, play_on, play_out, running, together
from server.rawclient import GoneError
from server.restarting import come_back, interrupted
from server.visitors import guest

from truc_protocol.audit import Result

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("count", "variant", "guests", "after"),
    [
        (4, "truc-catalan", (), 21),
        (2, "truc-catalan", (1,), 17),
    ],
)
async def test_match_goes_on_after_a_restart_under_a_higher_counter_and_is_proven(
    path, *, count, variant, guests, after
):
    seats = await interrupted(path, count, variant, after=after, guests=guests)
    before = max(seat.counter for seat in seats)
    async with running(path) as server:
        await come_back(server, *seats)
        await play_out(seats)
    if not guests:
        assert all(seat.counter > max(before, 2 << 32) for seat in seats)


async def test_a_seat_that_lost_everything_but_its_secrets_is_sent_the_setup_again(path):
    seats = await interrupted(path, 2, "truc-french", after=15)
    seats[0].auditor = None
    async with running(path) as server:
        await come_back(server, *seats)
        await play_on(seats)
    assert seats[0].auditor.verdict().result is Result.PROVEN


async def test_welcome_lists_seat_and_match_after_a_restart(path):
    seats = await interrupted(path, 2, "truc-french", after=5)
    async with running(path) as server:
        welcome = await (await server.connect()).login_key(seats[1].key)
    assert welcome["seats"] == [{"table": seats[1].table, "match": seats[1].ledger.setup.mid, "seat": 1}]


async def test_seats_and_readiness_survive_a_restart(path):
    async with running(path) as server:
        seats = await server.seats(2)
        await seats[0].ready()
    async with running(path) as server:
        client = await guest(server)
        reply = await client.ask({"t": "tables"})
    assert [(s["kind"], s.get("ready", False)) for s in reply["tables"][0]["seats"]] == [
        ("key", True),
        ("key", False),
    ]


@pytest.mark.parametrize("guests", [(1,), (0, 1)])
async def test_a_match_everybody_was_ready_for_begins_after_a_restart_too(path, guests):
    async with running(path) as server:
        seats = await server.seats(2, guests=guests, options={"guests": len(guests), **BRIEF})
        await seats[0].ready()
        await seats[1].client.ask({"t": "ready", "table": seats[1].table})
    async with running(path) as server:
        for seat in seats:
            seat.client = await server.connect()
            if seat.key is None:
                seat.x = None if seat is seats[1] else seat.x
                await seat.client.login_token(seat.token)
            else:
                await seat.client.login_key(seat.key, seat.name)
            if any("match" in held for held in seat.client.welcome["seats"]):
                await seat.resume()
            else:
                await seat.ask({"t": "join", "table": seat.table})
        await play_out(seats)


async def test_a_match_that_is_over_can_be_resumed_and_acked_after_a_restart(path):
    seats = []

    async with running(path) as server:
        seats += await server.match(2, "truc-catalan", options=BRIEF)

        async def first():
            with contextlib.suppress(GoneError):
                await seats[0].play(until=lambda seat: seat.auditor and seat.ledger.phase == "over")

        await together(first, lambda: play_until_over(server, seats[1]))
    async with running(path) as server:
        await come_back(server, *seats)
        await play_on(seats)
    assert seats[0].ledger.acks == {0, 1}


async def play_until_over(server, seat) -> None:
    await seat.play(until=lambda seat: seat.auditor is not None and seat.ledger.phase == "ended")
    server.stop()


async def test_a_table_nobody_started_is_dropped_after_a_restart_too(path, mock_clock):
    settings = changed(QUICK, limits={"idle_s": 3600}, tables={"expiry_s": 60})
    async with running(path, settings) as server:
        await server.seats(2)
    async with running(path, settings) as server:
        client = await guest(server)
        mock_clock.jump(61)
        await trio.testing.wait_all_tasks_blocked()
        assert (await client.ask({"t": "tables"}))["tables"] == []


async def test_a_match_nobody_comes_back_to_after_a_restart_is_ended_by_a_ruling(path, mock_clock):
    settings = changed(QUICK, limits={"idle_s": 3600}, tables={"expiry_s": 60}, match={"decision_ms": 0})
    async with running(path, settings) as server:
        seats = await in_hand(server)
    async with running(path, settings) as server:
        mock_clock.jump(61)
        await trio.testing.wait_all_tasks_blocked()
        await come_back(server, seats[0])
        await seats[0].play(until=lambda seat: seat.ledger.phase == "ended")
    assert seats[0].auditor.verdict().reason == "abandoned"


async def test_welcome_after_a_restart_names_no_match_to_who_took_a_seat_after_it(path):
    async with running(path) as server:
        seats = await server.match(2, "truc-catalan", options=BRIEF)
        await play_on(seats)
        await seats[1].client.ask({"t": "leave", "table": seats[1].table})
        late = await server.seat(seed=77)
        await late.join(seats[0].table)
    async with running(path) as server:
        heard = [await (await server.connect()).login_key(seat.key) for seat in (seats[0], late)]
    assert ["match" in welcome["seats"][0] for welcome in heard] == [True, False]

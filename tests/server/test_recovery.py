"""A server that comes back has every table as it was, also where its store has failed for good at one exact point.

What a failed commit leaves is what a kill at the same point leaves: real kills are in tests/system.
"""

from contextlib import suppress
from functools import partial

import pytest
import trio
from chaos.faulty_store import Fault, FaultyStore, Point, fail
from server.calls import BRIEF
from server.clocks import pass_time
from server.conftest import QUICK, changed, give_up, holder_of, in_hand, play_on, play_out, running, together
from server.rawclient import RawSeat
from server.restarting import LOSSES, come_back, interrupted
from server.stored import sql

from truc_server.identity.identity import roll
from truc_server.settings.folder import open_folder
from truc_server.storage import StoreError

pytestmark = pytest.mark.slow


async def test_match_goes_on_after_a_restart_under_a_higher_counter_and_is_proven(path):
    seats = await interrupted(path, 4, "truc-catalan", after=21)
    before = max(seat.counter for seat in seats)
    async with running(path) as server:
        await come_back(server, *seats)
        await play_out(seats)
    assert all(seat.counter > max(before, 2 << 32) for seat in seats)


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


async def test_a_match_nobody_comes_back_to_after_a_restart_is_ended_by_a_ruling(path, mock_clock):
    settings = changed(QUICK, limits={"idle_s": 3600}, tables={"expiry_s": 60}, match={"decision_ms": 0})
    async with running(path, settings) as server:
        seats = await in_hand(server)
    async with running(path, settings) as server:
        await pass_time(mock_clock, 61)
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


NOW = 1_790_000_000
SHORT = {"target": 3, "match": 1}


@pytest.fixture
def data(data):
    """Return the path of the data folder."""
    return data.root


def faulty(*faults):
    """Return what puts these faults before a store."""
    return partial(FaultyStore, faults=faults)


async def die_in(data, fault, play) -> None:
    """Run `play` on a server that ends at a fault."""
    with pytest.RaisesGroup(StoreError, flatten_subgroups=True):
        async with running(data, wrap=faulty(fault)) as server:
            with trio.fail_after(30):
                with suppress(*LOSSES):
                    await play(server)
                await trio.sleep_forever()


async def ready_and_play(seat: RawSeat) -> None:
    """Do whatever brings a match to its end, as far as the server lives."""
    with suppress(*LOSSES):
        await seat.ready()
        await seat.play()


async def come_back_anyhow(server, seat: RawSeat) -> None:
    """Connect again, and go on in the match, under the terms, or before them."""
    seat.client = await server.connect()
    if seat.key is not None:
        welcome = await seat.client.login_key(seat.key, seat.name)
    else:
        welcome = await seat.client.login_token(seat.token)
    (held,) = welcome["seats"]
    if "match" in held:
        assert (await seat.resume())["t"] == "ok"
        await seat.send_again()
    else:
        assert (await seat.ask({"t": "join", "table": seat.table}))["t"] == "ok"
        reply = await seat.ready()
        assert reply["t"] == "ok" or reply["code"] == "table_not_open"


async def play_past(data, fault, guests=()) -> None:
    """Play a match on a server that dies at a fault, and into the next hand on another one, where it is proven."""
    seats: list[RawSeat] = []

    async def play(server):
        seats.extend(await server.seats(2, guests=guests, options={**SHORT, "guests": len(guests)}))
        await together(*(partial(ready_and_play, seat) for seat in seats))

    await die_in(data, fault, play)
    async with running(data) as server:
        for seat in seats:
            await come_back_anyhow(server, seat)
        await give_up(seats)


DEATHS = [
    (Point.MIDDLE, "SaveTerms", 1),  # the terms go out
    (Point.BEFORE, "SaveTerms", 2),  # a seat joins them
    (Point.AFTER, "SaveTerms", 2),
    (Point.MIDDLE, "SaveMatch", 1),  # the match begins
    (Point.AFTER, "SaveMatch", 1),
    (Point.BEFORE, "call", 1),
    (Point.AFTER, "release", 2),
    (Point.AFTER, "deal", 1),
    (Point.BEFORE, "act", 1),
    (Point.BEFORE, "close", 1),  # a hand ends
    (Point.AFTER, "close", 1),
    (Point.MIDDLE, "EndMatch", 1),  # the match ends
    (Point.AFTER, "EndMatch", 1),
    (Point.AFTER, "ack", 1),
]


@pytest.mark.parametrize(("point", "what", "n"), DEATHS)
async def test_match_is_proven_wherever_the_server_has_died(data, point, what, n):
    await play_past(data, Fault(point, what, n, fail))


async def test_match_with_a_guest_is_proven_too(data):
    await play_past(data, Fault(Point.AFTER, "proxy", 1, fail), guests=(1,))


async def test_terms_that_a_seat_has_joined_are_the_same_and_not_to_be_signed_again_after_a_restart(data):
    async with running(data) as server:
        seats = await server.match(2)
        terms = await seats[0].client.until("terms")
        await seats[0].sign_terms(terms)
        await seats[0].client.until("ok")
    async with running(data) as server:
        await come_back_anyhow(server, seats[0])
        assert newest_terms(seats[0]) == terms
        await come_back_anyhow(server, seats[1])
        await seats[1].play(until=lambda seat: seat.auditor is not None)


def spoil_secrets(data) -> None:
    sql(data / "truc.db", "UPDATE secrets SET sealed = zeroblob(60)")


@pytest.mark.parametrize("happens", [lambda data: roll(open_folder(data), NOW), spoil_secrets])
async def test_terms_are_fresh_after_a_roll_of_the_servers_key_or_without_their_secrets(data, happens):
    async with running(data) as server:
        seats = await server.match(2)
        terms = await seats[0].client.until("terms")
    happens(data)
    async with running(data) as server:
        await come_back_anyhow(server, seats[0])
        assert newest_terms(seats[0])["record"] != terms["record"]


def newest_terms(seat: RawSeat):
    """Return the terms that have come on the present connection."""
    return next(message for message in reversed(seat.client.log) if message["t"] == "terms")


async def test_chat_that_was_acknowledged_is_there_after_a_death(data):
    async def play(server):
        seats.extend(await server.seats(2))
        for text in "abc":
            reply = await seats[0].ask({"t": "chat", "table": seats[0].table, "text": text})
            acknowledged.append(reply["t"])

    seats, acknowledged = [], []
    await die_in(data, Fault(Point.BEFORE, "SaveChat", 3, fail), play)
    async with running(data) as server:
        await come_back_anyhow(server, seats[1])
        told = [message["text"] for message in seats[1].client.log if message["t"] == "chat"]
    assert (acknowledged, told) == (["ok", "ok"], ["a", "b"])


async def test_options_come_again_for_the_same_offer(data):
    async with running(data) as server:
        holder, _ = holder_of(await in_hand(server))
        before = holder.options
    async with running(data) as server:
        await come_back_anyhow(server, holder)
        await holder.play(until=lambda seat: seat.options is not before)
    assert (holder.options["at"], holder.options["offer"]) == (before["at"], before["offer"])


async def test_nothing_that_failed_in_the_middle_is_found_again(data):
    async def play(server):
        stores.append(server.store)
        await server.seats(2)

    stores = []
    await die_in(data, Fault(Point.MIDDLE, "SaveTable", 1, fail), play)
    (counts,) = sql(data / "truc.db", "SELECT (SELECT count(*) FROM tables), (SELECT count(*) FROM seats)")
    assert (stores[0].committed, counts) == ([], (0, 0))

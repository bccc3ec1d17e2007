"""The store fails for good at one exact point, as when the server dies there; the next server goes on.

What a failed commit leaves is what a kill at the same point leaves: real kills are in tests/system.
"""

import sqlite3
from contextlib import closing, suppress
from functools import partial

import pytest
import trio
from chaos.faulty_store import Fault, FaultyStore, Point, fail
from server.conftest import holder_of, in_hand, play_on, running, together
from server.rawclient import RawSeat
from server.restarting import LOSSES

from truc_protocol.audit import Result
from truc_server.identity.identity import roll
from truc_server.settings.folder import open_folder
from truc_server.storage import StoreError

pytestmark = pytest.mark.slow
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


async def come_back(server, seat: RawSeat) -> None:
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


async def play_past(data, fault, guests=()) -> list[RawSeat]:
    """Play a match on a server that dies at a fault, and to the end on the next one."""
    seats: list[RawSeat] = []

    async def play(server):
        seats.extend(await server.seats(2, guests=guests, options={**SHORT, "guests": len(guests)}))
        await together(*(partial(ready_and_play, seat) for seat in seats))

    await die_in(data, fault, play)
    async with running(data) as server:
        for seat in seats:
            await come_back(server, seat)
        await play_on(seats)
    return seats


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
    (Point.AFTER, "act", 2),
    (Point.BEFORE, "close", 1),  # a hand ends
    (Point.AFTER, "close", 1),
    (Point.MIDDLE, "EndMatch", 1),  # the match ends
    (Point.AFTER, "EndMatch", 1),
    (Point.AFTER, "ack", 1),
]


@pytest.mark.parametrize(("point", "what", "n"), DEATHS)
async def test_match_is_proven_wherever_the_server_has_died(data, point, what, n):
    seats = await play_past(data, Fault(point, what, n, fail))
    assert {seat.auditor.verdict().result for seat in seats} == {Result.PROVEN}


async def test_match_with_a_guest_is_proven_too(data):
    seats = await play_past(data, Fault(Point.AFTER, "proxy", 1, fail), guests=(1,))
    assert {seat.auditor.verdict().result for seat in seats} == {Result.PROVEN}


async def test_terms_that_a_seat_has_joined_are_the_same_and_not_to_be_signed_again_after_a_restart(data):
    async with running(data) as server:
        seats = await server.match(2)
        terms = await seats[0].client.until("terms")
        await seats[0].sign_terms(terms)
        await seats[0].client.until("ok")
    async with running(data) as server:
        await come_back(server, seats[0])
        assert newest_terms(seats[0]) == terms
        await come_back(server, seats[1])
        await seats[1].play(until=lambda seat: seat.auditor is not None)


def spoil_secrets(data) -> None:
    with closing(sqlite3.connect(data / "truc.db")) as raw, raw:
        raw.execute("UPDATE secrets SET sealed = zeroblob(60)")


@pytest.mark.parametrize("happens", [lambda data: roll(open_folder(data), NOW), spoil_secrets])
async def test_terms_are_fresh_after_a_roll_of_the_servers_key_or_without_their_secrets(data, happens):
    async with running(data) as server:
        seats = await server.match(2)
        terms = await seats[0].client.until("terms")
    happens(data)
    async with running(data) as server:
        await come_back(server, seats[0])
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
        await come_back(server, seats[1])
        told = [message["text"] for message in seats[1].client.log if message["t"] == "chat"]
    assert (acknowledged, told) == (["ok", "ok"], ["a", "b"])


async def test_options_come_again_for_the_same_offer(data):
    async with running(data) as server:
        holder, _ = holder_of(await in_hand(server))
        before = holder.options
    async with running(data) as server:
        await come_back(server, holder)
        await holder.play(until=lambda seat: seat.options is not before)
    assert (holder.options["at"], holder.options["offer"]) == (before["at"], before["offer"])


async def test_nothing_that_failed_in_the_middle_is_found_again(data):
    async def play(server):
        stores.append(server.store)
        await server.seats(2)

    stores = []
    await die_in(data, Fault(Point.MIDDLE, "SaveTable", 1, fail), play)
    with closing(sqlite3.connect(data / "truc.db")) as raw:
        counts = raw.execute("SELECT (SELECT count(*) FROM tables), (SELECT count(*) FROM seats)").fetchone()
    assert (stores[0].committed, counts) == ([], (0, 0))

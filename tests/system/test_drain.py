"""A server process is told to stop while many tables play: no hand is cut off, and after the start every match is proven."""

import json
import signal
from contextlib import suppress
from functools import partial

import pytest
import trio
from chaos.servers import QUICK, serving
from server.conftest import play_on, together
from server.rawclient import GoneError, RawClient, RawSeat
from server.restarting import play_until_gone
from system.seating import all_ready, come_back, seated

from truc_protocol.audit import Result
from truc_protocol.ledger import Due, due
from truc_protocol.records import Phase
from truc_server.settings.folder import Folder

pytestmark = pytest.mark.slow

DRAINING = {**QUICK, "TRUC_TABLES_DRAIN_S": "30"}
TABLES = (
    ("truc-french", 2, ()),
    ("truc-french", 2, (0, 1)),
    ("truco-argentino-flor", 2, ()),
    ("truc-catalan", 4, (2,)),
    ("truco-paulista", 2, (1,)),
    ("put", 2, ()),
)
"""Variant, seats, and which of them are guests."""


@pytest.fixture
async def connect():
    """Connect to a server; what is left open is closed at the end."""
    clients: list[RawClient] = []

    async def connected(server) -> RawClient:
        clients.append(RawClient(await server.connect()))
        return clients[-1]

    yield connected
    for client in clients:
        await trio.aclose_forcefully(client.stream)


async def players(connect, server, number: int) -> list[RawSeat]:
    variant, count, guests = TABLES[number]
    connected = partial(connect, server)
    return await all_ready(
        await seated(connected, variant, count, guests=guests, seed=number * 10 + 1, match=1)
    )


async def stop_under_way(seat: RawSeat, server) -> None:
    """Play to the middle of a hand, have the server stopped, and play on."""
    await seat.play(until=lambda seat: seat.auditor and seat.next > 20 and seat.ledger.hand)
    server.signal(signal.SIGTERM)
    await play_until_gone(seat)


async def test_hands_end_and_matches_go_on_after_the_start(tmp_path, connect):
    folder = Folder(tmp_path / "data")
    async with serving(folder.root, DRAINING, level="info") as server:
        tables = [await players(connect, server, number) for number in range(len(TABLES))]
        everybody = [seat for table in tables for seat in table]
        first, *others = everybody
        await together(partial(stop_under_way, first, server), partial(play_until_gone, *others))
        assert await server.wait() == 0
        going_on = [table for table in tables if not table[0].done]
        assert all(seat.ledger.phase is Phase.BETWEEN for table in going_on for seat in table)
        stored = {
            seat.ledger.setup.mid.hex(): seat.next
            for table in going_on
            for seat in table
            if due(seat.ledger) is Due.CALL  # between two hands a cut may be waited for too
        }
        assert json.loads(folder.unasked.read_text()) == stored
        assert len(going_on) > 1
        await server.start()
        for table in going_on:
            await come_back(table, partial(connect, server))
        await together(*(seat.play for table in going_on for seat in table))
        assert server.faults() == []
    assert {seat.auditor.verdict().result for seat in everybody} == {Result.PROVEN}


async def test_second_sigterm_stops_it_in_the_hand(tmp_path, connect):
    async with serving(tmp_path / "data", DRAINING) as server:
        seats = await players(connect, server, 0)
        await play_on(seats, lambda seat: seat.auditor and seat.ledger.hand)
        server.signal(signal.SIGTERM)
        newcomer = await connect(server)
        with suppress(GoneError):
            while (await newcomer.login_guest())["t"] == "welcome":  # it has not heard the signal yet
                newcomer = await connect(server)
        server.signal(signal.SIGTERM)
        with trio.fail_after(20):
            assert (await server.wait(), (await seats[0].client.closed())[-1]["code"]) == (0, "shutting_down")

"""Whole matches between raw clients, over real sockets."""

import pytest
from server.conftest import play_on

from truc_protocol.audit import Result

pytestmark = pytest.mark.slow


async def played(server, count, variant, **fields):
    seats = await server.match(count, variant, options={"target": 3}, **fields)
    await play_on(seats)
    return seats


def summaries(seats):
    verdicts = [seat.auditor.verdict() for seat in seats]
    return {(verdict.result, verdict.level, verdict.reason) for verdict in verdicts}


async def test_keyed_seats_play_to_a_proven_end_on_the_same_records(server):
    seats = await played(server, 4, "truc-lanes")
    assert summaries(seats) == {(Result.PROVEN, "A", "won")}
    assert len({tuple(seat.records) for seat in seats}) == 1


async def test_two_guests_in_clear_play_to_a_proven_end_of_level_c(server):
    seats = await played(server, 2, "truc-french", guests=(0, 1), boxed=False)
    assert summaries(seats) == {(Result.PROVEN, "C", "won")}


async def test_keys_and_guests_of_all_kinds_play_four_handed(server):
    seats = await server.seats(4, "truc-catalan", guests=(1, 2), options={"target": 3})
    seats[2].x = None
    for seat in seats:
        await seat.ready()
    await play_on(seats)
    assert summaries(seats) == {(Result.PROVEN, "B", "won")}

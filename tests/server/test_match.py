"""Whole matches between raw clients, over real sockets."""

import pytest
from server.conftest import play_on

from truc_protocol.audit import Result

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("count", "variant", "guests", "in_clear", "level"),
    [
        pytest.param(4, "truc-lanes", (), (), "A", id="keys"),
        pytest.param(4, "truc-catalan", (1, 2), (2,), "B", id="keys and guests of both kinds"),
        pytest.param(2, "truc-french", (0, 1), (0, 1), "C", id="guests in clear"),
    ],
)
async def test_seats_play_to_a_proven_end_of_their_level_on_the_same_records(
    server, *, count, variant, guests, in_clear, level
):
    seats = await server.seats(count, variant, guests=guests, options={"target": 3})
    for seat in in_clear:
        seats[seat].x = None
    for seat in seats:
        await seat.ready()
    await play_on(seats)
    verdicts = [seat.auditor.verdict() for seat in seats]
    assert {(each.result, each.level, each.reason) for each in verdicts} == {(Result.PROVEN, level, "won")}
    assert len({tuple(seat.records) for seat in seats}) == 1

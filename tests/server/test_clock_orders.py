"""Orders and claims decide nothing: the time of the seat that holds the decision runs on through them."""

import pytest
from server.conftest import play_on, under

from truc_protocol.bodies import Act
from truc_protocol.records import parse
from truc_rules import deciders

pytestmark = pytest.mark.slow


def stand(_message, options):
    return next((option for option in options if option["kind"] == "stand"), None)


def stood(seat):
    return bool(
        seat.auditor
        and seat.ledger
        and seat.ledger.hand
        and seat.ledger.match.hand.phase.name == "PLAY"
        and (seat.options or seat.waiting)
    )


@under(limits={"idle_s": 3600}, match={"decision_ms": 30_000, "bank_ms": 0})
async def test_orders_do_not_stop_the_clock(server, mock_clock):
    seats = await server.match(4, "truc-partnership")
    for seat in seats:
        seat.chooses = stand
    await play_on(seats, stood)
    eldest = deciders(seats[0].ledger.match)[0]
    governor = seats[eldest]
    mock_clock.jump(20)
    now = governor.ledger
    order = Act(now.setup.mid, now.k, now.head, now.deal_index, eldest, "order", ["low"])
    await governor.act(governor.sign(order))
    await governor.play(lambda seat: seat.next > now.k)
    mock_clock.jump(15)
    await governor.play(lambda seat: seat.next > now.k + 1)
    ruled = parse(governor.records[-1])
    assert (ruled.ruling, ruled.seat, ruled.kind) == ("move", eldest, "play")

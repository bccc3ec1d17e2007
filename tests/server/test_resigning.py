"""Resigning and pausing over the wire: by a record of a key or a line of a guest, in every phase of a match."""

import pytest
from server.acting import act
from server.conftest import asked, play_on, under
from server.rawclient import RawSeat

from truc_protocol.bodies import Resign
from truc_protocol.records import Phase

KEYED = pytest.param((), id="keys")
GUESTS = pytest.param((0, 1), id="guests")


async def unmoved(server, *variant, guests) -> list[RawSeat]:
    """Return players who choose nothing."""
    seats = await server.match(2, *variant, guests=guests, boxed=False)
    for seat in seats:
        seat.chooses = lambda _message, _options: None
    return seats


async def before_the_cut(server, guests) -> list[RawSeat]:
    """Return players between two records, where a cut is awaited and no release is."""
    seats = await unmoved(server, "truc-catalan", guests=guests)
    await play_on(seats, is_asked)
    assert {seat.ledger.phase for seat in seats} == {Phase.BETWEEN}
    return seats


def is_asked(seat) -> bool:
    told = [message for message in (seat.options, seat.waiting) if message is not None]
    return seat.auditor is not None and any(message["at"] == seat.next for message in told)


async def in_the_hand(server, guests) -> list[RawSeat]:
    """Return players in a hand."""
    seats = await unmoved(server, guests=guests)
    await play_on(seats, asked)
    assert {seat.ledger.phase for seat in seats} == {Phase.HAND}
    return seats


async def in_a_pause(server, guests, reach=in_the_hand) -> list[RawSeat]:
    """Return players of a match that rests."""
    seats = await reach(server, guests)
    for seat in seats:
        reply = await ask(seat, "pause")
        await play_on(seats, lambda each, k=reply["k"]: each.next > k)
    await play_on(seats, lambda each: each.ledger.pause.active)
    return seats


async def in_a_pause_before_the_cut(server, guests) -> list[RawSeat]:
    """Return players of a match that rests between two hands."""
    return await in_a_pause(server, guests, before_the_cut)


async def ask(seat: RawSeat, line: str) -> dict:
    """Pause, resume or resign, as a key or a guest does."""
    if seat.key is None:
        return await seat.choose_line(line)
    if line == "resign":
        ledger = seat.ledger
        return await seat.hand_in(Resign(ledger.setup.mid, ledger.k, ledger.head, seat.seat))
    return await seat.hand_in(act(seat, line))


async def asked_all(seat: RawSeat) -> list[str]:
    """Return how each of the three is refused."""
    return [(await ask(seat, line))["code"] for line in ("pause", "resume", "resign")]


@pytest.mark.parametrize(
    ("phase", "guests", "who"),
    [
        (before_the_cut, (), 0),
        (in_the_hand, (0, 1), 1),
        (in_a_pause, (), 0),
        (in_a_pause_before_the_cut, (0, 1), 1),
    ],
)
async def test_resigning_gives_the_match_to_the_other_side_whoever_is_to_decide(server, phase, guests, who):
    seats = await phase(server, guests)
    leave = {"t": "leave", "table": seats[who].table}
    assert (await seats[who].ask(leave))["code"] == "table_not_open"
    assert (await ask(seats[who], "resign"))["t"] == "ok"
    await play_on(seats)
    outcome = seats[1 - who].ledger.outcome
    assert (outcome.winner, outcome.reason) == (1 - who, "resigned")
    assert (await seats[who].ask(leave))["t"] == "ok"


@pytest.mark.parametrize(
    ("phase", "guests"), [(before_the_cut, ()), (in_the_hand, (0, 1))], ids=["keys", "guests"]
)
async def test_resume_of_every_seat_ends_the_pause_of_every_seat(server, phase, guests):
    seats = await in_a_pause(server, guests, phase)
    assert all(seat.ledger.pause.active for seat in seats)
    for seat in seats:
        reply = await ask(seat, "resume")
        await play_on(seats, lambda each, k=reply["k"]: each.next > k)
    await play_on(seats, lambda each: not each.ledger.pause.active)
    assert not any(seat.ledger.pause.active for seat in seats)


@pytest.mark.parametrize("guests", [KEYED, GUESTS])
async def test_pause_of_one_seat_lets_the_match_go_on(server, guests):
    seats = await in_the_hand(server, guests)
    await ask(seats[0], "pause")
    await play_on(seats, is_asked)
    assert [seat.ledger.pause.active for seat in seats] == [False, False]


@pytest.mark.parametrize("guests", [KEYED, GUESTS])
async def test_nothing_of_it_is_taken_after_the_match(server, guests):
    seats = await in_the_hand(server, guests)
    await ask(seats[0], "resign")
    await play_on(seats)
    assert await asked_all(seats[1]) == ["not_now"] * 3


async def test_nothing_of_it_is_taken_while_a_release_is_awaited(server):
    seats = await server.match(2)
    seats[1].is_idle = True
    await play_on(seats, lambda seat: seat.auditor and seat.next == 2)
    assert seats[0].ledger.phase is Phase.CALLED
    assert await asked_all(seats[0]) == ["not_now"] * 3


@under(tables={"between_hands_ms": 2000})
async def test_nothing_of_it_is_taken_of_a_guest_between_a_call_and_its_deal(server, mock_clock):
    seats = await server.match(2, guests=(0, 1), boxed=False)
    await play_on(seats, lambda seat: seat.auditor and seat.next == 3)
    assert seats[0].ledger.phase is Phase.CALLED
    assert await asked_all(seats[0]) == ["not_now"] * 3

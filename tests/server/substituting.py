"""Seats that are offered to others, and newcomers who stand by for them and step in."""

from server.acting import resumption
from server.calls import BRIEF, awake, called, held
from server.conftest import play_on
from server.rawclient import RawSeat

from truc_protocol.records import Phase

TERMS = {"gone": 1, "release_ms": 5000, "decision_ms": 1000, "bank_ms": 0, **BRIEF}


async def voided(
    server, mock_clock, *, count=2, silent=(1,), variant="truc-french", **options
) -> list[RawSeat]:
    """Return seats of which some were silent at the first hand, so that they are offered to others."""
    seats = await called(server, count=count, variant=variant, options={**TERMS, **options})
    await awake(*seats)
    for seat in silent:
        seats[seat].is_idle = True
    await play_on(seats, lambda seat: hand_called(seat, count - len(silent)))
    mock_clock.jump(5.01)
    await play_on(seats, held)
    return seats


def hand_called(seat: RawSeat, released: int) -> bool:
    ledger = seat.ledger
    return ledger.match is not None and ledger.phase is Phase.CALLED and len(ledger.released) == released


def offered(seat: RawSeat) -> bool:
    return held(seat) and seat.waiting["what"] == "sub"


async def standing_by(server, seats, *, seed=7, seat=None, **fields) -> RawSeat:
    """Return a newcomer who stands by for a vacant seat and follows the match."""
    newcomer = await server.seat(seed=seed, **fields)
    reply = await newcomer.join(seats[0].table, seat)
    assert reply["t"] == "ok", reply
    reply = await follow(newcomer, seats)
    assert reply["t"] == "ok", reply
    return newcomer


async def with_newcomer(server, mock_clock, **options) -> tuple[list[RawSeat], RawSeat]:
    """Return seats of which the second was silent at the first hand, and a newcomer who stands by for it."""
    seats = await voided(server, mock_clock, **options)
    return seats, await standing_by(server, seats)


async def follow(newcomer: RawSeat, seats) -> dict:
    return await newcomer.ask(resumption(seats[0]))


async def step_in(newcomer: RawSeat, **fields) -> dict:
    return await newcomer.ask(newcomer.sign(newcomer.sub(**fields)))


def state_of(seat: RawSeat) -> dict:
    """Return the newest state of the table that a seat was told."""
    return [message for message in seat.client.log if message["t"] == "table"][-1]


def vacancies(seat: RawSeat) -> list[int]:
    return [told["seat"] for told in state_of(seat)["seats"] if told.get("vacant")]

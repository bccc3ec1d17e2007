"""Seats to whom a hand is called: they sign nothing until they are told to, and wait until something is so."""

from server.conftest import play_on
from server.rawclient import RawSeat

from truc_protocol.bodies import Rule
from truc_protocol.records import Phase, parse

BRIEF = {"match": 1, "target": 3}


def bodies(seat: RawSeat, kind) -> list:
    return [body for body in map(parse, seat.records) if isinstance(body, kind)]


def rulings(seat: RawSeat) -> list[tuple]:
    return [(body.ruling, body.seat, body.kind) for body in bodies(seat, Rule)]


def results(seats) -> set:
    return {(seat.auditor.verdict().result, seat.auditor.verdict().reason) for seat in seats}


def after(k: int):
    return lambda seat: seat.next >= k


def held(seat: RawSeat) -> bool:
    """Tell whether a seat knows that the call is held back at the position it has come to."""
    return bool(
        seat.auditor and seat.waiting and (seat.waiting["at"], "what" in seat.waiting) == (seat.next, True)
    )


def is_ended(seat: RawSeat) -> bool:
    return seat.auditor is not None and seat.ledger.phase is Phase.ENDED


def first_of(*kinds: str):
    """Return what chooses the first option of these kinds that there is, in this order."""

    def choose(_message, options):
        found = (option for kind in kinds for option in options if option["kind"] == kind)
        return next(found, None)

    return choose


def towards_a_tie(seat: RawSeat, message, options):
    """Concede where only the own side is at its last point, ask for nothing, and play whatever comes first."""
    (first, second) = (each.points for each in seat.ledger.match.score)
    is_ahead = (first - second) * (1 - 2 * (seat.seat % 2)) > 0
    wanted = ("decline", "concede") if is_ahead else ("play", "blind", "accept")
    return next((option for option in options if option["kind"] in wanted and message["must"]), None)


async def awake(*seats: RawSeat) -> None:
    """Let seats sign what is due from them, from now on."""
    for seat in seats:
        seat.is_idle = False
        await seat.follow()


async def sign_now(*seats: RawSeat) -> None:
    """Let seats that sign nothing by themselves sign what is due now, and no more."""
    await awake(*seats)
    for seat in seats:
        seat.is_idle = True


async def called(server, *, count=2, variant="truc-french", **fields) -> list[RawSeat]:
    """Return seats to whom the draw is called, none of whom releases."""
    seats = await server.match(count, variant, **fields)
    for seat in seats:
        seat.is_idle = True
    await play_on(seats, after(1))
    return seats

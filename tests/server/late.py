"""Tables that are shown late, and those who watch there."""

from functools import partial

from server.conftest import play_on, together
from server.watching import Eye

LATE = {"spectators": 3 + 60}
SHORT = {"match": 1, "target": 3}


async def eye_at(server, table: str, *want: str, **fields) -> Eye:
    eye = await Eye(*want).connect(server)
    assert (await eye.watch(table, **fields))["t"] == "ok"
    return eye


async def played(server, **options):
    """Return two seats that have played a match to its end, and somebody who has watched from the start."""
    seats = await server.seats(2, options={**SHORT, **LATE, **options})
    eye = await eye_at(server, seats[0].table)
    for seat in seats:
        await seat.ready()
    await play_on(seats)
    await eye.settle()
    return seats, eye


async def played_again(seats) -> None:
    """Play another match to its end."""
    first = seats[0].ledger.setup.mid
    for seat in seats:
        await seat.ready()
    begun = (partial(seat.play, lambda seat: seat.ledger.setup.mid != first) for seat in seats)
    await together(*begun)
    await play_on(seats)

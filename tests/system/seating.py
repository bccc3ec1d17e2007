"""Players at a table of a server process; several tests of processes play like this."""

from collections.abc import Awaitable, Callable, Sequence

from server.rawclient import RawClient, RawSeat

Connect = Callable[[], Awaitable[RawClient]]


async def seated(
    connect: Connect,
    variant: str = "truc-french",
    count: int = 2,
    *,
    guests: Sequence[int] = (),
    seed=1,
    **options,
) -> list[RawSeat]:
    """Return players at a new table, none of them ready."""
    seats = [RawSeat(await connect(), seed=seed + i, keyed=i not in guests) for i in range(count)]
    for seat in seats:
        await seat.login()
    table = await seats[0].create(variant, seats=count, options={"guests": len(guests), **options})
    for i, seat in enumerate(seats[1:], 1):
        await seat.join(table, i)
    return seats


async def all_ready(seats: Sequence[RawSeat]) -> list[RawSeat]:
    """Let everybody agree to start."""
    for seat in seats:
        assert (await seat.ready())["t"] == "ok"
    return list(seats)

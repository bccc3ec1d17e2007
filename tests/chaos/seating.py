"""Players at a table of a server process; several tests of processes play like this."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from types import SimpleNamespace

import trio
from server.conftest import play_on
from server.rawclient import RawClient, RawSeat

Connect = Callable[[], Awaitable[RawClient]]


@asynccontextmanager
async def entrance(
    dial: Callable[[], Awaitable[trio.SocketStream]], kind: type[RawClient] = RawClient
) -> AsyncIterator[SimpleNamespace]:
    """Let players in, by its `connect`; their connections end with the block."""
    async with AsyncExitStack() as streams:

        async def connect() -> RawClient:
            return kind(await streams.enter_async_context(await dial()))

        yield SimpleNamespace(connect=connect)


async def seated(
    connect: Connect,
    variant: str = "truc-french",
    count: int = 2,
    *,
    guests: Sequence[int] = (),
    seed=1,
    kind: type[RawSeat] = RawSeat,
    want: Sequence[str] = (),
    **options,
) -> list[RawSeat]:
    """Return players at a new table, none of them ready."""
    seats = []
    for i in range(count):
        as_guest = {"keyed": False} if i in guests else {}  # a seat that deals has no choice
        seats.append(kind(await connect(), seed=seed + i, **as_guest))
    for seat in seats:
        assert (await seat.login(want=want))["t"] == "welcome"
    table = await seats[0].create(variant, seats=count, options={"guests": len(guests), **options})
    for i, seat in enumerate(seats[1:], 1):
        assert (await seat.join(table, i))["t"] == "ok"
    return seats


async def all_ready(seats: Sequence[RawSeat]) -> list[RawSeat]:
    """Let everybody agree to start."""
    for seat in seats:
        assert (await seat.ready())["t"] == "ok"
    return list(seats)


async def playing(connect: Connect, **options) -> list[RawSeat]:
    """Return two players in the middle of a match."""
    seats = await all_ready(await seated(connect, **options))
    await play_on(seats, lambda seat: seat.auditor and seat.next >= 9)
    return seats

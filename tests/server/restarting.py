"""A server that is stopped in the middle of matches, and players who come back when it runs again."""

import contextlib

import trio
from server.conftest import running, together
from server.rawclient import GoneError, RawSeat


async def play_until_gone(seat: RawSeat) -> None:
    with contextlib.suppress(GoneError, trio.BrokenResourceError, trio.ClosedResourceError):
        await seat.play()


async def come_back(server, seat: RawSeat) -> None:
    """Come back as soon as the match is there: a node may still be taking its table up."""
    with trio.fail_after(20):
        while (answer := await seat.come_back(await server.connect()))["t"] == "error":
            assert answer["retryable"]
            await trio.sleep(answer["retry_after_ms"] / 1_000)
    await seat.send_again()


async def interrupted(path, count, variant, *, after, **fields) -> list[RawSeat]:
    """Play until a seat has seen `after` records, and stop the server."""
    async with running(path) as server:
        seats = await server.match(count, variant, options={"match": 1}, **fields)

        async def watched():
            await seats[0].play(until=lambda seat: seat.done or seat.next >= after)
            server.stop()

        await together(watched, *((lambda s=seat: play_until_gone(s)) for seat in seats[1:]))
    return seats

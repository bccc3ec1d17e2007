"""A server that is stopped in the middle of matches, and players who come back when it runs again."""

from contextlib import suppress
from functools import partial

import trio
from server.conftest import running, together
from server.rawclient import GoneError, RawSeat

LOSSES = (GoneError, trio.BrokenResourceError, trio.ClosedResourceError)


async def play_until_gone(*seats: RawSeat) -> None:
    """Play to the end of the match or of the connections."""

    async def play(seat: RawSeat) -> None:
        with suppress(*LOSSES):
            await seat.play()

    await together(*(partial(play, seat) for seat in seats))


async def play_until_stopped(server, seats, until) -> None:
    """Play until a condition holds of the first seat, or its match is over, and stop the server."""
    first, *others = seats

    async def watched() -> None:
        await first.play(lambda seat: seat.done or until(seat))
        server.stop()

    await together(watched, partial(play_until_gone, *others))


async def come_back(server, *seats: RawSeat) -> None:
    """Come back as soon as the match is there: a node may still be taking its table up."""
    for seat in seats:
        with trio.fail_after(20):
            while (answer := await seat.come_back(await server.connect()))["t"] == "error":
                assert answer["retryable"]
                await trio.sleep(answer["retry_after_ms"] / 1_000)
        await seat.send_again()


async def interrupted(path, count, variant, *, after, **fields) -> list[RawSeat]:
    """Play until a seat has seen `after` records, and stop the server."""
    async with running(path) as server:
        seats = await server.match(count, variant, options={"match": 1}, **fields)
        await play_until_stopped(server, seats, lambda seat: seat.next >= after)
    return seats

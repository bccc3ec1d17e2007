"""A server that is stopped in the middle of matches, and players who come back when it runs again."""

from contextlib import suppress
from functools import partial

import pytest
import trio
from server.conftest import is_to_move, running, together
from server.rawclient import GoneError, RawSeat

LOSSES = (GoneError, trio.BrokenResourceError, trio.ClosedResourceError)


async def play_until_gone(*seats: RawSeat) -> None:
    """Play to the end of the match or of the connections."""

    async def play(seat: RawSeat) -> None:
        with suppress(*LOSSES):
            await seat.play()

    await together(*(partial(play, seat) for seat in seats))


async def goodbyes(seats) -> list[dict]:
    """Let seats that have rested play on until the server says goodbye; return what it says to each."""
    said: list[dict] = []

    async def hear(seat: RawSeat) -> None:
        await go_on(seat)
        with pytest.raises(GoneError):
            await seat.play()
        said.append(seat.client.log[-1])

    await together(*(partial(hear, seat) for seat in seats))
    return said


async def go_on(seat: RawSeat) -> None:
    """Make the move that is waited for, if it is this seat's, and from now on those to come."""
    seat.chooses = seat.pick
    if is_to_move(seat):
        await seat.act(seat.act_message(seat.options, seat.pick(seat.options, seat.offered)))


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

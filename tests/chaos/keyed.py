"""Seats with keys that play for ever: they sign and audit everything, and cost accordingly.

Invariant: a match that does not verify is in the tally as a fault.
"""

from collections.abc import Sequence
from typing import Final

import trio
from chaos.thin import Address, Game, Tally, close, connect

from truc_conform.expectations import Map, UnexpectedError
from truc_conform.raw_client import RawClient
from truc_conform.raw_seat import RawSeat
from truc_protocol.audit import Result
from truc_protocol.bodies import Act, Close
from truc_protocol.records import parse

ENDINGS: Final = (UnexpectedError, trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError)


class Counting(RawSeat):
    """A seat that counts into a tally what it sees."""

    tally: Tally

    async def take(self, message: Map) -> None:
        """Take a record, and count it."""
        await super().take(message)
        body = parse(self.records[-1])
        self.tally.acts[self.table] += isinstance(body, Act)
        if isinstance(body, Close):
            self.tally.close_hand()


async def play_keyed(addresses: Sequence[Address], tally: Tally, game: Game, *, seed: int) -> None:
    """Play one match after the other at one table, a seat from each address, until cancelled."""
    seats: list[RawSeat] = []
    try:
        for i, address in enumerate(addresses):
            kind = RawSeat if i else Counting
            seats.append(kind(RawClient(await connect(address)), seed=seed * 10 + i))
            await seats[i].login()
        seats[0].tally = tally
        table = await seats[0].create(game.variant, seats=game.seats, options=dict(game.options))
        for i, seat in enumerate(seats[1:], 1):
            await seat.join(table, i)
        while True:
            await _match(seats, tally)
    except ENDINGS as error:
        tally.blame(f"keyed table {seed}: {error}")
    finally:
        await close(seat.client.stream for seat in seats)


async def _match(seats: Sequence[RawSeat], tally: Tally) -> None:
    for seat in seats:
        seat.done = False
        await seat.ready()
    async with trio.open_nursery() as nursery:
        for seat in seats:
            nursery.start_soon(seat.play)
    tally.matches += 1
    for seat in seats:
        if seat.auditor is None or seat.auditor.verdict().result is not Result.PROVEN:
            tally.blame(f"a match at table {seat.table} does not verify")
        seat.client.log.clear()
        seat.client.received.clear()

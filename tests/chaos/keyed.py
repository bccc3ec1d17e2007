"""Seats with keys that play for ever: they sign and audit everything, and cost accordingly.

Invariant: a match that does not verify is in the tally as a fault.
"""

from collections.abc import Sequence
from typing import Final

import trio
from chaos.thin import Address, Game, Tally, close, connect

from truc_conform.expectations import UnexpectedError
from truc_conform.raw_client import RawClient
from truc_conform.raw_seat import RawSeat, bodies
from truc_protocol.audit import Result
from truc_protocol.bodies import Act, Close

ENDINGS: Final = (UnexpectedError, trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError)


async def play_keyed(addresses: Sequence[Address], tally: Tally, game: Game, *, seed: int) -> None:
    """Play one match after the other at one table, a seat from each address, until cancelled."""
    seats: list[RawSeat] = []
    try:
        for i, address in enumerate(addresses):
            seats.append(RawSeat(RawClient(await connect(address)), seed=seed * 10 + i))
            await seats[i].login()
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
    for seat in seats:
        await seat.ready()
    watch = Watch(tally, seen=len(seats[0].records))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(seats[0].play, watch.see)
        for seat in seats[1:]:
            nursery.start_soon(seat.play)
    for seat in seats:
        seat.client.log.clear()
        seat.client.received.clear()


class Watch:
    """Counts a match into a tally while it is played, and says if it does not verify."""

    def __init__(self, tally: Tally, *, seen: int) -> None:
        self._tally = tally
        self._seen = seen

    def see(self, seat: RawSeat) -> bool:
        """Count what is new; tell whether the match is over for this seat."""
        if seat.done:
            self._end(seat)
        if len(seat.records) < self._seen:  # the records of a new match
            self._seen = 0
        for body in bodies(seat.records[self._seen :]):
            self._tally.acts[seat.table] += isinstance(body, Act)
            if isinstance(body, Close):
                self._tally.close_hand()
        self._seen = len(seat.records)
        return seat.done

    def _end(self, seat: RawSeat) -> None:
        self._tally.matches += 1
        if seat.auditor is None or seat.auditor.verdict().result is not Result.PROVEN:
            self._tally.blame(f"a match at table {seat.table} does not verify")

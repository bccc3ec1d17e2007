"""Hands of mode blind, and of mode dealt beside them: `sealed.py PLAN`, of what `play` takes, in JSON.

All seats of a table play in this process, with whole audits, at a server that is another: its processor time is shared among them.
So the time from a call to its deal is that of a server and of all its players on one core, one after the other. Without
a plan it measures what X25519 costs here, and one opened seat, instead; the figures are printed as JSON.
"""

import gc
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import trio
from benchmarks.measuring import each_us, spent_us
from benchmarks.proc import cores, pin, usage
from protocol.sealed_deals import SealedDeal
from server.blind_seats import WANT, BlindSeat
from server.rawclient import Map, RawClient, RawSeat

from truc_protocol.blind_mode.points import encoded, scalar, times
from truc_protocol.blind_mode.seat_steps import first_difference
from truc_protocol.bodies import Call, Close, Deal, Keys, Release
from truc_protocol.crypto.keys import multiplier
from truc_protocol.records import Record, parse_own

GAME: Final = "truco-paulista"
"""Of two, four and six seats, with 40 cards and one turned up."""
COUNTS: Final = (2, 4, 6)
MODES: Final = {"blind": BlindSeat, "dealt": RawSeat}
_TO_THE_CARDS: Final = ("cut", "tap", "play")
_TOGETHER: Final = {Keys, Release}
"""What all seats send at once."""


class Watch:
    """What one seat has seen of its match.

    Attributes:
        closed: how many hands are over.
        deal_ms: of each deal, the time since its call.
        deal_bytes: of each, what stands after the call in bodies and signatures, the deal's own among them.
        messages: of each, how many came one after the other, before the deal.
    """

    def __init__(self, seat: RawSeat) -> None:
        self.seat = seat
        self.closed = 0
        self.deal_ms: list[float] = []
        self.deal_bytes: list[int] = []
        self.messages: list[int] = []
        self._called = 0.0
        self._between: list[Record] = []
        self._take = seat.take
        seat.take = self.take  # type: ignore[method-assign]  # players of both modes, which tell nobody

    async def take(self, message: Map) -> None:
        """Note a record, and let the seat take it."""
        record = Record(message["signer"], message["body"], message["sig"])
        body = parse_own(record)
        match body:
            case Call():
                self._called, self._between = time.perf_counter(), []
            case Deal():
                self._between.append(record)
                self._note()
            case Close():
                self.closed += 1
            case _:
                self._between.append(record)
        await self._take(message)

    def _note(self) -> None:
        self.deal_ms.append((time.perf_counter() - self._called) * 1000)
        self.deal_bytes.append(sum(len(record.body) + len(record.sig) for record in self._between))
        kinds = [type(parse_own(record)) for record in self._between[:-1]]
        together = _TOGETHER & {*kinds}
        self.messages.append(sum(kind not in together for kind in kinds) + len(together))


def plain(_message: Map, options: list[Map]) -> Map | None:
    """Choose what leads to the cards, and the cards."""
    return next((option for option in options if option["kind"] in _TO_THE_CARDS), None)


async def sit_down(seats: list[RawSeat], port: int, mode: str, count: int) -> None:
    """Let players be ready at a table of their own."""
    for number in range(1, count + 1):
        seat = MODES[mode](RawClient(await trio.open_tcp_stream("127.0.0.1", port)), seed=number)
        seat.chooses = plain
        seats.append(seat)
        await seat.login(want=WANT)
    table = await seats[0].create(GAME, seats=count, options={"mode": mode})
    for number, seat in enumerate(seats[1:], 1):
        await seat.join(table, number)
    for seat in seats:
        await seat.ready()


async def play(port: int, pid: int, mode: str, seats: int, hands: tuple[int, int]) -> dict[str, Any]:
    """Play hands to warm up, and then so many more; return what one of those takes."""
    warm, measured = hands
    players: list[RawSeat] = []
    try:
        await sit_down(players, port, mode, seats)
        watches = {id(seat): Watch(seat) for seat in players}
        await _until(players, lambda seat: watches[id(seat)].closed >= warm)
        before, spent = usage(pid), time.process_time()
        await _until(players, lambda seat: watches[id(seat)].closed >= warm + measured)
        server, spent = usage(pid) - before, time.process_time() - spent
    finally:
        for seat in players:
            await seat.client.stream.aclose()
    watch = watches[id(players[0])]
    return {
        "seat_ms": spent * 1000 / measured / seats,
        "server_ms": (server.main_s + server.others_s) * 1000 / measured,
        "server_main_ms": server.main_s * 1000 / measured,
        "deal_ms": statistics.median(watch.deal_ms[-measured:]),
        "deal_bytes": statistics.median(watch.deal_bytes[-measured:]),
        "messages": statistics.median(watch.messages[-measured:]),
    }


async def _until(seats: Sequence[RawSeat], until: Callable[[RawSeat], object]) -> None:
    async with trio.open_nursery() as nursery:
        for seat in seats:
            nursery.start_soon(partial(seat.play, until))


def primitives() -> dict[str, Any]:
    """Return microseconds of X25519, with a key at hand and with a new one, and milliseconds of C50 of a seat by how many there are."""
    number, point = scalar("lock", b"any"), times(scalar("mask", b"any")).times_base()
    ready, octets = times(number), encoded(number)
    opened = {count: min(spent_us(_judged, deal) for deal in _deals(count)) / 1000 for count in COUNTS}
    return {
        "at_hand_us": each_us(ready.times, point),
        "new_us": each_us(lambda: multiplier(octets).times(point)),
        "opened_ms": {str(count): figure for count, figure in opened.items()},
    }


def _deals(count: int) -> list[SealedDeal]:
    return [SealedDeal(seats=count, turned=1, run=run).deal() for run in range(2)]


def _judged(deal: SealedDeal) -> None:
    assert first_difference(deal.pack, 0, deal.links[0]) is None


def main() -> None:
    """Print the figures as JSON."""
    pin(os.getpid(), cores()[1])
    if not sys.argv[1:]:
        print(json.dumps(primitives()))
        return
    gc.freeze()
    print(json.dumps(trio.run(partial(play, **json.loads(sys.argv[1])))))


if __name__ == "__main__":
    main()

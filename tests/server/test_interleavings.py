"""Watchers that come and go, read slowly or are shown the match late: all see what the seats saw, in order."""

import math
import os
import random
from itertools import product

import pytest
import trio
from server.conftest import QUICK, changed, running
from server.late import played_again
from server.rawclient import GoneError
from server.watching import Eye, Held
from trio.lowlevel import ParkingLot
from trio.testing import wait_all_tasks_blocked

from truc_server.requests import catching_up
from truc_server.storage import page_reader

pytestmark = pytest.mark.slow

RUNS = [(1, 1), (2, 2), (3 + 2, 1)]
if "TRUC_EXAMPLES" in os.environ:
    RUNS = [*product((1, 2, 3 + 2), (1, 2))]
SETTINGS = changed(QUICK, limits={"idle_s": 3600, "outbox_bytes": 32_768})


class Restless:
    """A watcher who does now this, now that, until the second match is at its end."""

    def __init__(self, server, held: Held, seats, *, eye: Eye, moved: ParkingLot, seed: int) -> None:
        self.server, self.held, self.seats, self.eye, self.moved = server, held, seats, eye, moved
        self.random = random.Random(seed)

    @property
    def is_at_the_end(self) -> bool:
        mids = list(self.eye.seen)
        return len(mids) == 2 and self.eye.next == self.seats[0].next and self.seats[0].ended

    async def run(self) -> None:
        await self.connect()
        await self.eye.go_on(self.seats[0].table)
        while not self.is_at_the_end:
            try:
                await self.random.choice([self.read, self.read, self.dawdle, self.return_])()
            except GoneError:  # too slow, for one who knows no snapshots
                await self.connect()
                await self.eye.go_on(self.seats[0].table)

    async def connect(self) -> None:
        await self.eye.connect(self.server)
        self.eye.client.patience_s = math.inf

    async def read(self) -> None:
        for _ in range(self.random.randrange(30)):
            if self.is_at_the_end:
                return
            with trio.move_on_after(1):
                self.eye.take(await self.eye.client.receive())

    async def dawdle(self) -> None:
        """Read nothing for a while."""
        self.held.hold(self.eye)
        until = self.seats[0].next + self.random.randrange(80)
        while self.seats[0].next < until and not self.seats[0].done:
            await self.moved.park()
        self.held.release(self.eye)

    async def return_(self) -> None:
        """Go on from where one was: on another connection, or on the same."""
        if self.random.random() < 0.5:
            await self.eye.client.stream.aclose()
            await self.connect()
        else:
            await self.eye.ask({"t": "unwatch", "table": self.seats[0].table})
        await self.eye.go_on(self.seats[0].table)


async def two_matches(seats) -> None:
    for seat in seats:
        await seat.ready()
    async with trio.open_nursery() as nursery:
        for seat in seats:
            nursery.start_soon(seat.play)
    await played_again(seats)
    for seat in seats:
        seat.ended = True


async def tick(mock_clock, seats, moved: ParkingLot) -> None:
    """Let time go on with the match, and when it is over."""
    before = seats[0].next
    while True:
        await wait_all_tasks_blocked(0.005 if seats[0].ended else 0.001)
        if seats[0].ended or seats[0].next != before:
            before = seats[0].next
            mock_clock.jump(0.1)
            moved.unpark_all()


@pytest.mark.parametrize(("spectators", "seed"), RUNS)
async def test_every_watcher_sees_the_records_of_the_seats_in_order(
    path, monkeypatch, mock_clock, spectators, seed
):
    monkeypatch.setattr(catching_up, "PAGE", 5)
    monkeypatch.setattr(page_reader, "PAGE", 5)
    held = Held(monkeypatch)
    async with running(path, SETTINGS) as server:
        seats = await server.seats(2, seed=seed, options={"match": 1, "spectators": spectators})
        eyes = [Eye(*want) for want in ([], ["snapshot"], ["snapshot"])]
        for seat in seats:
            seat.ended, seat.client.patience_s = False, math.inf
        moved = ParkingLot()
        watchers = [
            Restless(server, held, seats, eye=eye, moved=moved, seed=10 * seed + i)
            for i, eye in enumerate(eyes)
        ]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(tick, mock_clock, seats, moved)
            async with trio.open_nursery() as players:
                players.start_soon(two_matches, seats)
                for watcher in watchers:
                    players.start_soon(watcher.run)
            nursery.cancel_scope.cancel()
        for eye in eyes:
            seen = eye.seen[seats[0].ledger.setup.mid]
            assert seen == {k: seats[0].records[4 + k] for k in seen}
        assert eyes[0].records == list(range(seats[0].next))

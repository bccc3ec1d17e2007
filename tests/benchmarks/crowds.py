"""Clients of the load generator that do not play: who comes and goes, who watches and hardly reads, and who only sends frames back."""

import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from benchmarks.boards import Board, Game, Play, Tally
from benchmarks.loop import Line, packed, tag_of
from benchmarks.seats import GuestSeat, Map, Seat

FRAME: Final = packed({"t": "act", "id": 7, "table": "K7PQX", "k": 12, "choose": "play 7e", "p": 12345})
"""An act of the size that the floor was measured with."""
PING: Final = packed({"t": "ping", "n": 7})
READS_EVERY_S: Final = 0.5
READS_BYTES: Final = 256
KERNEL_BYTES: Final = 4_096


class Entrant:
    """Somebody who logs in; `times` counts how often they have, if they begin to do nothing else."""

    def __init__(self, line: Line, number: int, tally: Tally, play: Play) -> None:
        self.times = 0
        alone = Board(line, number, Game("put", 1), play, tally)
        self.seat: Seat = alone.seats[0]

    def begin(self) -> None:
        """Log in, go, and begin anew, for ever."""
        self.seat.token = ""
        self.seat.follow(self.seat.enter(), self._go)

    def _go(self) -> None:
        self.times += 1
        self.seat.drop()
        self.begin()


class Pinger(Entrant):
    """A guest who, once logged in, asks for a sign of life as soon as the one before has come; `times` counts them."""

    def __init__(self, line: Line, number: int, tally: Tally) -> None:
        super().__init__(line, number, tally, Play())

    def begin(self) -> None:
        """Take the wire from the seat, and ask."""
        self.seat.wire.taker = self
        self.seat.wire.send(PING)

    def take(self, frame: memoryview) -> None:
        """Count an answer, and ask again."""
        if tag_of(frame) == b"pong":
            self.times += 1
            self.seat.wire.send(PING)

    def lose(self) -> None:
        """The server has ended it."""
        self.seat.lose()


class Viewer(GuestSeat):
    """A guest who watches a table, and looks at nothing that comes; `seen` counts the frames."""

    def __init__(self, line: Line, board: Board, number: int) -> None:
        super().__init__(line, f"w{number}", board, 0)
        self.seen = 0

    def begin(self, then: Callable[[], object]) -> None:
        """Come in and watch."""
        self.follow(self._watch(), then)

    def _watch(self) -> Any:
        yield from self.enter()
        yield self.ask("watch", table=self.board.code)

    def take(self, frame: memoryview) -> None:
        """Count a frame, once the watching has begun."""
        if self._script is None and tag_of(frame) != b"ping":
            self.seen += 1
        else:
            super().take(frame)

    def record(self, message: Map) -> None:
        """Watch."""


class Watcher(Viewer):
    """A guest who watches a table and reads a few hundred bytes a second; it is cut some day."""

    def __init__(self, line: Line, board: Board, number: int) -> None:
        super().__init__(line, board, number)
        self.is_cut = False

    def connect(self) -> None:
        """Open a connection on which the kernel keeps little."""
        self.wire = self._line.connect(self, kernel_bytes=KERNEL_BYTES)

    def begin(self, then: Callable[[], object]) -> None:
        """Come in and watch; from then on read slowly."""

        def slow_down() -> None:
            self.wire.pause()
            self._read()
            then()

        super().begin(slow_down)

    def _read(self) -> None:
        if self.wire.is_open:
            self.wire.read(READS_BYTES)
            self._line.loop.at(time.perf_counter() + READS_EVERY_S, self._read)

    def hurry(self) -> None:
        """Read whatever there is: what was cut shows only then."""
        if self.wire.is_open:
            self.wire.go_on()

    def lose(self) -> None:
        """It was cut."""
        self.is_cut = True

    def take(self, frame: memoryview) -> None:
        """Note a goodbye, which says why it was cut."""
        GuestSeat.take(self, frame)

    def bye(self, message: Map) -> None:
        """It is told why."""
        self.is_cut = True


class Echo:
    """Sends a frame as soon as the one before has come back; with a pace, so many a second, at moments that are drawn."""

    def __init__(self, line: Line, pace: float = 0.0) -> None:
        self.times = 0
        self._loop = line.loop
        self._pace = pace
        self._wire = line.connect(self)
        self._go_on(time.perf_counter())

    def _go_on(self, now: float) -> None:
        if not self._pace:
            self._wire.send(FRAME)
            return
        due = now + random.expovariate(self._pace)
        self._loop.at(due, partial(self._send, due))

    def _send(self, due: float) -> None:
        self._wire.send(FRAME)
        self._go_on(due)

    def take(self, frame: memoryview) -> None:
        """Count what has come back; without a pace, send the next."""
        self.times += 1
        if not self._pace:
            self._wire.send(FRAME)

    def lose(self) -> None:
        """The echo has ended."""
        raise ConnectionError("the echo has closed a connection")

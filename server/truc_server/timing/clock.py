"""Time: the clock the server runs by, the time of day, and one heap of moments at which something is to be done.

Connections and tables set alarms; nobody else waits for time. Calls are synchronous. Invariants: between two looks at the
clock at most `STEP_S` pass, however long it took; an alarm calls once for each moment it was set to, and never after it was
taken back; one that was stopped keeps nothing of its owner alive, and no more moments are kept that are over than there are
others, and a few.
"""

import heapq
import time
from collections.abc import Callable
from itertools import count
from time import perf_counter
from typing import Final

import structlog
import trio

TimedCall = Callable[[], object]
Entry = tuple[float, int, "Alarm"]  # a moment, which of those asked for it is, and whose

STEP_S: Final = 1.0
FEW: Final = 64  # entries in the heap; below that those of alarms that were set anew are not looked for

log = structlog.get_logger()


def now_ms() -> int:
    """Return Unix time in milliseconds."""
    return time.time_ns() // 1_000_000


class RunningClock(trio.abc.Clock):
    """Seconds in which the process ran."""

    # A process may be stopped, or its machine frozen, for a minute; meanwhile nothing that was sent is read.
    # By another clock every decision and connection would be over before the first answer is read.

    def __init__(self, elapsed_s: Callable[[], float] = perf_counter) -> None:
        self._elapsed_s = elapsed_s
        self._seen = elapsed_s()
        self._stood_s = 0.0

    def start_clock(self) -> None:
        """Begin now."""
        self._seen = self._elapsed_s()

    def current_time(self) -> float:
        """Return the time; whatever exceeds one step since the last look is left out."""
        elapsed_s = self._elapsed_s()
        too_long_s = elapsed_s - self._seen - STEP_S
        self._seen = elapsed_s
        if too_long_s > 0:
            self._stood_s += too_long_s
            log.info("stood_still", seconds=round(too_long_s, 3))
        return elapsed_s - self._stood_s

    def deadline_to_sleep_time(self, deadline: float) -> float:
        """Return how long to sleep at most: short enough to tell sleeping from standing still."""
        return min(deadline - self.current_time(), STEP_S / 2)


class StoppingError(Exception):
    """The server is stopping, so what was due is not done."""


class Timers:
    """Every moment the server waits for."""

    def __init__(self) -> None:
        self._heap: list[Entry] = []
        self._numbers = count()
        self._sweep_at = FEW
        self._sooner = trio.Event()

    def add(self, moment: float, alarm: "Alarm") -> Entry:
        """Let an alarm ring at a moment of Trio's clock, if it still has the entry that is returned."""
        if len(self._heap) >= self._sweep_at:
            self._sweep()
        entry = (moment, next(self._numbers), alarm)
        heapq.heappush(self._heap, entry)
        if self._heap[0] is entry:
            self._sooner.set()
        return entry

    def _sweep(self) -> None:
        """Drop the entries that their alarms have left; do so again when the heap has doubled."""
        self._heap = [entry for entry in self._heap if entry[2].entry is entry]
        heapq.heapify(self._heap)
        # Then each alarm pays for at most one look at another, however many are set and taken back.
        self._sweep_at = max(FEW, 2 * len(self._heap))

    async def run(self) -> None:
        """Let alarms ring as their moments come."""
        while True:
            now = trio.current_time()
            while self._heap and self._heap[0][0] <= now:
                entry = heapq.heappop(self._heap)
                if entry[2].entry is entry:
                    _ring(entry[2])
            self._sooner = trio.Event()
            moment = self._heap[0][0] if self._heap else float("inf")
            with trio.move_on_at(moment):
                await self._sooner.wait()


def _ring(alarm: "Alarm") -> None:
    try:
        alarm.ring()
    except StoppingError:
        pass  # nothing is decided any more
    except Exception:
        # One heap serves all tables and connections: none may end the others.
        log.exception("internal", incident="timer")


class Alarm:
    """A call whose moment may move often: a later moment costs nothing until the earlier one has come."""

    __slots__ = ("_call", "_moment", "_timers", "entry")

    def __init__(self, timers: Timers, call: TimedCall) -> None:
        self._timers = timers
        self._call = call
        self._moment: float | None = None
        self.entry: Entry | None = None  # when it rings, and looks whether its moment has moved

    def set(self, moment: float | None) -> None:
        """Call at this moment instead of the one asked for before; None takes the call back."""
        self._moment = moment
        # What it rings at is left as it is, and set again then: a clock moves with every act, and would leave
        # a moment in the heap for each.
        if moment is None:
            self.entry = None
        elif self.entry is None or moment < self.entry[0]:
            self.entry = self._timers.add(moment, self)

    def stop(self) -> None:
        """Call no more, and let go of the callee."""
        # A match that is over holds much and would keep itself alive by this; the garbage collector runs
        # seldom (`operation/process.py`), so that nothing the server lets go may refer to itself.
        self.set(None)
        self._call = _nothing

    def ring(self) -> None:
        """Call, if its moment has come; else wait for that."""
        moment, self._moment, self.entry = self._moment, None, None
        if moment is not None and moment > trio.current_time():
            self.set(moment)
        else:
            # Set to no moment any more: it may be set again in the call.
            self._call()


def _nothing() -> None:
    """Do nothing."""

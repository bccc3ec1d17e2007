"""Time: the clock the server runs by, the time of day, and one heap of moments at which something is to be done.

Connections and tables ask for a call at a moment; nobody else waits for time. Calls are synchronous. Invariants: between
two looks at the clock at most `STEP_S` pass, however long it took; a timer is called once, and never after it was cancelled;
a cancelled timer keeps nothing of its owner alive, and no more of them are kept than there are pending ones, and a few.
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

STEP_S: Final = 1.0
FEW: Final = 64  # entries in the heap; below that cancelled ones are not looked for

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


class Timer:
    """One requested call, until it is made or cancelled."""

    __slots__ = ("_call",)

    def __init__(self, call: TimedCall) -> None:
        self._call: TimedCall | None = call

    @property
    def is_pending(self) -> bool:
        """Whether the call is still to be made."""
        return self._call is not None

    def cancel(self) -> None:
        """Take the call back, if it has not been made."""
        self._call = None

    def fire(self) -> None:
        """Make the call, once."""
        # Taken away first: the owner may let go of everything in the call, or set another timer.
        call, self._call = self._call, None
        if call is not None:
            call()


class Timers:
    """Every moment the server waits for."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Timer]] = []
        self._numbers = count()
        self._sweep_at = FEW
        self._sooner = trio.Event()

    def after(self, seconds: float, call: TimedCall) -> Timer:
        """Ask for `call` in `seconds`."""
        return self.at(trio.current_time() + seconds, call)

    def at(self, moment: float, call: TimedCall) -> Timer:
        """Ask for `call` at a moment of Trio's clock."""
        if len(self._heap) >= self._sweep_at:
            self._sweep()
        timer = Timer(call)
        heapq.heappush(self._heap, (moment, next(self._numbers), timer))
        if self._heap[0][2] is timer:
            self._sooner.set()
        return timer

    def _sweep(self) -> None:
        """Drop what was cancelled; do so again when the heap has doubled."""
        self._heap = [entry for entry in self._heap if entry[2].is_pending]
        heapq.heapify(self._heap)
        # Then each timer pays for at most one look at another, however many are set and cancelled.
        self._sweep_at = max(FEW, 2 * len(self._heap))

    async def run(self) -> None:
        """Make the calls as their moments come."""
        while True:
            now = trio.current_time()
            while self._heap and (self._heap[0][0] <= now or not self._heap[0][2].is_pending):
                _fire(heapq.heappop(self._heap)[2])
            self._sooner = trio.Event()
            moment = self._heap[0][0] if self._heap else float("inf")
            with trio.move_on_at(moment):
                await self._sooner.wait()


def _fire(timer: Timer) -> None:
    try:
        timer.fire()
    except StoppingError:
        pass  # nothing is decided any more
    except Exception:
        # One heap serves all tables and connections: none may end the others.
        log.exception("internal", incident="timer")


class Alarm:
    """A call whose moment moves often: a later moment costs nothing until the earlier one has come."""

    __slots__ = ("_call", "_moment", "_set_for", "_timer", "_timers")

    def __init__(self, timers: Timers, call: TimedCall) -> None:
        self._timers = timers
        self._call = call
        self._moment: float | None = None
        self._set_for: float | None = None
        self._timer: Timer | None = None

    def set(self, moment: float | None) -> None:
        """Call at this moment instead of the one asked for before; None takes the call back."""
        self._moment = moment
        # The timer is left where it is, and set again when it rings: a clock moves with every act, and would
        # leave a cancelled timer in the heap for each.
        if moment is not None and self._set_for is not None and self._set_for <= moment:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._set_for = self._timer = None
        if moment is not None:
            self._set(moment)

    def stop(self) -> None:
        """Call no more, and let go of the callee."""
        # A match that is over holds much and would keep itself alive by this; the garbage collector runs
        # seldom (`operation/process.py`), so that nothing the server lets go may refer to itself.
        self.set(None)
        self._call = _nothing

    def _set(self, moment: float) -> None:
        self._set_for = moment
        self._timer = self._timers.at(moment, self._ring)

    def _ring(self) -> None:
        self._set_for = self._timer = None
        if self._moment is None:
            return
        if self._moment > trio.current_time():
            self._set(self._moment)
            return
        self._moment = None
        self._call()


def _nothing() -> None:
    """Do nothing."""

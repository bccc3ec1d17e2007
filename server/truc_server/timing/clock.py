"""The clock the server runs by, which stands still while the process does not run; and the time of day.

A process may be stopped, or its machine frozen, for a minute; meanwhile nobody is answered, and nothing sent is read.
By any other clock the time of every decision and every connection would be over before the first answer is read.
Invariant: between two looks at this clock at most `STEP_S` pass, however long it took.
"""

import time
from collections.abc import Callable
from time import perf_counter
from typing import Final

import structlog
import trio

STEP_S: Final = 1.0

log = structlog.get_logger()


def now_ms() -> int:
    """Return Unix time in milliseconds."""
    return time.time_ns() // 1_000_000


class RunningClock(trio.abc.Clock):
    """Seconds in which the process ran."""

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

"""The simulated world: one clock for everybody, everything that is still to happen, and the dice that decide it.

Whatever happens does so at a moment of this clock, in the order in which it was asked for. What is noted of it makes the
digest: two runs of one seed with the same digest have sent, received and stored the same bytes at the same moments.
"""

import heapq
import random
from collections.abc import Callable
from hashlib import sha256
from itertools import count
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from simulation.machine import Machine

EPOCH_S: Final = 1_790_000_000
"""The time of day when a run begins, in Unix seconds."""


class StuckError(Exception):
    """What a run waits for has not come by its last moment."""


class ViolationError(Exception):
    """Something has happened that may not, whatever fails."""


class World:
    """One run.

    Attributes:
        now: seconds since it began.
        dice: what decides whatever may be so or otherwise.
        acting: the machine whose code runs now; None between two steps.
        trace: takes a line for everything that is noted, if somebody wants to read them.
    """

    def __init__(self, seed: int, trace: Callable[[str], object] | None = None) -> None:
        self.now = 0.0
        self.dice = random.Random(f"world {seed}")
        self.chance = random.Random(f"chance {seed}")  # what the programs in it take for chance
        self.acting: Machine | None = None
        self.trace = trace
        self._digest = sha256()
        self._wrong: str | None = None
        self._events: list[tuple[float, int, Callable[[], object]]] = []
        self._numbers = count()

    @property
    def digest(self) -> str:
        """Stand for everything that was noted so far."""
        return self._digest.hexdigest()

    def note(self, who: str, what: str, content: bytes = b"") -> None:
        """Note that something has happened."""
        self._digest.update(f"{self.now!r} {who} {what} {len(content)}\n".encode())
        self._digest.update(content)
        if self.trace is not None:
            self.tell(who, f"{what} {content.hex() if len(content) <= 32 else f'{len(content)} bytes'}")

    def tell(self, who: str, line: str) -> None:
        """Tell whoever reads the trace, and nobody else."""
        if self.trace is not None:
            self.trace(f"{self.now:12.6f} {who:8} {line}")

    def fail(self, why: str) -> None:
        """Note that something has happened that may not; the run ends with it. Only the first is told."""
        self._wrong = self._wrong or why

    def check(self) -> None:
        """Check that nothing has happened that may not.

        Raises:
            ViolationError: Something has.
        """
        if self._wrong is not None:
            raise ViolationError(self._wrong)

    def after(self, seconds: float, call: Callable[[], object]) -> None:
        """Let something happen in so many seconds."""
        self.at(self.now + seconds, call)

    def at(self, moment: float, call: Callable[[], object]) -> None:
        """Let something happen at a moment, which is not over."""
        heapq.heappush(self._events, (moment, next(self._numbers), call))

    def run(self, is_over: Callable[[], bool], last_moment: float) -> None:
        """Let everything happen, in its order, until a condition holds.

        Raises:
            ViolationError: Something has happened that may not.
            StuckError: The condition does not hold by the last moment, or nothing is left to happen.
        """
        while not is_over():
            if not self._events:
                raise StuckError("nothing is left to happen")
            moment, _, call = heapq.heappop(self._events)
            if moment > last_moment:
                raise StuckError(f"it is not over after {last_moment:g} s")
            self.now = moment
            call()
            self.check()

    def drop(self) -> None:
        """Let nothing more happen."""
        self._events.clear()

"""How far a server's clock is ahead of this machine's, judged by its answers.

An answer says what the server's clock showed at some moment between question and answer; we take the middle. Of the
newest answers the fastest counts: it is wrong by at most half its round trip.
"""

from collections import deque
from typing import Final, NamedTuple

_KEPT: Final = 8


class Sample(NamedTuple):
    """One answer: how long it took, and the difference it gives."""

    round_trip_ms: float
    offset_ms: float


class Clock:
    """The difference between two clocks."""

    def __init__(self) -> None:
        self._samples: deque[Sample] = deque(maxlen=_KEPT)

    def note(self, server_ms: int | None, *, asked: float, answered: float) -> None:
        """Note what the server's clock showed between two moments of this machine's, in Unix seconds."""
        if server_ms is None or answered < asked:
            return  # the server told no time, or this machine's clock was set back in between
        middle_ms = (asked + answered) / 2 * 1000
        self._samples.append(Sample((answered - asked) * 1000, server_ms - middle_ms))

    @property
    def offset_ms(self) -> int | None:
        """How many milliseconds the server's clock is ahead; None before any answer."""
        if not self._samples:
            return None
        return round(min(self._samples).offset_ms)

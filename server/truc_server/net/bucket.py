"""Rate limit: a token bucket, filled by time, emptied by requests."""

from typing import Final

_DEEPEST: Final = 2  # times the burst that may be owed before the connection ends


class Bucket:
    """What one connection may still ask for."""

    __slots__ = ("_burst", "_rate", "_stamp", "_tokens")

    def __init__(self, *, rate: int, burst: int, now: float) -> None:
        self._rate = rate
        self._burst = burst
        self._tokens = float(burst)
        self._stamp = now

    def take(self, now: float) -> bool:
        """Pay for one request; tell whether it is taken."""
        self._tokens = min(self._burst, self._tokens + (now - self._stamp) * self._rate) - 1
        self._stamp = now
        return self._tokens >= 0

    @property
    def wait_ms(self) -> int:
        """After how many milliseconds from the newest payment the next request will be taken."""
        return int((1 - self._tokens) / self._rate * 1000) + 1

    def give_back(self) -> None:
        """Take the newest payment back."""
        self._tokens += 1

    @property
    def is_overdrawn(self) -> bool:
        """Whether requests went on so long after being refused that the connection should end."""
        return self._tokens < -_DEEPEST * self._burst

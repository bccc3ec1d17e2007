"""Sparing the log: whoever makes the server write lines can make it write only so many a minute.

Lines of one event are counted by the address that caused them, and in all. Invariant: nothing is left out silently: the
last line of a minute says that others may follow unwritten, and the next line that is written says how many did.
"""

import time
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import structlog
from structlog.typing import EventDict, WrappedLogger

from truc_server.timing.rate_limits import network_of

OF_ADDRESS: Final = 30  # lines of one event that one address causes in a minute
OF_EVENT: Final = 600  # lines of one event in a minute
RARE: Final[Mapping[str, int]] = {"cannot_accept": 1}
"""Events for which fewer lines a minute say as much."""

_MINUTE_S: Final = 60.0
_KEPT: Final = 4_096  # pairs of event and address that are counted; the oldest are forgotten

_Key = tuple[str, str | None]


class _Minute(NamedTuple):
    """How many lines were written since a moment, and how many were not."""

    since: float
    written: int = 0
    left_out: int = 0


class Sparing:
    """A structlog processor that drops lines beyond the limits."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._minutes: dict[_Key, _Minute] = {}

    def __call__(self, _logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        """Return the line, with what is to be said about others, or drop it."""
        name, address = str(event.get("event")), event.get("address")
        of_address = self._count((name, network_of(address)), OF_ADDRESS) if isinstance(address, str) else {}
        return {**event, **of_address, **self._count((name, None), RARE.get(name, OF_EVENT))}

    def _count(self, key: _Key, most: int) -> dict[str, object]:
        """Count a line.

        Raises:
            structlog.DropEvent: It is one too many.
        """
        minute, before = self._minute(key)
        if minute.written >= most:
            self._minutes[key] = _Minute(minute.since, minute.written, minute.left_out + 1)
            raise structlog.DropEvent
        self._minutes[key] = _Minute(minute.since, minute.written + 1, minute.left_out)
        if len(self._minutes) > _KEPT:
            del self._minutes[next(iter(self._minutes))]
        is_last = minute.written + 1 == most
        return {
            **({"left_out_before": before} if before else {}),
            **({"next": "left out for up to a minute"} if is_last else {}),
        }

    def _minute(self, key: _Key) -> tuple[_Minute, int]:
        """Return the present minute, and how many lines of the one before were left out."""
        now = self._clock()
        minute = self._minutes.pop(key, None)
        if minute is not None and now - minute.since < _MINUTE_S:
            return minute, 0
        return _Minute(now), minute.left_out if minute is not None else 0

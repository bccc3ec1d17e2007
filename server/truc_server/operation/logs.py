"""Logs: one event per line on standard error, for people or as JSON.

Invariants: no secret passes: no bytes, whatever they are; no value whose name has a word of `SECRET`; and tracebacks are
plain, without the values of variables. A line that cannot be written, as when the disk is full, harms nobody. No event
fills the disk, however often it happens (`LogThrottle`). What an event's own text says is the caller's responsibility:
texts are constants, values go into fields.
"""

import logging
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from textwrap import indent
from typing import Any, Final, NamedTuple, TextIO, cast

import structlog
from structlog.typing import EventDict, WrappedLogger

from truc_server.settings.settings import LogSettings
from truc_server.timing.rate_limits import network_of

OF_ADDRESS: Final = 30  # lines of one event that one address causes in a minute
OF_EVENT: Final = 600  # lines of one event in a minute
LASTING: Final = frozenset(
    {
        "bulletin_not_told",
        "bulletins_not_swept",
        "cannot_accept",
        "hints_lost",
        "inner_stranger",
        "lease_not_renewed",
        "nodes_not_heard",
        "orders_not_read",
        "page_not_read",
        "sanctions_unread",
        "store_not_read",
        "tables_not_taken",
    }
)
"""Events that a fault causes again and again as long as it lasts: one line a minute says as much."""

_MINUTE_S: Final = 60.0
_KEPT: Final = 4_096  # pairs of event and address that are counted; the oldest are forgotten

_Key = tuple[str, str | None]


class _Minute(NamedTuple):
    """How many lines were written, and how many were dropped, since a moment."""

    since: float
    written: int = 0
    left_out: int = 0


class LogThrottle:
    """A structlog processor that drops lines beyond the limits."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._minutes: dict[_Key, _Minute] = {}

    def __call__(self, _logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        """Return the line, with the count of those left out before, or drop it."""
        name, address = str(event.get("event")), event.get("address")
        # The address first: what one has too much of is dropped before it counts among the lines of all.
        of_address = self._count((name, network_of(address)), OF_ADDRESS) if isinstance(address, str) else {}
        return {**event, **of_address, **self._count((name, None), 1 if name in LASTING else OF_EVENT)}

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


SECRET: Final = re.compile(
    r"secrets?|tokens?|password|passphrase|seeds?|roots?|links?|salts?|keys?|private|cards?|hands?|openings?|options?"
    r"|box|boxes|sealed"
)
"""The words of a name whose value is withheld."""
WITHHELD: Final = "(withheld)"
_MAX_DEPTH: Final = 4
_NAMES: Final = 1_024  # of values, which are remembered as secret or not


class _Lenient:
    """A stream that drops what it cannot take: one line less in the log, but no failure for whoever wrote it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()


def configure(logs: LogSettings, stream: TextIO) -> None:
    """Send the log to `stream`, in the format and from the level of the settings."""
    structlog.configure(
        processors=[
            # First, so that a line that is left out costs nothing else.
            LogThrottle(),
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            # Behind all that adds fields, so that it sees every one.
            withhold_secrets,
            *_renderers(logs, stream),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.getLevelNamesMapping()[logs.level.upper()]
        ),
        logger_factory=structlog.PrintLoggerFactory(cast("TextIO", _Lenient(stream))),
        # Loggers that are made once would be some per cent of a login cheaper, and go on writing where the
        # log went before it was configured again.
        cache_logger_on_first_use=False,
    )


def withhold_secrets(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Replace whatever may be a secret, at any depth (a structlog processor)."""
    return {name: _safe(name, value, _MAX_DEPTH) for name, value in event.items()}


def _set_traceback_in(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Indent a traceback and escape what is not printable: its last lines may quote a client."""
    traceback = event.get("exception")
    if not isinstance(traceback, str):
        return event
    shown = "".join(c if c == "\n" or c.isprintable() else ascii(c)[1:-1] for c in traceback)
    return {**event, "exception": indent(shown, "  ")}


def _renderers(logs: LogSettings, stream: TextIO) -> list[Any]:
    match logs.format:
        case "json":
            return [structlog.processors.JSONRenderer()]
        case "human":
            return [
                _set_traceback_in,
                # Texts as Python writes them: a client's line break begins no line of the log.
                structlog.dev.ConsoleRenderer(colors=stream.isatty(), repr_native_str=True),
            ]


def _safe(name: str, value: object, depth: int) -> object:
    if _is_secret(name):
        return WITHHELD
    match value:
        case bytes() | bytearray() | memoryview():
            return f"({len(value)} bytes withheld)"
        case str() | int() | float() | None:
            return value
        case Mapping() if depth:
            return {str(_safe("", key, 0)): _safe(str(key), item, depth - 1) for key, item in value.items()}
        case list() | tuple() | set() | frozenset() if depth:
            return [_safe("", item, depth - 1) for item in value]
        case _:
            # Any object may have a secret in its repr.
            return _kind(value)


@lru_cache(maxsize=_NAMES)
def _is_secret(name: str) -> bool:
    return any(map(SECRET.fullmatch, name.lower().split("_")))


def _kind(value: object) -> str:
    return f"({type(value).__name__})"

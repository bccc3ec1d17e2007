"""Logs: one event per line on standard error, for people or as JSON.

Invariants: no secret passes: no bytes, whatever they are; no value whose name has a word of `SECRET`; and tracebacks are
plain, without the values of variables. A line that cannot be written, as when the disk is full, harms nobody. No event
fills the disk, however often it happens (sparing.py). What an event's own text says is the caller's responsibility:
texts are constants, values go into fields.
"""

import logging
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from textwrap import indent
from typing import Any, Final, TextIO, cast

import structlog
from structlog.typing import EventDict, WrappedLogger

from truc_server.operation.log_throttle import Sparing
from truc_server.settings.settings import Logs

SECRET: Final = frozenset(
    [
        "secret",
        "secrets",
        "token",
        "tokens",
        "password",
        "passphrase",
        "seed",
        "seeds",
        "root",
        "roots",
        "link",
        "links",
        "salt",
        "salts",
        "key",
        "keys",
        "private",
        "card",
        "cards",
        "hand",
        "hands",
        "opening",
        "openings",
        "option",
        "options",
        "box",
        "boxes",
        "sealed",
    ]
)
WITHHELD: Final = "(withheld)"
_COMPLAINT_S: Final = 60.0  # between two lines about something that is still wrong
_MAX_DEPTH: Final = 4
_NAMES: Final = 1_024  # of values, which are remembered as secret or not


class Seldom:
    """Whether it is time to say again that something is still wrong."""

    def __init__(self) -> None:
        self._said: float | None = None

    def is_due(self, now: float) -> bool:
        """Tell whether it is; if so, it counts as said."""
        if self._said is not None and now < self._said + _COMPLAINT_S:
            return False
        self._said = now
        return True


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


def configure(logs: Logs, stream: TextIO) -> None:
    """Send the log to `stream`, in the format and from the level of the settings."""
    structlog.configure(
        processors=[
            Sparing(),
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            withhold_secrets,
            *_renderers(logs, stream),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.getLevelNamesMapping()[logs.level.upper()]
        ),
        logger_factory=structlog.PrintLoggerFactory(cast("TextIO", _Lenient(stream))),
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


def _renderers(logs: Logs, stream: TextIO) -> list[Any]:
    match logs.format:
        case "json":
            return [structlog.processors.JSONRenderer()]
        case "human":
            return [
                _set_traceback_in,
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
            return _kind(value)


@lru_cache(maxsize=_NAMES)
def _is_secret(name: str) -> bool:
    return not SECRET.isdisjoint(name.lower().split("_"))


def _kind(value: object) -> str:
    return f"({type(value).__name__})"

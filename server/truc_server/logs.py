"""Logs: one event a line on standard error, for people or as JSON.

Invariant: no secret passes. Bytes never do, whatever they are; nor does a value whose name has a word of `SECRET`;
tracebacks are plain, without the values of variables. What an event's own text says is the caller's responsibility:
texts are constants, values go into fields.
"""

import logging
from collections.abc import Mapping
from typing import Any, Final, TextIO

import structlog
from structlog.typing import EventDict, WrappedLogger

from truc_server.settings import Logs

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
_MAX_DEPTH: Final = 4


def configure(logs: Logs, stream: TextIO) -> None:
    """Send the log to `stream`, in the format and from the level of the settings."""
    structlog.configure(
        processors=[
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
        logger_factory=structlog.PrintLoggerFactory(stream),
        cache_logger_on_first_use=False,
    )


def withhold_secrets(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Replace whatever may be a secret, at any depth (a processor of structlog)."""
    return {name: _safe(name, value, _MAX_DEPTH) for name, value in event.items()}


def _renderers(logs: Logs, stream: TextIO) -> list[Any]:
    match logs.format:
        case "json":
            return [structlog.processors.JSONRenderer()]
        case "human":
            return [structlog.dev.ConsoleRenderer(colors=stream.isatty(), repr_native_str=True)]


def _safe(name: str, value: object, depth: int) -> object:
    if SECRET & set(name.lower().split("_")):
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


def _kind(value: object) -> str:
    return f"({type(value).__name__})"

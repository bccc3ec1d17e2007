"""How long a ban or a mute is to hold, as the commands are told: for days, for hours, or for ever."""

from collections.abc import Callable
from typing import Final, TypeVar

import click

_DAY_HOURS: Final = 24
_MOST_DAYS: Final = 3_650

_Command = TypeVar("_Command", bound=Callable[..., None])


def for_a_while(command: _Command) -> _Command:
    """Give a command the options that say how long."""
    days = click.option("--days", type=click.IntRange(1, _MOST_DAYS), help="For this many days [for ever].")
    hours = click.option(
        "--hours", type=click.IntRange(1, _MOST_DAYS * _DAY_HOURS), help="Or for this many hours."
    )
    return days(hours(command))


def span_hours(days: int | None, hours: int | None) -> int | None:
    """Return for how many hours; None is for ever.

    Raises:
        click.UsageError: Both were given.
    """
    if days is not None and hours is not None:
        raise click.UsageError("expected --days or --hours, got both")
    return hours if days is None else days * _DAY_HOURS

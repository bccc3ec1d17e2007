"""Tables of a server at a glance: for each one what is played, who sits there, the clock, and which options were chosen.

A person at a terminal is shown columns, those tables first where they can sit down; a script gets one line for each table,
in the order of the server.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from rich.table import Table as Columns
from rich.text import Text

from truc_client.cli.company import has_free_seat
from truc_client.cli.stepping_in import vacant_seats
from truc_client.cli.table_clock import TableClock
from truc_protocol.messages import SeatState, TableState
from truc_protocol.setup import read_opts
from truc_protocol.words import printable, shown_name

_STATES: Final = {"open": "open", "terms": "about to begin", "playing": "playing", "over": "between matches"}
_MINUTE_MS: Final = 60_000


class Listed(NamedTuple):
    """A table as it is listed, one text for each column."""

    table: str
    game: str
    seats: str
    state: str
    clock: str
    options: str
    players: str


def listed(state: TableState) -> Listed:
    """Return what is listed of a table."""
    opts = read_opts(state.opts)
    chosen = (f"{name}={value}" for name, value in state.options.items() if name not in TableClock._fields)
    return Listed(
        state.table,
        state.variant,
        f"{taken_seats(state)}/{state.n}",
        "substitute wanted" if vacant_seats(state) else _STATES[state.state] + _closing(state),
        str(TableClock(opts.decision_ms, opts.bank_ms)),
        printable(" ".join(chosen)),
        printable(_players(state)),
    )


def columns(states: Iterable[TableState]) -> Columns:
    """Return tables for a terminal, those first where there is a seat to take."""
    shown = Columns(*(name.capitalize() for name in Listed._fields), box=None, padding=(0, 2, 0, 0))
    for state in sorted(states, key=_readiness):
        shown.add_row(*map(Text, listed(state)), style="" if has_seat(state) else "dim")
    return shown


def table_line(state: TableState) -> str:
    """Return a table in one line."""
    wanted = "  substitute wanted" if vacant_seats(state) else ""
    return printable(
        f"{state.table}  {state.variant}  {taken_seats(state)}/{state.n} seats  {state.state}  {_players(state)}{wanted}"
    )


def has_seat(state: TableState) -> bool:
    """Tell whether somebody can sit down at a table now, or step in there."""
    is_open = state.state in ("open", "over") and has_free_seat(state)
    return is_open or bool(vacant_seats(state))


def taken_seats(state: TableState) -> int:
    """Return how many seats of a table are somebody's."""
    return sum(seat.kind != "empty" for seat in state.seats)


def _readiness(state: TableState) -> tuple[bool, bool, int, str]:
    """Order tables: a seat to take, nobody's match to enter, few players missing."""
    return not has_seat(state), bool(vacant_seats(state)), state.n - taken_seats(state), state.table


def _closing(state: TableState) -> str:
    """Tell when a table that nobody starts is closed."""
    if state.expires_ms is None:
        return ""
    minutes = round(state.expires_ms / _MINUTE_MS)
    return f", {minutes} min left" if minutes else ", closes now"


def _players(state: TableState) -> str:
    return ", ".join(_player(seat) for seat in state.seats if seat.name is not None)


def _player(seat: SeatState) -> str:
    name = shown_name(seat.name or "", seat.seat)
    return name if seat.online else f"{name} (away)"

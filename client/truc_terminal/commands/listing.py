"""Tables of a server at a glance: the game, who sits there, since when, the clock, and the options chosen.

A person at a terminal sees columns, a script gets one line for each table. Tables with a seat to take come first.

The clock of a table in short: `30+120` is 30 seconds for a decision and 120 in the bank.
"""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table as Columns
from rich.text import Text

from truc_protocol.messages import SeatState, TableState
from truc_protocol.setup import read_opts
from truc_terminal.commands.company import has_free_seat
from truc_terminal.commands.stepping_in import vacant_seats
from truc_terminal.screen.wrapping import wrapped
from truc_words import ENGLISH, Sentence, Speech, printable, shown_name

_FORM: Final = re.compile(r"(?P<decision>[0-9]{1,5})(\+(?P<bank>[0-9]{1,5}))?")
_NONE: Final = "none"
_SECOND: Final = 1000
_LONGEST_S: Final = 86_400


class TableClock(NamedTuple):
    """The times of a table, under the names of its options; 0 for a decision means no limit."""

    decision_ms: int
    bank_ms: int

    def __str__(self) -> str:
        if not self.decision_ms:
            return _NONE
        return "+".join(f"{ms / _SECOND:g}" for ms in self if ms)


def read_clock(text: str) -> TableClock:
    """Read a clock.

    Raises:
        ValueError: The text is no clock; the message says what was expected.
    """
    if text == _NONE:
        return TableClock(0, 0)
    if found := _FORM.fullmatch(text):
        decision, bank = int(found["decision"]), int(found["bank"] or 0)
        if 0 < decision <= _LONGEST_S and bank <= _LONGEST_S:
            return TableClock(decision * _SECOND, bank * _SECOND)
    raise ValueError(Sentence("commands.clock_expected", most=_LONGEST_S, none=_NONE, got=repr(text)))


_MINUTE_MS: Final = 60_000
_HOUR_MIN: Final = 60
_ANY_WIDTH: Final = 10_000


class Listed(NamedTuple):
    """A table in the list, one text for each column."""

    table: str
    game: str
    seats: str
    state: str
    age: str
    clock: str
    options: str
    players: str


def listed(state: TableState, speech: Speech = ENGLISH) -> Listed:
    """Return the columns of a table."""
    opts = read_opts(state.opts)
    chosen = (f"{name}={value}" for name, value in state.options.items() if name not in TableClock._fields)
    return Listed(
        state.table,
        state.variant,
        f"{taken_seats(state)}/{state.n}",
        _stage(state, speech),
        age(state),
        str(TableClock(opts.decision_ms, opts.bank_ms)),
        printable(" ".join(chosen)),
        printable(_players(state, speech)),
    )


def in_order(states: Iterable[TableState]) -> list[TableState]:
    """Return tables, those with a seat to take first, in the order of `_readiness`."""
    return sorted(states, key=_readiness)


def columns(states: Iterable[TableState], speech: Speech = ENGLISH) -> Columns:
    """Return tables for a terminal, in order."""
    heads = (speech.catalogue.listing[name] for name in Listed._fields)
    shown = Columns(*heads, box=None, padding=(0, 2, 0, 0))
    for state in in_order(states):
        shown.add_row(*map(Text, listed(state, speech)), style="" if has_seat(state) else "dim")
    return shown


class Listing(NamedTuple):
    """Tables for a terminal: in columns, or one after the other where there is no room for the words in them."""

    states: tuple[TableState, ...]
    speech: Speech = ENGLISH

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield what fits the width."""
        shown = columns(self.states, self.speech)
        needed = Measurement.get(console, options.update_width(_ANY_WIDTH), shown).minimum
        yield shown if needed <= options.max_width else self._lines(options.max_width)

    def _lines(self, width: int) -> Text:
        lines = Text()
        for state in in_order(self.states):
            told = "  ".join(filter(None, listed(state, self.speech)))
            for line in wrapped(told, width):
                lines.append(f"{line}\n", "" if has_seat(state) else "dim")
        lines.rstrip()
        return lines


def table_line(state: TableState) -> str:
    """Return a table as one line, always in English, as it is for programs."""
    wanted = "substitute wanted" if vacant_seats(state) else ""
    seats = f"{taken_seats(state)}/{state.n} seats"
    told = (state.table, state.variant, seats, state.state, _players(state), wanted, age(state))
    return printable("  ".join(filter(None, told)))


def age(state: TableState) -> str:
    """Return how long a table has waited or its match has been on; nothing if the server does not say."""
    if state.age_ms is None:
        return ""
    hours, minutes = divmod(state.age_ms // _MINUTE_MS, _HOUR_MIN)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min"


def has_seat(state: TableState) -> bool:
    """Tell whether somebody can sit down at a table now, or step in there."""
    is_open = state.state in ("open", "over") and has_free_seat(state)
    return is_open or bool(vacant_seats(state))


def taken_seats(state: TableState) -> int:
    """Return how many seats of a table are taken."""
    return sum(seat.kind != "empty" for seat in state.seats)


def _readiness(state: TableState) -> tuple[bool, bool, int, int, str]:
    """Return the sort key of a table: a seat to take, no running match, few players missing, a long wait come first."""
    missing = state.n - taken_seats(state)
    return not has_seat(state), bool(vacant_seats(state)), missing, -(state.age_ms or 0), state.table


def _stage(state: TableState, speech: Speech) -> str:
    """Return what goes on at a table, and when it closes if nobody starts a match."""
    if vacant_seats(state):
        return speech.say("listing.substitute_wanted")
    stage = speech.say(f"listing.state_{state.state}")
    if state.expires_ms is None:
        return stage
    minutes = round(state.expires_ms / _MINUTE_MS)
    return speech.say("listing.minutes_left" if minutes else "listing.closes_now", state=stage, n=minutes)


def _players(state: TableState, speech: Speech = ENGLISH) -> str:
    return ", ".join(_player(seat, speech) for seat in state.seats if seat.name is not None)


def _player(seat: SeatState, speech: Speech) -> str:
    name = shown_name(seat.name or "", seat.seat)
    return name if seat.online else speech.say("listing.away", name=name)

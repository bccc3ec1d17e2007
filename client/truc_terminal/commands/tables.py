"""`truc tables`: what is open at a server, at a glance.

A person at a terminal sees columns, a script gets one line for each table. Tables with a seat to take come first. With
--follow one list is kept up to date on a terminal, and a script gets a line for each change; between two changes, ages
advance by this machine's clock.

Which tables have a seat to take is asked by other commands too: free ones, and vacant ones of a match that has lost a player.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

import click
import trio
from msgspec.structs import replace
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.measure import Measurement
from rich.table import Table as Columns
from rich.text import Text

from truc_client.connection import Connection
from truc_client.happenings import Interrupted, LobbyHappening, TableChanged, TableGone
from truc_client.lobby import Lobby
from truc_protocol.messages import SeatState, TableState
from truc_protocol.records import BLIND
from truc_protocol.setup import read_opts
from truc_terminal.commands.language import lang_option, spoken
from truc_terminal.commands.output import usage_error
from truc_terminal.commands.player import at_server, own_player
from truc_terminal.commands.server_lookup import server_meant
from truc_terminal.commands.table_options import TableClock
from truc_terminal.commands.terminal import ended_as_by_ctrl_c
from truc_terminal.screen.wrapping import wrapped
from truc_terminal.verdicts import quoted_name
from truc_words import ENGLISH, Sentence, Speech, printable, shown_name

_TICK_S: Final = 20.0  # ages are told in minutes, so three times a minute is often enough
_MINUTE_MS: Final = 60_000
_HOUR_MIN: Final = 60
# Columns, more than any list takes: to measure what it would take if there were room.
_ANY_WIDTH: Final = 10_000


class TableLine(NamedTuple):
    """A table in the list, one text for each column."""

    table: str
    game: str
    seats: str
    state: str
    age: str
    clock: str
    options: str
    players: str


def table_columns(state: TableState, speech: Speech = ENGLISH) -> TableLine:
    """Return the columns of a table."""
    opts = read_opts(state.opts)
    mode = {"mode": state.mode} if state.mode == BLIND else {}
    options = {**mode, **state.options}
    chosen = (f"{name}={value}" for name, value in options.items() if name not in TableClock._fields)
    return TableLine(
        printable(state.table),
        printable(state.variant),
        f"{taken_seats(state)}/{state.n}",
        _stage(state, speech),
        age(state),
        str(TableClock(opts.decision_ms, opts.bank_ms)),
        printable(" ".join(chosen)),
        printable(_players(state, shown_name, speech)),
    )


def in_order(states: Iterable[TableState]) -> list[TableState]:
    """Return tables, those with a seat to take first, in the order of `_readiness`."""
    return sorted(states, key=_readiness)


def columns(states: Iterable[TableState], speech: Speech = ENGLISH) -> Columns:
    """Return tables for a terminal, in order."""
    heads = (speech.catalogue.listing[name] for name in TableLine._fields)
    shown = Columns(*heads, box=None, padding=(0, 2, 0, 0))
    for state in in_order(states):
        shown.add_row(
            *map(Text, table_columns(state, speech)), style="" if has_seat_to_take(state) else "dim"
        )
    return shown


class TableList(NamedTuple):
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
            told = "  ".join(filter(None, table_columns(state, self.speech)))
            for line in wrapped(told, width):
                lines.append(f"{line}\n", "" if has_seat_to_take(state) else "dim")
        lines.rstrip()
        return lines


def table_line(state: TableState) -> str:
    """Return a table as one line, always in English, as it is for programs."""
    wanted = "substitute wanted" if vacant_seats(state) else ""
    seats = f"{taken_seats(state)}/{state.n} seats"
    players = _players(state, quoted_name, ENGLISH)
    told = (state.table, state.variant, seats, state.state, players, wanted, age(state))
    return printable("  ".join(filter(None, told)))


def age(state: TableState) -> str:
    """Return how long a table has waited or its match has been on; nothing if the server does not say."""
    if state.age_ms is None:
        return ""
    hours, minutes = divmod(state.age_ms // _MINUTE_MS, _HOUR_MIN)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min"


def _readiness(state: TableState) -> tuple[bool, bool, int, int, str]:
    """Return the sort key of a table: a seat to take, no running match, few players missing, a long wait come first."""
    missing = state.n - taken_seats(state)
    # The code comes last, so that equal tables keep their order from one drawing to the next.
    return not has_seat_to_take(state), bool(vacant_seats(state)), missing, -(state.age_ms or 0), state.table


def _stage(state: TableState, speech: Speech) -> str:
    """Return what goes on at a table, and when it closes if nobody starts a match."""
    if vacant_seats(state):
        return speech.say("listing.substitute_wanted")
    stage = speech.say(f"listing.state_{state.state}")
    if state.expires_ms is None:
        return stage
    minutes = round(state.expires_ms / _MINUTE_MS)
    return speech.say("listing.minutes_left" if minutes else "listing.closes_now", state=stage, n=minutes)


def _players(state: TableState, named: Callable[[str, int], str], speech: Speech) -> str:
    return ", ".join(_player(seat, named, speech) for seat in state.seats if seat.name is not None)


def _player(seat: SeatState, named: Callable[[str, int], str], speech: Speech) -> str:
    name = named(seat.name or "", seat.seat)
    return name if seat.online else speech.say("listing.away", name=name)


class TableSeen(NamedTuple):
    """A table as it was shown, and the time of that in seconds."""

    state: TableState
    at: float

    def by(self, now: float) -> TableState:
        """Return the table as it stands at a later time, if nothing has changed."""
        passed_ms = int((now - self.at) * 1000)
        age_ms, expires_ms = self.state.age_ms, self.state.expires_ms
        return replace(
            self.state,
            age_ms=None if age_ms is None else age_ms + passed_ms,
            expires_ms=None if expires_ms is None else max(0, expires_ms - passed_ms),
        )


class FollowedTables:
    """The public tables of one game, or of all, as last shown."""

    def __init__(self, variant: str | None, lang: str) -> None:
        self._variant = variant
        self._speech = Speech(lang)
        self._seen: dict[str, TableSeen] = {}
        self._told: dict[str, str] = {}

    def take(self, happening: LobbyHappening, at: float) -> Iterator[str]:
        """Take what happened in the lobby, at a time in seconds; yield a line for each change."""
        match happening:
            case TableChanged(state) if self._variant in (None, state.variant):
                self._seen[state.table] = TableSeen(state, at)
                # That a table has got older is no change.
                line = table_line(replace(state, age_ms=None))
                if self._told.get(state.table) != line:
                    yield table_line(state)
                self._told[state.table] = line
            case TableGone(table=table) if self._seen.pop(table, None) is not None:
                del self._told[table]
                yield printable(f"{table}  {self._speech.say('screen.closed', reason=happening.why)}")
            case _:
                pass

    def by(self, now: float) -> tuple[TableState, ...]:
        """Return the tables as they stand at a time."""
        return tuple(seen.by(now) for seen in self._seen.values())

    def trouble(self, happening: LobbyHappening) -> str | None:
        """Return what to say about a lost connection."""
        if not isinstance(happening, Interrupted):
            return None
        return printable(self._speech.say("watching.interrupted", reason=happening.reason))


async def follow_lines(lobby: Lobby, tables: FollowedTables) -> None:
    """Print a line for every table and for each change, as long as the server is there."""
    async for happening in lobby:
        if trouble := tables.trouble(happening):
            click.echo(trouble, err=True)
        for line in tables.take(happening, trio.current_time()):
            click.echo(line)


async def follow_list(
    lobby: Lobby,
    tables: FollowedTables,
    console: Console,
    drawn: Callable[[tuple[TableState, ...]], RenderableType],
) -> None:
    """Keep a list of the tables up to date on a terminal, as long as the server is there."""
    with Live(drawn(()), console=console, auto_refresh=False) as live:
        while True:
            with trio.move_on_after(_TICK_S):
                happening = await anext(lobby)
                if trouble := tables.trouble(happening):
                    # The reason may quote what a server says.
                    console.print(trouble, markup=False)
                # For what it notes: the list is drawn anew as a whole.
                list(tables.take(happening, trio.current_time()))
            live.update(drawn(tables.by(trio.current_time())), refresh=True)


@click.command()
@click.argument("address", required=False)
@click.option("--variant", help="Only tables of this game; see `truc rules`.")
@click.option("--follow", is_flag=True, help="Stay, and show every change, until Ctrl-C.")
@lang_option
def tables(address: str | None, variant: str | None, *, follow: bool) -> None:
    """List the public tables at ADDRESS: HOST or HOST:PORT; with a link the one that it leads to.

    Those first where there is a seat to take: `truc join HOST CODE` sits down there, `truc watch HOST/CODE` looks on. The age is
    how long a table has waited, or how long its match has been played. Without a terminal each table is a line that begins
    with its code.

    With one server known no ADDRESS is needed.
    """
    player, where = own_player(), server_meant(address)
    if follow and where.table is not None:
        raise usage_error(Sentence("commands.follow_one", command="truc watch ADDRESS/TABLE"))

    async def show(connection: Connection) -> None:
        if variant is not None and all(variant != offer.name for offer in connection.info.variants):
            await connection.rules(variant)  # refused, by the server that knows its games
        if follow:
            await _follow(connection, FollowedTables(variant, spoken()), where.place)
        else:
            _show(await tables_at(connection, where.table, variant), where.place)

    with ended_as_by_ctrl_c():
        at_server(where, player, show)


async def _follow(connection: Connection, followed: FollowedTables, place: str) -> None:
    lobby, console = await connection.lobby(), Console(highlight=False)
    if console.is_terminal:
        await follow_list(lobby, followed, console, lambda found: _listed(found, place))
    else:
        await follow_lines(lobby, followed)


def _show(found: tuple[TableState, ...], place: str) -> None:
    console = Console(highlight=False)
    if found and not console.is_terminal:
        for state in in_order(found):
            click.echo(table_line(state))
        return
    console.print(_listed(found, place), soft_wrap=not found)


def _listed(found: tuple[TableState, ...], place: str) -> RenderableType:
    """Return tables as shown at a terminal, with the commands to join or watch them."""
    speech = Speech(spoken())
    if not found:
        return Text(speech.say("listing.none", command=f"truc create {place} VARIANT"))
    told = [Text(speech.say("listing.to_look_on", command=f"truc watch {place}/TABLE"))]
    if any(map(has_seat_to_take, found)):
        told.insert(0, Text(speech.say("listing.to_sit_down", command=f"truc join {place} TABLE")))
    return Group(TableList(found, speech), *told)


WAITING: frozenset[str] = frozenset({"open", "over"})
"""The states of a table where no match is on."""


def has_free_seat(state: TableState) -> bool:
    """Tell whether somebody may still sit down at a table."""
    return any(seat.kind == "empty" for seat in state.seats)


def vacant_seats(state: TableState) -> tuple[int, ...]:
    """Return the seats of a table that may be taken over in the middle of a match."""
    return tuple(seat.seat for seat in state.seats if seat.vacant)


def has_seat_to_take(state: TableState) -> bool:
    """Tell whether somebody can sit down at a table now, or step in there."""
    is_open = state.state in WAITING and has_free_seat(state)
    return is_open or bool(vacant_seats(state))


def taken_seats(state: TableState) -> int:
    """Return how many seats of a table are taken."""
    return sum(seat.kind != "empty" for seat in state.seats)


async def tables_at(
    connection: Connection, code: str | None, variant: str | None = None
) -> tuple[TableState, ...]:
    """Return the public tables, of one game or of all; with a code only that table, which may be private.

    Raises:
        RefusedError: The table with that code is not shown.
    """
    if code is None:
        return await connection.tables(variant)
    preview = await connection.preview(code)
    if preview.state is not None:
        return (preview.state,)
    # A table that may not be watched is not previewed, but a public one is listed.
    public = tuple(state for state in await connection.tables() if state.table == code)
    if not public and preview.refused is not None:
        raise preview.refused
    return public

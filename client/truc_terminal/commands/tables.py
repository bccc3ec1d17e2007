"""`truc tables`: what is open at a server.

With --follow the tables are told as they change: one list kept up to date on a terminal, else a line for each change.

Between two changes, ages advance by this machine's clock.
"""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import click
import trio
from msgspec.structs import replace
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from truc_client.connecting import connect
from truc_client.connection import Connection
from truc_client.happenings import Interrupted, LobbyHappening, TableChanged, TableClosed
from truc_client.lobby import Lobby
from truc_protocol.messages import TableState
from truc_terminal.commands.common import lang_option, own_player, run, spoken, usage_error
from truc_terminal.commands.listing import Listing, has_seat, in_order, table_line
from truc_terminal.commands.server_lookup import server_meant
from truc_terminal.commands.terminal import ended_as_by_ctrl_c
from truc_words import Sentence, Speech, printable

_TICK_S: Final = 20.0


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
                line = table_line(replace(state, age_ms=None))
                if self._told.get(state.table) != line:
                    yield table_line(state)
                self._told[state.table] = line
            case TableClosed(table=table) if self._seen.pop(table, None) is not None:
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
                    console.print(trouble, markup=False)
                list(tables.take(happening, trio.current_time()))
            live.update(drawn(tables.by(trio.current_time())), refresh=True)


@click.command(short_help="List the public tables of a server.")
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

    async def main() -> None:
        async with connect(where, player) as connection:
            if follow:
                await _follow(connection, FollowedTables(variant, spoken()), where.place)
            else:
                _show(await _tables(connection, where.table, variant), where.place)

    with ended_as_by_ctrl_c():
        run(main)


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
        return Text(speech.say("listing.none", command=f"truc create {place} NAME"))
    told = [Text(speech.say("listing.to_look_on", command=f"truc watch {place}/TABLE"))]
    if any(map(has_seat, found)):
        told.insert(0, Text(speech.say("listing.to_sit_down", command=f"truc join {place} TABLE")))
    return Group(Listing(found, speech), *told)


async def _tables(connection: Connection, code: str | None, variant: str | None) -> tuple[TableState, ...]:
    """Return the public tables, or the one that a link leads to."""
    if code is None:
        return await connection.tables(variant)
    preview = await connection.preview(code)
    if preview.state is not None:
        return (preview.state,)
    public = tuple(state for state in await connection.tables() if state.table == code)
    if not public and preview.refused is not None:
        raise preview.refused
    return public

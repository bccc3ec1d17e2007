"""The public tables of a server as they change: one list kept up to date on a terminal, else a line for each change.

Between two changes, ages advance by this machine's clock.
"""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import click
import trio
from msgspec.structs import replace
from rich.console import Console, RenderableType
from rich.live import Live

from truc_client.happenings import Interrupted, LobbyHappening, TableChanged, TableClosed
from truc_client.lobby import Lobby
from truc_protocol.messages import TableState
from truc_terminal.commands.listing import table_line
from truc_words import Speech, printable

_TICK_S: Final = 20.0


class Seen(NamedTuple):
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
        self._seen: dict[str, Seen] = {}
        self._told: dict[str, str] = {}

    def take(self, happening: LobbyHappening, at: float) -> Iterator[str]:
        """Take what happened in the lobby, at a time in seconds; yield a line for each change."""
        match happening:
            case TableChanged(state) if self._variant in (None, state.variant):
                self._seen[state.table] = Seen(state, at)
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

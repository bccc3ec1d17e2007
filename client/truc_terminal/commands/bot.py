"""`truc bot`: a bot with its own key, at a server."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final, NamedTuple

import click
import trio

from truc_client.bots import play_match
from truc_client.connection import Connection
from truc_client.errors import ClientError, NotPlayedError, RefusedError
from truc_client.happenings import MatchEnded
from truc_client.home.account import Player
from truc_client.home.home import Home, open_home, sole_use
from truc_client.table import Table
from truc_protocol.errors import Code
from truc_protocol.messages import TableState
from truc_terminal.commands.house_bot import BotPlay, result_of, serve_until_ended, stand_by, tell_trouble
from truc_terminal.commands.language import lang_option
from truc_terminal.commands.output import FailedError, tell, usage_error
from truc_terminal.commands.player import at_server, own_home, run, told_player
from truc_terminal.commands.server_lookup import server_meant
from truc_terminal.commands.table_options import ChosenOptions, options_option, table_options
from truc_terminal.commands.tables import has_free_seat, tables_at, vacant_seats
from truc_terminal.styles import style_option
from truc_words import Sentence

_MOST_BOTS: Final = 1000  # with one name in one home; more than a machine can run
_LOOK_S: Final = 3.0  # between two looks for a vacant seat
_GONE: Final = frozenset({Code.TABLE_FULL, Code.TABLE_NOT_OPEN, Code.NO_SUCH_TABLE})


class BotWork(NamedTuple):
    """What a bot should do."""

    code: str | None
    variant: str | None
    seats: int | None
    options: ChosenOptions
    private: bool
    matches: int
    substitute: bool
    play: BotPlay


@click.command()
@click.argument("address", required=False)
@click.option("--table", "code", help="Sit down at the table with this code.")
@click.option("--create", "variant", help="Open a table of this game; see `truc rules`.")
@click.option("--seats", type=int, help="Number of seats of a new table.")
@options_option
@click.option("--private", is_flag=True, help="Keep a new table out of the list.")
@click.option("--substitute", is_flag=True, help="Wait for a match that has lost a player, and step in.")
@click.option("--house", is_flag=True, help="Wait to be called by the server, as one of its host's own bots.")
# How a server starts its own: truc_server.upkeep.own_bots.
@click.option("--of-server", is_flag=True, hidden=True)
@click.option(
    "--matches", default=1, show_default=True, type=click.IntRange(1), help="Matches to play, then leave."
)
@style_option("careful")
@click.option(
    "--patience",
    "patience_s",
    default=10.0,
    show_default=True,
    type=click.FloatRange(0),
    metavar="SECONDS",
    help="How long at most it waits for a partner who may give the answer of their side too.",
)
@click.option("--seed", default=0, show_default=True, help="The seed of its choices.")
@click.option(
    "--name", default="bot", show_default=True, help="Its name, and that of its folder in the home."
)
@lang_option
def bot(
    *,
    address: str | None,
    code: str | None,
    variant: str | None,
    seats: int | None,
    options: tuple[str, ...],
    private: bool,
    substitute: bool,
    house: bool,
    of_server: bool,
    matches: int,
    style: str,
    seed: int,
    patience_s: float,
    name: str,
) -> None:
    """Play at ADDRESS (HOST, HOST:PORT) as a bot.

    Without --table, --create, --substitute and --house it takes a free seat at any public table.

    A bot has a folder and a key of its own; started again it goes on with its match. Of several bots with one name
    each takes the first folder that no other uses. With --house it plays until it is told to end (SIGTERM, Ctrl-C).

    With one server known no ADDRESS is needed.
    """
    where = server_meant(address)
    code = code or where.table
    sits = (code and code.upper(), variant, seats, table_options(options), private)
    play = BotPlay(style, seed, patience_s)
    work = BotWork(*sits, matches, substitute, play)
    _check_usage(work, is_called=house)
    # A bot of the server has a home of its own, and waits for
    # no other: a second program there would be the same player.
    with _bot_home(name, most=1 if of_server else _MOST_BOTS) as home:
        name, again = home.root.name, partial(Sentence, "commands.start_bot_again")
        player = Player(home, name) if of_server else told_player(home, name)
        if house:
            run(lambda: serve_until_ended(where, player, play, is_of_server=of_server), again)
        else:
            at_server(where, player, lambda connection: _work(connection, work), again)


def _check_usage(work: BotWork, *, is_called: bool) -> None:
    is_about_table = work.seats is not None or bool(work.options) or work.private
    if is_called and (
        work.code is not None or work.variant is not None or work.substitute or work.matches > 1
    ):
        raise usage_error(Sentence("commands.house_excludes"))
    if work.code is not None and work.variant is not None:
        raise usage_error(_excludes_create("--table"))
    if work.substitute and work.variant is not None:
        raise usage_error(_excludes_create("--substitute"))
    if work.code is not None and is_about_table:
        raise usage_error(Sentence("commands.for_new_table", options="--seats, --option, --private"))


def _excludes_create(option: str) -> Sentence:
    return Sentence("commands.exclude_each_other", one=option, other="--create")


@contextmanager
def _bot_home(name: str, *, most: int) -> Iterator[Home]:
    if not name.isprintable() or "/" in name or name.startswith("."):
        raise FailedError(Sentence("commands.folder_expected", got=repr(name)))
    bots = own_home().root / "bots"
    for number in range(1, most + 1):
        home = open_home(bots / (name if number == 1 else f"{name}-{number}"))
        # Two programs with one key would take each other's seats.
        with sole_use(home.root) as is_free:
            if is_free:
                yield home
                return
    raise FailedError(Sentence("commands.too_many_bots", n=most, name=name))


async def _work(connection: Connection, work: BotWork) -> None:
    if work.substitute and not any(work.code in (None, held.table) for held in connection.held):
        await _step_in(connection, work)
        return
    table = await _sit_down(connection, work)
    _tell(table)
    choose = work.play.chooser(table)
    for number in range(work.matches):
        if number:
            await table.ready()
        ended = await play_match(table, choose, tell_trouble, patience_s=work.play.patience_s)
        tell(result_of(_played(ended)))
    await table.leave()


async def _step_in(connection: Connection, work: BotWork) -> None:
    """Play the rest of a match for somebody who has gone; if the seat is no longer vacant, look for the next one."""
    while True:
        tell(Sentence("commands.awaits_vacancy"), err=True)
        table = await find_vacant(connection, work.code)
        _tell(table)
        try:
            choose = work.play.chooser(table)
            ended = await play_match(table, choose, tell_trouble, patience_s=work.play.patience_s)
        except NotPlayedError:
            continue
        if table.plays:
            tell(result_of(_played(ended)))
            await table.leave()
            return
        table.close()  # the match ended before the seat was taken over


async def find_vacant(connection: Connection, code: str | None) -> Table:
    """Wait until a public table wants a substitute, and agree to be one; with `code`, only at that table.

    Raises:
        RefusedError: There is no such table.
    """
    while True:
        for state in await _shown(connection, code):
            for seat in vacant_seats(state):
                table = await stand_by(connection, state.table, seat)
                if table is not None:
                    return table
        await trio.sleep(_LOOK_S)


async def _shown(connection: Connection, code: str | None) -> tuple[TableState, ...]:
    """Return the tables to look at; a private one may show itself only once it wants a substitute."""
    try:
        return await tables_at(connection, code)
    except RefusedError as error:
        if error.code == Code.NO_SUCH_TABLE:
            raise
        return ()


def _played(ended: MatchEnded | None) -> MatchEnded:
    if ended is None:
        raise ClientError(Sentence("commands.seat_lost"))
    return ended


def _tell(table: Table) -> None:
    click.echo(f"table {table.invite}")


async def _sit_down(connection: Connection, work: BotWork) -> Table:
    for held in connection.held:
        if work.code in (None, held.table):
            table = await connection.resume(held)
            if held.match is None:
                await table.ready()
            return table
    if work.variant is not None:
        table = await connection.create(
            work.variant, seats=work.seats, options=work.options, private=work.private
        )
    elif work.code is not None:
        table = await connection.join(work.code)
    else:
        table = await join_any(connection)
    await table.ready()
    return table


async def join_any(connection: Connection) -> Table:
    """Take a free seat at any public table; others may take one that was free a moment ago.

    Raises:
        ClientError: There is none.
    """
    for state in await connection.tables():
        if state.state == "open" and has_free_seat(state):
            try:
                return await connection.join(state.table)
            except RefusedError as error:
                if error.code not in _GONE:
                    raise
    raise ClientError(Sentence("commands.no_free_seat"))

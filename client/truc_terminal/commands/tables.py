"""`truc tables`: what is open at a server."""

import click
from rich.console import Console, Group, RenderableType
from rich.text import Text

from truc_client.connecting import connect
from truc_client.connection import Connection
from truc_protocol.messages import TableState
from truc_terminal.commands.common import lang_option, own_player, run, spoken, usage_error
from truc_terminal.commands.listing import Listing, has_seat, in_order, table_line
from truc_terminal.commands.server_lookup import server_meant
from truc_terminal.commands.tables_followed import FollowedTables, follow_lines, follow_list
from truc_terminal.commands.terminal import ended_as_by_ctrl_c
from truc_words import Sentence, Speech


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
    glance = await connection.glance(code)
    if glance.state is not None:
        return (glance.state,)
    public = tuple(state for state in await connection.tables() if state.table == code)
    if not public and glance.refused is not None:
        raise glance.refused
    return public

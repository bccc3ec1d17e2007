"""`truc tables`: what is open at a server."""

import click
from rich.console import Console

from truc_client.account import Player
from truc_client.cli.common import (
    own_home,
    player_name,
    run,
    tell_delay,
    tell_first_use,
    tell_new_key,
)
from truc_client.cli.listing import columns, has_seat, table_line
from truc_client.cli.play import address_or_known
from truc_client.connecting import connect
from truc_client.connection import Connection
from truc_protocol.messages import TableState


@click.command(short_help="List the public tables of a server.")
@click.argument("address", required=False)
@click.option("--variant", help="Only tables of this game; see `truc rules`.")
def tables(address: str | None, variant: str | None) -> None:
    """List the public tables at ADDRESS: HOST or HOST:PORT; with a link the one that it leads to.

    Those first where there is a seat to take: `truc join HOST CODE` sits down there, `truc watch HOST/CODE` looks on. Without
    a terminal each table is a line that begins with its code. With one server known no ADDRESS is needed.
    """
    home = own_home()
    tell_first_use(home)
    player = Player(home, player_name(None, home), on_new_key=tell_new_key, on_delay=tell_delay)
    where = address_or_known(address, home)

    async def main() -> None:
        async with connect(where, player) as connection:
            found = await _tables(connection, where.table, variant)
            _show(found, where.place)

    run(main)


def _show(found: tuple[TableState, ...], place: str) -> None:
    if not found:
        click.echo(f"no public tables; to open one: truc create {place} NAME")
        return
    console = Console(highlight=False)
    if not console.is_terminal:
        for state in found:
            click.echo(table_line(state))
        return
    console.print(columns(found))
    if any(map(has_seat, found)):
        click.echo(f"To sit down: truc join {place} TABLE")
    click.echo(f"To look on: truc watch {place}/TABLE")


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

"""`truc tables`: what is open at a server."""

import click

from truc_client.account import Player
from truc_client.cli.common import (
    address_of,
    own_home,
    player_name,
    run,
    tell_delay,
    tell_first_use,
    tell_new_key,
)
from truc_client.cli.stepping_in import vacant_seats
from truc_client.connecting import connect
from truc_client.connection import Connection
from truc_protocol.messages import SeatState, TableState
from truc_protocol.words import printable, shown_name


@click.command(short_help="List the public tables of a server.")
@click.argument("address")
@click.option("--variant", help="Only tables of this game; see `truc rules`.")
def tables(address: str, variant: str | None) -> None:
    """List the public tables at ADDRESS: HOST or HOST:PORT; with a link the one that it leads to.

    Each line begins with the table's code: `truc play HOST --table CODE` sits down there, `truc watch HOST/CODE` looks on.
    """
    home = own_home()
    tell_first_use(home)
    player = Player(home, player_name(None, home), on_new_key=tell_new_key, on_delay=tell_delay)
    where = address_of(address)

    async def main() -> None:
        async with connect(where, player) as connection:
            found = await _tables(connection, where.table, variant)
            for state in found:
                click.echo(table_line(state))
            if not found:
                click.echo(f"no public tables; to open one: truc play {where.place} --variant NAME")

    run(main)


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


def table_line(state: TableState) -> str:
    """Return a table in one line."""
    names = ", ".join(_player(seat) for seat in state.seats if seat.name is not None)
    taken = sum(seat.kind != "empty" for seat in state.seats)
    wanted = "  substitute wanted" if vacant_seats(state) else ""
    return printable(
        f"{state.table}  {state.variant}  {taken}/{state.n} seats  {state.state}  {names}{wanted}"
    )


def _player(seat: SeatState) -> str:
    name = shown_name(seat.name or "", seat.seat)
    return name if seat.online else f"{name} (away)"

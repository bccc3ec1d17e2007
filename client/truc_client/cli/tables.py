"""`truc tables`: what is open at a server."""

import click

from truc_client.account import Player
from truc_client.cli.common import own_home, player_name, run, tell_first_use, tell_new_key
from truc_client.cli.stepping_in import vacant_seats
from truc_client.connection import connect
from truc_protocol.messages import TableState
from truc_protocol.words import printable, shown_name


@click.command()
@click.argument("address")
@click.option("--variant", help="Only tables of this game.")
def tables(address: str, variant: str | None) -> None:
    """List the public tables at ADDRESS."""
    home = own_home()
    tell_first_use(home)
    player = Player(home, player_name(None), on_new_key=tell_new_key)

    async def main() -> None:
        async with connect(address, player) as connection:
            found = await connection.tables(variant)
            for state in found:
                click.echo(table_line(state))
            if not found:
                click.echo("no public tables; open one: truc play ADDRESS --variant NAME")

    run(main)


def table_line(state: TableState) -> str:
    """Return a table in one line."""
    names = ", ".join(shown_name(seat.name, seat.seat) for seat in state.seats if seat.name is not None)
    taken = sum(seat.kind != "empty" for seat in state.seats)
    wanted = "  substitute wanted" if vacant_seats(state) else ""
    return printable(
        f"{state.table}  {state.variant}  {taken}/{state.n} seats  {state.state}  {names}{wanted}"
    )

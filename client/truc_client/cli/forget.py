"""`truc forget`: ask a server to forget the player."""

import click

from truc_client.account import Player
from truc_client.cli.common import address_of, own_home, player_name, run, tell_new_key
from truc_client.connecting import connect


@click.command()
@click.argument("server")
@click.option("--guest", is_flag=True, help="Forget the guest that this home is there, not the key.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def forget(server: str, *, guest: bool, yes: bool) -> None:
    """Ask SERVER (host:port) to forget you: your name, a guest's token, what you said, whom you ignore.

    Matches stay what they were, with the name in their records; from then on only who has played in them may read them. Your
    key stays yours: come back with it, and you are the same player under a new name.
    """
    where, home = address_of(server), own_home()
    if not yes:
        click.confirm(f"Ask {where.server} to forget you?", abort=True)
    player = Player(home, player_name(None, home), guest, tell_new_key)

    async def main() -> None:
        async with connect(where, player) as connection:
            await connection.forget()
            click.echo(f"{where.server} has forgotten {connection.name}")

    run(main)

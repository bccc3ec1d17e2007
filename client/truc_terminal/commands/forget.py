"""`truc forget`: ask a server to forget the player."""

from contextlib import closing

import click

from truc_client.address import Address
from truc_client.connection import Connection
from truc_client.home.home import Home, has_seed
from truc_client.home.store import HomeStore
from truc_terminal.commands.language import lang_option, spoken
from truc_terminal.commands.output import FailedError, tell
from truc_terminal.commands.player import at_server, own_home, own_player
from truc_terminal.commands.server_lookup import server_meant
from truc_terminal.commands.terminal import confirm
from truc_words import Sentence


@click.command()
@click.argument("server", required=False)
@click.option("--guest", is_flag=True, help="Forget the guest that this home is there, not the key.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@lang_option
def forget(server: str | None, *, guest: bool, yes: bool) -> None:
    """Ask SERVER (host:port) to forget you: your name, a guest's token, what you said, whom you ignore.

    Matches stay what they were, with the name in their records; from then on only those who played in them may read
    them. Your key stays yours: come back with it, and you are the same player under a new name.

    With one server known no SERVER is needed.
    """
    where = server_meant(server)
    _check_known(where, own_home(), is_guest=guest)
    if not yes and not confirm(Sentence("asked.forget", server=where.server), spoken()):
        raise FailedError(Sentence("asked.nothing_done"))
    name = at_server(where, own_player(is_guest=guest), _forget)
    tell(Sentence("commands.forgotten", server=where.server, name=name))


async def _forget(connection: Connection) -> str:
    await connection.forget()
    return connection.name


def _check_known(where: Address, home: Home, *, is_guest: bool) -> None:
    """Check that this home has a player there; otherwise a new one would be made, to be forgotten at once.

    Raises:
        FailedError: It has none.
    """
    if is_guest and not _is_guest(where, home):
        raise FailedError(Sentence("commands.no_guest_here", server=where.server))
    if not is_guest and not has_seed(home):
        raise FailedError(Sentence("commands.nobody_here", server=where.server))


def _is_guest(where: Address, home: Home) -> bool:
    with closing(HomeStore(home.state)) as store:
        pin = store.pin(where.server)
        # A guest is known by a token, which is kept under the first key that this server had.
        return pin is not None and store.token(pin.first) is not None

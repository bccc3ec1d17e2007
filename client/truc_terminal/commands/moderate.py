"""`truc moderate`: what players whom the host has named moderators may do at a server."""

from functools import partial
from typing import Final, get_args

import click

from truc_client.connection import Connection, Moderation
from truc_terminal.commands.language import lang_option
from truc_terminal.commands.output import FailedError, tell
from truc_terminal.commands.player import at_server, own_player
from truc_terminal.commands.server_lookup import server_meant
from truc_words import Sentence

_SAY: Final = "say"


@click.command()
@click.argument("do", type=click.Choice(get_args(Moderation)), metavar="kick|ban|unban|mute|unmute|say")
@click.argument("what")
@click.option("--hours", type=click.IntRange(1, 87_600), help="For how long a ban or mute holds.")
@click.option("--server", help="The server (host:port); with one server known it is not needed.")
@lang_option
def moderate(do: Moderation, what: str, hours: int | None, server: str | None) -> None:
    """Kick, ban or mute the player WHAT (a tag or a name), undo it, or say the text WHAT to everybody.

    Only players whom the host has named moderators are heard. A ban or mute holds until it is undone, or for so many
    hours.
    """
    if hours is not None and do not in ("ban", "mute"):
        raise FailedError(Sentence("commands.hours_for_nothing"))
    at_server(server_meant(server), own_player(), partial(_moderate, do=do, what=what, hours=hours))
    tell(Sentence("commands.moderated"))


async def _moderate(connection: Connection, *, do: Moderation, what: str, hours: int | None) -> None:
    if do == _SAY:
        await connection.moderate(do, text=what)
    else:
        await connection.moderate(do, player=what, hours=hours)

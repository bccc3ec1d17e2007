"""`truc watch`: a table as seen by somebody without a seat there."""

import sys
from contextlib import nullcontext

import click

from truc_client.connection import Connection
from truc_terminal.commands.player import at_server, own_player
from truc_terminal.commands.server_lookup import table_meant
from truc_terminal.commands.terminal import (
    ended_as_by_ctrl_c,
    lines_of,
    own_screen,
    screen_options,
    tell_commands,
)
from truc_terminal.screen.screen import Screen
from truc_terminal.screen.watching import Watcher
from truc_words import Sentence


@click.command()
@click.argument("address", metavar="LINK")
@click.argument("code", required=False)
@click.option(
    "--follow", is_flag=True, help="Go on with the matches that come after, until the table is gone."
)
@screen_options
def watch(address: str, code: str | None, *, follow: bool, plain: bool, no_color: bool) -> None:
    """Watch a table to the end of its match: HOST/TABLE, HOST:PORT/TABLE or a truc:// or trucs:// link.

    `truc tables HOST` lists the public tables; a private one needs its link. A table may show what happens late, or hand by
    hand, or to nobody (its option `spectators`).

    At a terminal the table stands below what is told; `?` explains what can be typed.
    Without a terminal everything is told line by line, and nothing is read.

    With one server known a CODE alone will do.

    Every record is checked as for a player, and the transcript is kept. If you come in the middle you see how it stands
    at once, and are told when what was before has been checked.
    """
    where, table = table_meant(address, code)
    player, screen = own_player(), own_screen(plain=plain, no_color=no_color)
    with ended_as_by_ctrl_c():
        at_server(where, player, lambda connection: _watch(connection, table, screen, follow=follow))


async def _watch(connection: Connection, code: str, screen: Screen, *, follow: bool) -> None:
    table = await connection.watch(code)
    # Without a terminal nothing is read, so the end of the input ends nothing.
    async with lines_of(screen) if sys.stdin.isatty() else nullcontext() as lines:
        watcher = Watcher(table, screen, lines)
        while ended := await watcher.watch():
            screen.say(Sentence("watching.transcript", path=ended.transcript))
            tell_commands(screen, ended.transcript)
            if not follow:
                return

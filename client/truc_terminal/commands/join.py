"""`truc join`: sit down at the table of a link."""

from typing import Unpack

import click

from truc_terminal.commands.manner import Manner, manner_options
from truc_terminal.commands.play import Wish, play_at
from truc_terminal.commands.server_lookup import table_meant


@click.command(short_help="Sit down at a table, by its link.")
@click.argument("link")
@click.argument("code", required=False)
@manner_options
def join(*, link: str, code: str | None, **manner: Unpack[Manner]) -> None:
    """Sit down at the table of a LINK that you were given: truc join truc://HOST:7373/K7PQA#FINGERPRINT.

    Or at the table with a CODE: truc join HOST K7PQA; `truc tables HOST` lists those that are public. If you have a seat
    there you go on with it; where a match has lost a player you are asked whether you step in.

    With one server known a CODE alone will do.
    """
    where, table = table_meant(link, code)
    wish = Wish(table, None, None, {}, private=False, rekey=False)
    play_at(where, wish, **manner)

"""`truc join`: sit down at the table of a link."""

from typing import Unpack

import click

from truc_client.address import parse_address
from truc_client.cli.common import FailedError
from truc_client.cli.manner import Manner, manner_options
from truc_client.cli.play import Wish, play_at
from truc_protocol.words import Sentence


@click.command(short_help="Sit down at a table, by its link.")
@click.argument("link")
@click.argument("code", required=False)
@manner_options
def join(*, link: str, code: str | None, **manner: Unpack[Manner]) -> None:
    """Sit down at the table of a LINK that you were given: truc join truc://HOST:7373/K7PQ#FINGERPRINT.

    Or at the table with a CODE: truc join HOST K7PQ; `truc tables HOST` lists those that are public. If you have a seat
    there you go on with it; where a match has lost a player you are asked whether you step in.
    """
    where = parse_address(link)
    table = code or where.table
    if table is None:
        raise FailedError(Sentence("commands.link_expected", command=f"truc tables {where.place}"))
    wish = Wish(table.upper(), None, None, {}, private=False, rekey=False)
    play_at(where, wish, **manner)

"""`truc create` opens a table, passes its link on, and plays with whoever comes; `truc join` sits down by such a link."""

from typing import Final, Unpack

import click

from truc_terminal.commands.language import spoken
from truc_terminal.commands.output import usage_error
from truc_terminal.commands.play import SeatChoice, WantedTable, play_at
from truc_terminal.commands.server_lookup import game_meant, table_meant
from truc_terminal.commands.table_options import (
    ChosenOptions,
    TableClock,
    deal_option,
    options_option,
    read_clock,
    table_options,
    with_deal,
)
from truc_terminal.commands.terminal import PlayingOptions, playing_options
from truc_words import Sentence, in_language

_TWICE: Final = {"decision_ms": "--clock", "bank_ms": "--clock", "reveal": "--reveal"}


def _clock(_context: click.Context, _option: click.Parameter, given: str | None) -> TableClock | None:
    try:
        return None if given is None else read_clock(given)
    except ValueError as error:
        raise click.BadParameter(in_language(str(error), spoken())) from error


@click.command()
@click.argument("address", required=False)
@click.argument("variant", required=False, metavar="VARIANT")
@click.option("--seats", type=int, help="Number of seats.")
@click.option("--private", is_flag=True, help="Keep the table out of the list: only its link leads there.")
@click.option(
    "--clock",
    callback=_clock,
    metavar="SECONDS[+BANK]",
    help="Time for a decision, and extra time for a game: 30+120; none for no limit.",
)
@click.option(
    "--reveal",
    type=click.Choice(["hand", "match"]),
    help="When the cards are opened: after each hand, or the match.",
)
@deal_option
@options_option
@playing_options
def create(
    *,
    address: str | None,
    variant: str | None,
    seats: int | None,
    private: bool,
    clock: TableClock | None,
    reveal: str | None,
    deal: str | None,
    options: tuple[str, ...],
    **playing: Unpack[PlayingOptions],
) -> None:
    """Open a table of VARIANT at ADDRESS, and play there: `truc create HOST truc-catalan --seats 4`.

    With one server known the VARIANT alone will do. The games: `truc rules`. The link to the table is printed; whoever types
    `truc join` and that link sits down there. You are told who comes, and the match begins when every seat is taken and ready.
    What --clock, --reveal and --option leave out is as the server's host has set it.

    If you have a seat already you are asked first whether to go on there.
    """
    where, game = game_meant(address, variant)
    chosen = with_deal(_chosen(clock, reveal, table_options(options)), deal)
    wanted = WantedTable(variant=game, seats=seats, options=chosen, private=private, seating=SeatChoice.NEW)
    play_at(where, wanted, **playing)


def _chosen(clock: TableClock | None, reveal: str | None, options: ChosenOptions) -> ChosenOptions:
    """Return all table options, including those given by an option of the command."""
    named: ChosenOptions = {} if clock is None else {**clock._asdict()}
    if reveal is not None:
        named["reveal"] = reveal
    # Neither may win silently: somebody who says both expects both.
    for name in named.keys() & options.keys():
        raise usage_error(Sentence("commands.said_twice", option=_TWICE[name], name=name))
    return {**named, **options}


@click.command()
@click.argument("link")
@click.argument("code", required=False)
@playing_options
def join(*, link: str, code: str | None, **playing: Unpack[PlayingOptions]) -> None:
    """Sit down at the table of a LINK that you were given: truc join truc://HOST:7373/K7PQA#FINGERPRINT.

    Or at the table with a CODE: truc join HOST K7PQA; `truc tables HOST` lists those that are public. If you have a seat
    there you go on with it; where a match has lost a player you are asked whether you step in.

    With one server known a CODE alone will do.
    """
    where, table = table_meant(link, code)
    play_at(where, WantedTable(table), **playing)

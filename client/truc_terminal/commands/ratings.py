"""`truc leaderboard` and `truc profile`: how players stand at a server, on the server's word."""

from collections.abc import Iterator, Sequence
from typing import Final

import click

from truc_client.connection import Connection
from truc_client.home.home import has_seed
from truc_protocol.messages import Standing
from truc_terminal.commands.language import lang_option, spoken
from truc_terminal.commands.output import FailedError, tell
from truc_terminal.commands.player import ask, home_as_is
from truc_terminal.commands.server_lookup import game_meant, player_meant
from truc_words import ENGLISH, Sentence, Speech, printable

_TOP: Final = 20
_NAME: Final = 20  # characters of a name on the board
_BEGINS: Final = 1000
"""The rating of a newcomer as it is shown; the server says 0, and less for who loses."""
_SETTLED: Final = 10  # matches after which a rating is no longer provisional
_SUCCESS: Final = ("rating", "matches", "won")
_WORDS: Final = ("name", "tag", "game")
"""The columns that hold words, not numbers."""


@click.command()
@click.argument("address", required=False)
@click.argument("game", required=False, metavar="GAME")
@click.option(
    "--seats", type=click.IntRange(min=1), help="Number of seats; by default the fewest of the game."
)
@click.option("--top", type=click.IntRange(min=1), default=_TOP, show_default=True, help="How many places.")
@lang_option
def leaderboard(address: str | None, game: str | None, *, seats: int | None, top: int) -> None:
    """Show who is best in GAME (see `truc rules`) at ADDRESS: HOST or HOST:PORT.

    A line is a place: name, rating, matches, matches won, and the player's tag, by which `truc profile` finds them. Everybody
    begins at 1000; a rating is provisional until ten matches.

    With one server known no ADDRESS is needed.
    """
    (where, game), speech = game_meant(address, game), Speech(spoken())

    async def best(connection: Connection) -> tuple[tuple[Standing, ...], str | None, int]:
        count = seats or _fewest(connection, game)
        return await connection.leaderboard(game, count, top=top), connection.tag, count

    found, own, count = ask(where.place, best)
    for line in board(found, own, speech):
        tell(line)
    if not found:
        tell(Sentence("ratings.nobody", game=game, n=count, flag="--seats"))


@click.command()
@click.argument("address", required=False)
@click.argument("player", required=False)
@lang_option
def profile(address: str | None, player: str | None) -> None:
    """Show how PLAYER (a tag) stands at ADDRESS in every game; without PLAYER, how you stand.

    With one server known no ADDRESS is needed.
    """
    (where, player), speech = player_meant(address, player), Speech(spoken())
    if player is None and not has_seed(home_as_is()):
        raise FailedError(Sentence("ratings.no_key"))
    found = ask(where.place, lambda connection: connection.profile(player))
    for line in record(found, speech):
        tell(line)
    if not found:
        tell(Sentence("ratings.unrated"))


def _fewest(connection: Connection, game: str) -> int:
    """Return the fewest seats of a game, 2 if unknown; the server's answer tells whether it has the game at all."""
    return next((min(offer.seats, default=2) for offer in connection.info.variants if offer.name == game), 2)


def board(standings: Sequence[Standing], own: str | None, speech: Speech = ENGLISH) -> Iterator[str]:
    """Yield the lines of the leaderboard under their heads; `own` is the reader's tag."""
    heads = ("place", "name", *_SUCCESS, "tag")
    rows = [
        (str(each.rank), _name(each), *_success(each), each.player, *_marks(each, own, speech))
        for each in standings
    ]
    return _under(heads, rows, speech)


def record(standings: Sequence[Standing], speech: Speech = ENGLISH) -> Iterator[str]:
    """Yield how a player stands in each game, under the heads."""
    heads = ("game", "seats", "place", *_SUCCESS, "name")
    rows = [
        (
            each.variant,
            str(each.seats),
            str(each.rank),
            *_success(each),
            _name(each),
            *_marks(each, None, speech),
        )
        for each in standings
    ]
    return _under(heads, rows, speech)


def _under(heads: Sequence[str], rows: Sequence[Sequence[str]], speech: Speech) -> Iterator[str]:
    """Yield rows as columns under their heads, numbers on the right; what is noted of a row follows it."""
    if not rows:
        return
    table = [[speech.catalogue.ratings[f"head_{head}"] for head in heads], *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=False)]
    for row in table:
        cells = [
            cell.ljust(width) if head in _WORDS else cell.rjust(width)
            for head, cell, width in zip(heads, row, widths, strict=False)
        ]
        yield printable("  ".join([*cells, *row[len(heads) :]]).rstrip())


def _name(standing: Standing) -> str:
    return printable(standing.name)[:_NAME]


def _success(standing: Standing) -> tuple[str, str, str]:
    """Return the rating as it is shown, the matches and those won; the places of the board stay as they are."""
    return str(_BEGINS + standing.points), str(standing.matches), str(standing.won)


def _marks(standing: Standing, own: str | None, speech: Speech) -> list[str]:
    """Return what is noted of a standing: that it is new, a bot's, or the reader's."""
    said = speech.catalogue.ratings
    noted = {
        "provisional": standing.matches < _SETTLED,
        "host_bot": standing.bot,
        "you": standing.player == own,
    }
    return [said[key] for key, holds in noted.items() if holds]

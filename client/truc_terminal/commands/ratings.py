"""`truc leaderboard` and `truc profile`: how players stand at a server, on the server's word."""

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


@click.command(short_help="Show who is best in a game at a server.")
@click.argument("address", required=False)
@click.argument("game", required=False, metavar="GAME")
@click.option(
    "--seats", type=click.IntRange(min=1), help="Number of seats; by default the fewest of the game."
)
@click.option("--top", type=click.IntRange(min=1), default=_TOP, show_default=True, help="How many places.")
@lang_option
def leaderboard(address: str | None, game: str | None, *, seats: int | None, top: int) -> None:
    """Show who is best in GAME (see `truc rules`) at ADDRESS: HOST or HOST:PORT.

    A line is a place: name, points, matches, matches won, and the player's tag, by which `truc profile` finds them. Points are
    what a player's skill almost surely is; a newcomer has 0.

    With one server known no ADDRESS is needed.
    """
    (where, game), speech = game_meant(address, game), Speech(spoken())

    async def best(connection: Connection) -> tuple[tuple[Standing, ...], str | None, int]:
        count = seats or _fewest(connection, game)
        return await connection.leaderboard(game, count, top=top), connection.tag, count

    found, own, count = ask(where.place, best)
    width = max((len(_name(standing)) for standing in found), default=0)
    for standing in found:
        tell(place_line(standing, own, speech, width=width))
    if not found:
        tell(Sentence("ratings.nobody", game=game, n=count, flag="--seats"))


@click.command(short_help="Show how a player stands at a server.")
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
    width = max((len(standing.variant) for standing in found), default=0)
    for standing in found:
        tell(_game_line(standing, speech, width=width))
    if not found:
        tell(Sentence("ratings.unrated"))


def _fewest(connection: Connection, game: str) -> int:
    """Return the fewest seats of a game, 2 if unknown; the server's answer tells whether it has the game at all."""
    return next((min(offer.seats) for offer in connection.info.variants if offer.name == game), 2)


def place_line(standing: Standing, own: str | None, speech: Speech = ENGLISH, *, width: int = _NAME) -> str:
    """Return a place of the leaderboard as one line; `own` is the reader's tag, `width` that of the names."""
    said = speech.catalogue.ratings
    marks = [said["host_bot"]] * standing.bot + [said["you"]] * (standing.player == own)
    told = (
        f"{standing.rank:>4}",
        f"{_name(standing):{width}}",
        _success(standing, speech),
        standing.player,
        *marks,
    )
    return printable("  ".join(told))


def _name(standing: Standing) -> str:
    return printable(standing.name)[:_NAME]


def _game_line(standing: Standing, speech: Speech, *, width: int) -> str:
    place = speech.say("ratings.place", seats=standing.seats, rank=standing.rank)
    return printable(
        "  ".join((f"{standing.variant:{width}}", place, _success(standing, speech), standing.name))
    )


def _success(standing: Standing, speech: Speech) -> str:
    return speech.say("ratings.success", points=standing.points, matches=standing.matches, won=standing.won)

"""`truc leaderboard` and `truc profile`: how players stand at a server, as the server says."""

import os
from typing import Final

import click

from truc_client.cli.common import FailedError, address_of
from truc_client.cli.reading import asked
from truc_client.connection import Connection
from truc_client.home import Home, default_root, has_seed
from truc_protocol.messages import Standing
from truc_protocol.words import printable

_TOP: Final = 20
_NAME: Final = 20  # characters of a name on the board


@click.command(short_help="Show who is best in a game at a server.")
@click.argument("address")
@click.argument("game")
@click.option("--seats", type=click.IntRange(min=1), help="At tables of so many; the fewest if not given.")
@click.option("--top", type=click.IntRange(min=1), default=_TOP, show_default=True, help="How many places.")
def leaderboard(address: str, game: str, seats: int | None, top: int) -> None:
    """Show who is best in GAME (see `truc rules`) at ADDRESS: HOST or HOST:PORT.

    A line is a place: name, points, matches, matches won, and the player's tag, by which `truc profile` finds them. Points are
    what a player's skill almost surely is; a newcomer has 0.
    """
    where = address_of(address)

    async def best(connection: Connection) -> tuple[tuple[Standing, ...], str | None]:
        count = seats or _fewest(connection, game)
        return await connection.leaderboard(game, count, top=top), connection.tag

    found, own = asked(where.place, best)
    for standing in found:
        click.echo(place_line(standing, own))
    if not found:
        click.echo(f"nobody is rated in {printable(game)} yet")


@click.command(short_help="Show how a player stands at a server.")
@click.argument("address")
@click.argument("player", required=False)
def profile(address: str, player: str | None) -> None:
    """Show how PLAYER, a tag, stands at ADDRESS in every game; you, if none is given."""
    where = address_of(address)
    if player is None and not has_seed(Home(default_root(os.environ))):
        raise FailedError("this home has no key yet, and only who plays with a key is rated: expected a tag")
    found = asked(where.place, lambda connection: connection.profile(player))
    for standing in found:
        click.echo(_game_line(standing))
    if not found:
        click.echo("not rated yet: matches at public tables count, where every seat has a key")


def _fewest(connection: Connection, game: str) -> int:
    """Return the smallest table of a game; the server says whether it has that game at all."""
    return next((min(offer.seats) for offer in connection.info.variants if offer.name == game), 2)


def place_line(standing: Standing, own: str | None) -> str:
    """Return a place of the leaderboard in one line; `own` is the tag of who looks."""
    marks = ("  bot of the host" if standing.bot else "") + ("  you" if standing.player == own else "")
    name = printable(standing.name)[:_NAME]
    return printable(f"{standing.rank:>4}  {name:{_NAME}}  {_success(standing)}  {standing.player}{marks}")


def _game_line(standing: Standing) -> str:
    where = f"{standing.variant:22}  {standing.seats} seats  place {standing.rank:<4}"
    return printable(f"{where}  {_success(standing)}  {standing.name}")


def _success(standing: Standing) -> str:
    return f"{standing.points:>5} points  {standing.matches:>4} played  {standing.won:>4} won"

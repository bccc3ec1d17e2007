"""Who a command acts as, and its way to a server.

Invariant: only a command that acts as the player makes a key, once a server has answered; one that merely asks leaves
nothing behind.
"""

import getpass
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TypeVar

import click
import trio

from truc_client.address import Address
from truc_client.connecting import connect
from truc_client.connection import Connection
from truc_client.errors import ConnectError, LostError, ServerKeyError
from truc_client.home.account import Delay, NewKey, Player
from truc_client.home.home import Home, default_root, has_seed, kept_name, open_home
from truc_terminal.commands.language import spoken
from truc_terminal.commands.output import FailedError, tell
from truc_words import Sentence, in_language

T = TypeVar("T")

INTERRUPTED: Final = 130  # 128 and the number of SIGINT, as a shell reports it
_NAME_BYTES: Final = 64  # as many as the record that opens a match has room for


def own_home() -> Home:
    """Return the player's home.

    Raises:
        HomeError: It cannot be used.
    """
    return open_home(home_as_is().root)


def home_as_is() -> Home:
    """Return the player's home without creating it: it may not exist."""
    return Home(default_root(os.environ))


def own_player(name: str | None = None, *, is_guest: bool = False) -> Player:
    """Return the player of this home, who gets a key at the first server reached; a guest needs none.

    Raises:
        FailedError: The name is too long.
        HomeError: The home cannot be used.
    """
    home = own_home()
    return told_player(home, player_name(name, home), is_guest=is_guest)


@asynccontextmanager
async def connected_as(address: str | Address, player: Player) -> AsyncIterator[Connection]:
    """Connect as a player, and say so if a key was made for them: it is made for the first server that answers."""
    # Asked before: connecting makes the key.
    is_first = not player.is_guest and not has_seed(player.home)
    async with connect(address, player) as connection:
        if is_first:
            tell(Sentence("connecting.key_made", path=player.home.seed), err=True)
        yield connection


def asked_name(home: Home) -> str | None:
    """Ask somebody new at a terminal for their name; None if they have chosen one before, or a script types."""
    if kept_name(home) is not None or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return None
    usual = player_name(None, home)
    question = in_language(Sentence("asked.name", name=usual), spoken())
    given: str = click.prompt(question, default=usual, show_default=False, prompt_suffix=" ", err=True)
    return given.strip() or usual


def told_player(home: Home, name: str, *, is_guest: bool = False) -> Player:
    """Return a player who is told of new keys and delays; on standard error, so as not to disturb programs."""

    def say(news: NewKey | Delay) -> None:
        tell(str(news), err=True)

    return Player(home, name, is_guest, on_new_key=say, on_delay=say)


def player_name(given: str | None, home: Home) -> str:
    """Return the name to show: the one given, the one kept, or the system user's."""
    try:
        name = given or kept_name(home) or getpass.getuser()
    # A user without an entry in the system's list, as in many containers.
    except (KeyError, OSError):
        name = "player"
    if len(name.encode()) > _NAME_BYTES:
        raise FailedError(Sentence("commands.name_too_long", most=_NAME_BYTES))
    return name


def run(main: Callable[[], Awaitable[T]], farewell: Callable[[], str] = str) -> T:
    """Run a command under Trio, and return its result; on Ctrl-C print the farewell and exit with status 130.

    It is printed too if the server stays out of reach: what the player needs then is the way back.
    """
    try:
        return trio.run(main)
    except (KeyboardInterrupt, BaseExceptionGroup) as error:
        # A nursery wraps Ctrl-C in a group. Whatever else is in
        # the group is a fault, and is not to be hidden by Ctrl-C.
        if isinstance(error, BaseExceptionGroup) and error.split(KeyboardInterrupt)[1] is not None:
            raise
        if words := farewell():
            # The terminal has written ^C where the line stood.
            click.echo(err=True)
            tell(words, err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    except (ConnectError, LostError) as error:
        # Where another key answers, the way back would lead to whoever has it (C37).
        if not isinstance(error, ServerKeyError) and (words := farewell()):
            tell(words, err=True)
        raise


def at_server(
    address: str | Address,
    player: Player,
    use: Callable[[Connection], Awaitable[T]],
    farewell: Callable[[], str] = str,
) -> T:
    """Run a command at a server, connected as a player; return its result. The farewell is only for a player who got in."""
    was_there = False

    async def main() -> T:
        nonlocal was_there
        async with connected_as(address, player) as connection:
            was_there = True
            return await use(connection)

    return run(main, lambda: farewell() if was_there else "")


def ask(address: str, question: Callable[[Connection], Awaitable[T]]) -> T:
    """Ask a server one thing, as the player of this home; without a key, as a guest of whom nothing is kept."""
    home = home_as_is()
    name = player_name(None, home)
    if has_seed(home):
        return at_server(address, told_player(open_home(home.root), name), question)
    with tempfile.TemporaryDirectory(prefix="truc-reader-") as folder:
        return at_server(address, Player(open_home(Path(folder)), name, is_guest=True), question)

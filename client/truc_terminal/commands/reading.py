"""One question to a server, without sitting down anywhere: no key is made for it."""

import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from truc_client.connecting import connect
from truc_client.connection import Connection
from truc_client.home.account import Player
from truc_client.home.home import has_seed, open_home
from truc_terminal.commands.common import home_as_is, player_name, run, told_player

T = TypeVar("T")


def asked(address: str, question: Callable[[Connection], Awaitable[T]]) -> T:
    """Connect to a server, ask it one thing and return the answer."""

    async def main() -> T:
        with _reader() as player:
            async with connect(address, player) as connection:
                return await question(connection)

    return run(main)


@contextmanager
def _reader() -> Iterator[Player]:
    """Yield the player who asks: that of this home, else a guest of whom nothing is kept."""
    home = home_as_is()
    name = player_name(None, home)
    if has_seed(home):
        yield told_player(open_home(home.root), name)
        return
    with tempfile.TemporaryDirectory(prefix="truc-reader-") as folder:
        yield Player(open_home(Path(folder)), name, is_guest=True)

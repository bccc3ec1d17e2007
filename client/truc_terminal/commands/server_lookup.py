"""Which server or table a command is about: the one that was named, else that of the only server known.

To which server a command goes without having been told is said in one line, on standard error. Nothing is created: a
home that does not exist knows no server.
"""

import re
from contextlib import closing
from typing import Final

from truc_client.address import Address, parse_address
from truc_client.home.store import HomeStore
from truc_protocol.crypto.keys import FINGERPRINT_CHARACTERS
from truc_terminal.commands.output import FailedError, tell, usage_error
from truc_terminal.commands.player import home_as_is
from truc_words import Sentence

_OF_ADDRESSES: Final = frozenset(":/.")
"""Characters that occur in addresses, but in no game's name."""
_TAG: Final = re.compile(rf"[A-Z2-7]{{{FINGERPRINT_CHARACTERS}}}")
_CODE: Final = re.compile(r"[A-Z2-7]{5}|[A-Z2-7]{16}")  # docs/protocol/lobby.md: public, private


def known_servers() -> tuple[Address, ...]:
    """Return every server that this home knows."""
    home = home_as_is()
    # Opening the store would create it.
    if not home.state.exists():
        return ()
    with closing(HomeStore(home.state)) as store:
        return tuple(parse_address(server)._replace(is_tls=store.encrypts(server)) for server in store.pins())


def server_meant(given: str | None) -> Address:
    """Read an address; without one, return that of the only server known.

    Raises:
        ClientError: It cannot be read.
        FailedError: None was given, and not exactly one server is known.
    """
    if given is not None:
        return parse_address(given)
    known = known_servers()
    if len(known) != 1:
        key = "commands.one_of_servers" if known else "commands.address_expected"
        raise FailedError(Sentence(key, servers=", ".join(server.place for server in known)))
    tell(Sentence("connecting.only_known", server=known[0].place), err=True)
    return known[0]


def game_meant(address: str | None, game: str | None) -> tuple[Address, str]:
    """Return a server and the name of a game, which may come alone.

    Raises:
        UsageError: There is no game.
        ClientError: The address cannot be read.
        FailedError: None was given, and not exactly one server is known.
    """
    if game is not None:
        return server_meant(address), game
    if address is None or _OF_ADDRESSES.intersection(address):
        raise usage_error(Sentence("commands.game_expected"))
    return server_meant(None), address


def player_meant(address: str | None, player: str | None) -> tuple[Address, str | None]:
    """Return a server and a player's tag, which may come alone, or be missing.

    Raises:
        ClientError: The address cannot be read.
        FailedError: None was given, and not exactly one server is known.
    """
    if player is None and address is not None and _TAG.fullmatch(address):
        return server_meant(None), address
    return server_meant(address), player


def table_meant(place: str, code: str | None) -> tuple[Address, str]:
    """Return a server and the code of a table there: of a link, of an address and a code, or of a code alone.

    Raises:
        ClientError: The address cannot be read.
        FailedError: There is no code, or not exactly one server is known for it.
    """
    # Servers of this project take codes in either case (transport.md, "Addresses").
    if code is None and _CODE.fullmatch(place.upper()):
        return server_meant(None), place.upper()
    where = parse_address(place)
    table = code or where.table
    if table is None:
        raise FailedError(Sentence("commands.link_expected", command=f"truc tables {where.place}"))
    return where, table.upper()

"""How many tables one player and one network may have open, and how fast they may open more.

Anybody can be a new player, as a guest or with a new key, so all players of one network are counted together too. Where
a table came from is known only until the server restarts. Tables of other nodes count as well, as last told. Invariant:
a table is counted as long as it is in the lobby.
"""

from collections import Counter
from collections.abc import Mapping
from typing import TypeVar

import trio

from truc_protocol.errors import Code
from truc_server.net.peer import LoggedInPlayer, RefusedRequestError, TooSoonError
from truc_server.settings.in_force import CurrentValue
from truc_server.settings.settings import Settings
from truc_server.timing.rate_limits import Meter, Rate

_Key = TypeVar("_Key", bytes, str)


class MadeTables:
    """Who has made the tables that are open; those of other nodes are counted `elsewhere`, by whom and from where."""

    def __init__(
        self,
        settings: CurrentValue[Settings],
        by_elsewhere: Mapping[bytes, int],
        from_elsewhere: Mapping[str, int],
    ) -> None:
        self._settings = settings
        self._by_elsewhere = by_elsewhere
        self._from_elsewhere = from_elsewhere
        self._by: Counter[bytes] = Counter()
        self._from: Counter[str] = Counter()
        self._network_of: dict[str, str] = {}  # by the code of the table
        self._pace = Meter[bytes]()
        self._crowd = Meter[str]()

    def _rates(self) -> tuple[Rate, Rate]:
        """Return how fast one player may open tables, and how fast all players of one network together."""
        # limits.md, "Players": a network may open as many in a minute as it may have open at all.
        limits = self._settings.now.limits
        most, of_crowd = limits.tables_per_min, max(limits.tables_per_min, limits.tables_per_address)
        return (most, most), (of_crowd, of_crowd)

    def __len__(self) -> int:
        """The number of players and networks that have made an open table."""
        return len(self._by) + len(self._from)

    def pay(self, player: LoggedInPlayer, network: str) -> None:
        """Check that a player may open one more table, and count it for the pace.

        Raises:
            RefusedError: They have too many, or their network has.
            TooSoonError: They open them too fast, or all players of their network together do.
        """
        self._check_number(player, network)
        (rate, crowd_rate), now = self._rates(), trio.current_time()
        # Both are asked before either is paid, as what is refused costs nothing.
        if wait_ms := max(self._pace.owes(player.id, rate, now), self._crowd.owes(network, crowd_rate, now)):
            message = f"tables opened by one player in a minute: at most {rate[0]}"
            raise TooSoonError(message, wait_ms)
        self._pace.charge(player.id, rate, now)
        self._crowd.charge(network, crowd_rate, now)

    def _check_number(self, player: LoggedInPlayer, network: str) -> None:
        limits = self._settings.now.limits
        most, of_address = limits.tables_per_player, limits.tables_per_address
        made = self._by[player.id] + self._by_elsewhere.get(player.id, 0)
        from_there = self._from[network] + self._from_elsewhere.get(network, 0)
        if made >= most:
            raise RefusedRequestError(
                Code.TOO_MANY_TABLES, f"expected at most {most} open tables of one player"
            )
        if from_there >= of_address:
            message = f"expected at most {of_address} open tables that were made from one address"
            raise RefusedRequestError(Code.TOO_MANY_TABLES, message)

    def add(self, code: str, creator: bytes, network: str | None) -> None:
        """Count a table."""
        self._by[creator] += 1
        if network is not None:
            self._from[network] += 1
            self._network_of[code] = network

    def network_of(self, code: str) -> str | None:
        """Return where a table was made, if that is known."""
        return self._network_of.get(code)

    def note_elsewhere(self, creator: bytes, network: str | None) -> None:
        """Count a table that was just opened at another node towards the pace."""
        (rate, crowd_rate), now = self._rates(), trio.current_time()
        self._pace.charge(creator, rate, now)
        if network is not None:
            self._crowd.charge(network, crowd_rate, now)

    def drop(self, code: str, creator: bytes) -> None:
        """Stop counting a table that is gone."""
        uncount(self._by, creator)
        network = self._network_of.pop(code, None)
        if network is not None:
            uncount(self._from, network)


def uncount(counts: Counter[_Key], key: _Key) -> None:
    """Count one less; drop counts that reach zero."""
    counts[key] -= 1
    if not counts[key]:
        del counts[key]

"""The host's own bots: who they are, and how they are called to vacant seats of matches and free seats of open tables.

A call asks for nothing and gives nothing: a bot that is called joins as anybody may, and the first record that can
stand gets the seat. Nothing is kept; whom to call follows from who is connected and what is vacant. Invariant: only
keys that the host has listed are called, because a call may hold the code of a private table; nobody is called to the
free seats of such a table.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from truc_protocol.messages import BotWanted, PlayersWanted
from truc_server.lobby.presence import Presence
from truc_server.net.peer import Peer, Player
from truc_server.storage import PlayerKind

if TYPE_CHECKING:
    from truc_server.tables.table import Table

HOUSE_BOTS: Final = "house-bots"


class Calls:
    """The calls to the bots whose keys have these fingerprints."""

    def __init__(self, bots: Iterable[str], presence: Presence) -> None:
        self._bots = tuple(dict.fromkeys(bots))
        self._presence = presence

    def is_bot(self, player: Player) -> bool:
        """Tell whether a player is one of the host's own bots."""
        return player.kind is PlayerKind.KEY and player.tag in self._bots

    def call(self, table: "Table") -> None:
        """Call every connected bot to the vacant seats of a table."""
        for tag in self._bots:
            bot = self._listener(tag)
            if bot is not None:
                _call(bot, table)

    def fill(self, table: "Table") -> None:
        """Call bots that do not sit at an open table yet, one to each of its free seats."""
        listeners = filter(None, map(self._listener, self._bots))
        others = (bot for bot in listeners if bot.player is not None and table.seat_of(bot.player) is None)
        free = (seat for seat, seated in enumerate(table.seats) if seated is None)
        for seat, bot in zip(free, others, strict=False):
            variant = table.made.chosen.variant.name
            bot.send(PlayersWanted(table=table.code, seat=seat, variant=variant))

    def _listener(self, tag: str) -> Peer | None:
        """Return the newest connection of a player that asked to be called."""
        connections = reversed(self._presence.connections(tag))
        return next((peer for peer in connections if HOUSE_BOTS in peer.wanted), None)

    def catch_up(self, peer: Peer, player: Player, tables: Iterable["Table"]) -> None:
        """Call a newly connected bot to every vacant seat."""
        if HOUSE_BOTS in peer.wanted and self.is_bot(player):
            for table in tables:
                _call(peer, table)


def _call(peer: Peer, table: "Table") -> None:
    """Call a bot to each vacant seat, unless it has had one in that match."""
    game, player = table.game, peer.player
    if game is None or player is None or not game.vacant or game.has_had(player):
        return
    for seat in game.vacant:
        peer.send(
            BotWanted(
                table=table.code,
                match=game.mid,
                seat=seat,
                variant=table.made.chosen.variant.name,
                left_ms=game.vacant_ms,
            )
        )

"""Who stands by for the seats of a match whose players are gone: one connection for a seat, until a record makes it theirs.

They follow the match as those do who watch, also where nobody may watch. Nothing of it is stored. Invariant: whoever
stands by has a key that was never used in the match, and stands by for one seat, which is vacant.
"""

from collections.abc import Collection

from truc_protocol.errors import Code
from truc_server.audience import Audience
from truc_server.game import Game
from truc_server.peer import Peer, Player, RefusedError
from truc_server.store import PlayerKind


class Standins:
    """The connections that stand by at one table."""

    def __init__(self, table: str, audience: Audience) -> None:
        self._table = table
        self._audience = audience
        self._peers: dict[int, Peer] = {}

    def seat_of(self, peer: Peer) -> int | None:
        """Return the seat that a connection stands by for."""
        return next((seat for seat, standin in self._peers.items() if standin is peer), None)

    def own_seat(self, peer: Peer) -> int:
        """Return the seat of a connection that must stand by.

        Raises:
            RefusedError: It does not, or not any more.
        """
        seat = self.seat_of(peer)
        if seat is None:
            raise RefusedError(Code.NOT_SEATED, "expected a connection that stands by for a vacant seat")
        return seat

    def stand_by(self, game: Game, peer: Peer, player: Player, wanted: int | None) -> int:
        """Let a connection stand by for the vacant seat that it wants, or for any; return the seat.

        Raises:
            RefusedError: No such seat is vacant, somebody else stands by for it, or the player cannot take it.
        """
        if player.kind is not PlayerKind.KEY:
            raise RefusedError(Code.GUESTS_NOT_ALLOWED, "expected a player with a key for a vacant seat")
        if game.has_had(player):
            raise RefusedError(Code.SEAT_GONE, "expected a player who has not played in this match before")
        free = [seat for seat in game.vacant if not self._is_held(seat, player)]
        if not free or wanted not in (None, *free):
            raise RefusedError(Code.SEAT_TAKEN, f"expected one of the vacant seats {free}, got {wanted}")
        seat = free[0] if wanted is None else wanted
        self._peers = {other: held for other, held in self._peers.items() if held.player != player}
        self._peers[seat] = peer
        self._audience.watch(peer)
        peer.tables.add(self._table)
        return seat

    def _is_held(self, seat: int, player: Player) -> bool:
        """Tell whether another player stands by for a seat: the newest connection of one player counts."""
        standin = self._peers.get(seat)
        return standin is not None and standin.player != player

    def keep(self, vacant: Collection[int], *, may_watch: bool) -> None:
        """Forget those whose seat is not vacant any more; they follow on only where anybody may watch."""
        lost = [peer for seat, peer in self._peers.items() if seat not in vacant]
        for peer in lost:
            self.drop(peer)
            if not may_watch:
                self._audience.unwatch(peer)

    def unwatch(self, peer: Peer) -> None:
        """Let a connection without a seat follow no more, nor stand by."""
        self.drop(peer)
        self._audience.unwatch(peer)

    def drop(self, peer: Peer) -> None:
        """Forget a connection."""
        self._peers = {seat: standin for seat, standin in self._peers.items() if standin is not peer}

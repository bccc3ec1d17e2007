"""Who stands by for the seats of a match whose players are gone, until a signed record makes one of them theirs.

They follow the match as watchers do, even where nobody may watch; where watchers are shown it late, as the seats do.
None of this is stored. Standing by keeps nobody else away: the first valid record gets the seat. Invariants:
whoever stands by has a key that was never used in the match, and stands by for one vacant seat on one connection; and
at most `MOST` stand by at a table.
"""

from collections import Counter
from collections.abc import Collection
from typing import Final

from truc_protocol.errors import Code
from truc_server.matches.game import Game
from truc_server.net.peer import LoggedInPlayer, Peer, RefusedRequestError
from truc_server.spectating.spectator_feed import SpectatorFeed
from truc_server.storage import PlayerKind
from truc_server.table_data.board import TableBoard
from truc_server.table_data.options import WATCH_LATE

# Stand by at one table. The next to come takes the place of the first, as those who never sign would keep all
# others away (decision 7).
MOST: Final = 8


class StandbySeats:
    """The connections that stand by at one table.

    Attributes:
        seats: the seat that each stands by for, in the order in which their players came.
    """

    def __init__(self, feed: SpectatorFeed, board: TableBoard) -> None:
        self._feed = feed
        self._board = board
        self._may_watch = 0 < board.blueprint.chosen.opts.spectators <= WATCH_LATE
        self.seats: dict[Peer, int] = {}

    def stand_by(self, game: Game, peer: Peer, player: LoggedInPlayer, wanted: int | None) -> int:
        """Let a connection stand by for the vacant seat that it wants, or for any; return the seat.

        Raises:
            RefusedError: No such seat is vacant, or the player cannot take it.
        """
        if player.id in game.players:
            raise RefusedRequestError(
                Code.SEAT_GONE, "expected a player who has not played in this match before"
            )
        if player.kind is not PlayerKind.KEY:
            raise RefusedRequestError(
                Code.GUESTS_NOT_ALLOWED, "expected a player with a key for a vacant seat"
            )
        vacant = self._board.vacant
        if not vacant or wanted not in (None, *vacant):
            message = f"expected one of the vacant seats {list(vacant)}, got {wanted}"
            raise RefusedRequestError(Code.SEAT_TAKEN, message)
        before = self._connection_of(player)
        seat = self._least_wanted(vacant, before) if wanted is None else wanted
        self._place(peer, seat, before)
        self.follow(peer)
        peer.tables |= {self._feed.table}
        return seat

    def follow(self, peer: Peer) -> None:
        """Let a connection that stands by follow the match; it is behind."""
        if self._feed.delay_s:
            # who takes a seat over signs at the newest position, which late watchers do not have yet
            self._feed.audience.add_insider(peer)
        else:
            self._feed.audience.watch(peer)

    def _connection_of(self, player: LoggedInPlayer) -> Peer | None:
        """Return the connection on which a player stands by; the id tells, the name is only a label."""
        return next((peer for peer in self.seats if peer.player and peer.player.id == player.id), None)

    def _least_wanted(self, vacant: Collection[int], before: Peer | None) -> int:
        """Return the seat that a player already stands by for, or one for which the fewest do."""
        if before is not None:
            return self.seats[before]
        wanted = Counter(self.seats.values())
        return min(vacant, key=wanted.__getitem__)

    def _place(self, peer: Peer, seat: int, before: Peer | None) -> None:
        """Let a connection stand by, in place of its player's older one, if there is one."""
        if before is None:
            if len(self.seats) >= MOST:
                self._lose(next(iter(self.seats)))
            self.seats[peer] = seat
            return
        self.seats = {
            (peer if held is before else held): (seat if held is before else other)
            for held, other in self.seats.items()
        }
        if before is not peer:
            self._lose(before)

    def keep_only(self, vacant: Collection[int]) -> None:
        """Forget those whose seat is not vacant any more."""
        for peer in [peer for peer, seat in self.seats.items() if seat not in vacant]:
            self._lose(peer)

    def _lose(self, peer: Peer) -> None:
        """Forget a connection that has lost its place; it goes on following only where watchers see as much."""
        self.drop(peer)
        if not self._may_watch:
            self._feed.unwatch(peer)

    def unwatch(self, peer: Peer) -> None:
        """Let a connection without a seat neither follow nor stand by any more."""
        self.drop(peer)
        self._feed.unwatch(peer)

    def drop(self, peer: Peer) -> None:
        """Forget a connection."""
        self.seats.pop(peer, None)

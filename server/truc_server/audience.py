"""Who follows a table: for each seat the connection that has it, and those who watch.

A follower is `live` once it has been sent everything before; only then does it get what happens next, so that nobody's
list of records has a hole. Invariant: a seat has at most one connection.
"""

from collections.abc import Iterator

from truc_protocol.connection import broadcast_frame
from truc_protocol.messages import ServerMessage
from truc_server.peer import Peer


class Audience:
    """The connections that follow one table."""

    def __init__(self, seats: int) -> None:
        self._seats: list[Peer | None] = [None] * seats
        self._live: set[Peer] = set()
        self._watchers: set[Peer] = set()

    def holder(self, seat: int) -> Peer | None:
        """Return the connection that has a seat."""
        return self._seats[seat]

    def live(self, seat: int) -> Peer | None:
        """Return the connection that has a seat, if it has been sent all there was."""
        holder = self._seats[seat]
        return holder if holder in self._live else None

    def attach(self, seat: int, peer: Peer) -> Peer | None:
        """Give a seat to a connection, which is behind unless it had the seat; return another that had it."""
        before = self._seats[seat]
        if before is peer:
            return None
        self._seats[seat] = peer
        self._watchers.discard(peer)
        self._live.discard(peer)
        if before is None:
            return None
        self._live.discard(before)
        return before

    def hand_over(self, seat: int, peer: Peer) -> Peer | None:
        """Give a seat to a connection that goes on from where it follows; return another that had it."""
        is_live = peer in self._live
        before = self.attach(seat, peer)
        if is_live:
            self._live.add(peer)
        return before

    def watch(self, peer: Peer) -> None:
        """Add a watcher, which is behind."""
        self._watchers.add(peer)
        self._live.discard(peer)

    def is_watching(self, peer: Peer) -> bool:
        """Tell whether a connection follows without a seat."""
        return peer in self._watchers

    @property
    def online(self) -> tuple[int, ...]:
        """The seats that have a connection."""
        return tuple(seat for seat, peer in enumerate(self._seats) if peer is not None)

    def has_seat(self, peer: Peer) -> bool:
        """Tell whether a connection has a seat."""
        return peer in self._seats

    def all_caught_up(self) -> None:
        """A match begins: nobody has missed anything of it."""
        self._live.update(self._everybody())

    def fall_behind(self, peer: Peer) -> None:
        """A follower is to be sent again what it may have."""
        self._live.discard(peer)

    def caught_up(self, peer: Peer) -> None:
        """A follower has been sent everything so far."""
        self._live.add(peer)

    def release(self, seat: int) -> None:
        """Take a seat from its connection."""
        holder, self._seats[seat] = self._seats[seat], None
        if holder is not None and holder not in self._watchers:
            self._live.discard(holder)

    def drop(self, peer: Peer) -> bool:
        """Forget a connection; tell whether it had a seat."""
        had = [seat for seat, holder in enumerate(self._seats) if holder is peer]
        for seat in had:
            self._seats[seat] = None
        self.unwatch(peer)
        return bool(had)

    def unwatch(self, peer: Peer) -> None:
        """Forget a watcher; a seat it has stays its own."""
        self._watchers.discard(peer)
        if peer not in self._seats:
            self._live.discard(peer)

    def tell(self, message: ServerMessage) -> None:
        """Send a notice to everybody at the table."""
        frame = broadcast_frame(message)
        for peer in self._everybody():
            peer.send_frame(frame)

    def show_seats(self, frame: bytes) -> None:
        """Send a record to the seats that have all before it."""
        for peer in self._seats:
            if peer is not None and peer in self._live:
                peer.send_frame(frame)

    def show_watchers(self, frame: bytes) -> None:
        """Send a record to the watchers that have all before it."""
        for peer in self._watchers:
            if peer in self._live:
                peer.send_frame(frame)

    def _everybody(self) -> Iterator[Peer]:
        seated = [peer for peer in self._seats if peer is not None]
        yield from seated
        yield from self._watchers.difference(seated)

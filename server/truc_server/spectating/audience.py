"""Who follows a table: for each seat the connection that has it, those who watch, and those who see what seats see.

A follower is `live` once it has been sent everything so far; only then does it get what happens next, so that nobody's
list of records has a hole. What a watcher's outbox cannot take is dropped, and the watcher is behind until there is
room again. When a table is gone, each watcher is told so after they have been sent the rest. Invariant: a seat has at
most one connection.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum, auto
from typing import Final

from truc_protocol.errors import Code
from truc_protocol.messages import ServerMessage
from truc_protocol.wire.connection import broadcast_frame
from truc_server.matches.choices import Answerers
from truc_server.net.peer import SNAPSHOT, Peer, Watched

CLOSED: Final = 16  # closed tables that one connection is still shown the rest of


class Gap(Enum):
    """What a watcher has missed."""

    NOTHING = auto()
    SOME = auto()
    """Something was dropped while they caught up."""
    ALL_SINCE = auto()
    """They are sent nothing until there is room for all of it again."""


class Audience:
    """The connections that follow one table.

    Attributes:
        online: the seats that have a connection.
        answerers: those whose connection has been sent everything so far.
        watchers: those who watch, and what each has missed.
    """

    def __init__(self, seats: int, *, watched: Watched) -> None:
        """Begin with nobody; `watched` is the table as its watchers' connections know it."""
        self.online: tuple[int, ...] = ()
        self.watchers: dict[Peer, Gap] = {}
        self._watched = watched
        self._seats: list[Peer | None] = [None] * seats
        self._live: set[Peer] = set()
        self.answerers = Answerers([], [])
        self._insiders: list[Peer] = []
        self._last_word: bytes | None = None

    def holder(self, seat: int) -> Peer | None:
        """Return the connection that has a seat."""
        return self._seats[seat]

    def live_holder(self, seat: int) -> Peer | None:
        """Return the connection that has a seat, if it has been sent everything so far."""
        holder = self._seats[seat]
        return holder if holder in self._live else None

    def _update_answerers(self) -> None:
        """Work out again who may be asked: a seat has changed hands, fallen behind or caught up."""
        asked: list[int] = []
        knowing: list[int] = []
        for seat, holder in enumerate(self._seats):
            if holder is not None and holder in self._live:
                (knowing if holder.knows_rules else asked).append(seat)
        self.answerers = Answerers(asked, knowing)

    def send(self, to_seats: Iterable[tuple[int, bytes]]) -> None:
        """Send frames to one seat each, if its connection has been sent everything so far."""
        for seat, frame in to_seats:
            holder = self._seats[seat]
            if holder is not None and holder in self._live:
                holder.send_frame(frame)

    def attach(self, seat: int, peer: Peer) -> Peer | None:
        """Give a seat to a connection, which is behind unless it had the seat; return the other that had it, if any."""
        before = self._seats[seat]
        if before is peer:
            return None
        self._put(seat, peer)
        self._forget(peer)
        self.fall_behind(peer)
        if before is not None:
            self.fall_behind(before)
        return before

    def hand_over(self, seat: int, peer: Peer) -> Peer | None:
        """Give a seat to a connection, which follows on from where it is; return the other that had it, if any."""
        # whoever has stood by has every record already: nothing is sent again
        is_live = peer in self._live
        before = self.attach(seat, peer)
        if is_live:
            self._keep_up(peer)
        return before

    def watch(self, peer: Peer) -> None:
        """Add a watcher, which is behind."""
        self._forget(peer)
        self.watchers[peer] = Gap.NOTHING
        self.fall_behind(peer)
        peer.watched |= {self._watched}

    def add_insider(self, peer: Peer) -> None:
        """Add a connection without a seat that is told what the seats are told, and is behind."""
        self._forget(peer)
        self._insiders.append(peer)
        self.fall_behind(peer)

    def _forget(self, peer: Peer) -> None:
        """Forget that a connection follows without a seat."""
        self.watchers.pop(peer, None)
        if peer in self._insiders:
            self._insiders.remove(peer)
        peer.watched -= {self._watched}

    def is_following(self, peer: Peer) -> bool:
        """Tell whether a connection follows, with a seat or without."""
        return peer in self.watchers or peer in self._insiders or peer in self._seats

    def is_inside(self, peer: Peer) -> bool:
        """Tell whether a connection is told what the seats are told, when they are."""
        return peer in self._seats or peer in self._insiders

    def followers(self) -> tuple[Peer, ...]:
        """Return every connection that follows, those with a seat first."""
        return (*self._inside(), *self.watchers)

    def has_seat(self, peer: Peer) -> bool:
        """Tell whether a connection has a seat."""
        return peer in self._seats

    def seats_caught_up(self) -> None:
        """Note that a match begins: no seat has missed anything of it."""
        self._live.update(peer for peer in self._seats if peer is not None)
        self._update_answerers()

    def fall_behind(self, peer: Peer) -> None:
        """Note that a follower is behind: it is sent again what it may have."""
        self._live.discard(peer)
        self._update_answerers()

    def _keep_up(self, peer: Peer) -> None:
        """Note that a follower is sent what happens next."""
        self._live.add(peer)
        self._update_answerers()

    def caught_up(self, peer: Peer) -> bool:
        """Note that a follower has been sent everything so far; False if some of it was dropped meanwhile."""
        # views.md, "When a watcher falls behind": a snapshot follows, as what was just sent has a hole
        if self.watchers.get(peer) is Gap.SOME:
            self.watchers[peer] = Gap.ALL_SINCE
            return False
        self._keep_up(peer)
        if self._last_word is not None and peer in self.watchers:
            self._dismiss(peer, self._last_word)
        return True

    def release(self, seat: int) -> None:
        """Take a seat from its connection."""
        holder = self._seats[seat]
        self._put(seat, None)
        if holder is not None:
            self.fall_behind(holder)

    def drop(self, peer: Peer) -> bool:
        """Forget a connection; tell whether it had a seat."""
        had = [seat for seat, holder in enumerate(self._seats) if holder is peer]
        for seat in had:
            self._put(seat, None)
        self.unwatch(peer)
        return bool(had)

    def _put(self, seat: int, peer: Peer | None) -> None:
        self._seats[seat] = peer
        self._update_answerers()
        self.online = tuple(seat for seat, holder in enumerate(self._seats) if holder is not None)

    def unwatch(self, peer: Peer) -> None:
        """Forget that a connection follows without a seat; a seat it has stays its own."""
        self._forget(peer)
        if peer not in self._seats:
            self.fall_behind(peer)

    def tell_seats(self, message: ServerMessage, *, speaker: str | None = None) -> None:
        """Send a notice to the seats and the other insiders, except those who ignore the player with the tag `speaker`."""
        frame = broadcast_frame(message)
        for peer in self._inside():
            if speaker not in peer.ignored:
                peer.send_frame(frame)

    def tell_watchers(self, frame: bytes, speaker: str | None = None) -> None:
        """Send a notice to everybody who watches, except those who ignore the player with the tag `speaker`."""
        for peer in tuple(self.watchers):
            if speaker not in peer.ignored:
                peer.send_watched(frame)

    def show_seats(self, frame: bytes) -> None:
        """Send a record to the seats and the other insiders, if they have all before it."""
        # hardly any table has somebody standing by: no list is made for every record
        for peer in (*self._seats, *self._insiders) if self._insiders else self._seats:
            if peer in self._live:
                peer.send_frame(frame)

    def show_watchers(self, frame: bytes, speaker: str | None = None) -> None:
        """Send a record or a notice to the watchers that have all before it, except those who ignore its player."""
        for peer in tuple(self.watchers) if self.watchers else ():
            if peer in self._live and speaker not in peer.ignored:
                peer.send_watched(frame)

    def jump(self, snapshot: bytes) -> None:
        """Let the watchers that have all before a hole go on behind it."""
        for peer in tuple(self.watchers):
            if peer not in self._live:
                continue
            if SNAPSHOT in peer.wanted:
                peer.send_watched(snapshot)
            else:  # to such a client every record comes, or none any more
                peer.dismiss(Code.INTERNAL, "a record of the match cannot be read")

    def enforce_closed_limit(self, message: ServerMessage) -> None:
        """Tell watchers who are still shown the rest of too many closed tables at once that this one is gone."""
        for peer in tuple(self.watchers):
            # views.md, "Shown late": what is shown of tables that are gone is bounded for one connection
            if sum(watched.is_closed for watched in peer.watched) > CLOSED:
                self.unwatch(peer)
                peer.send_frame(broadcast_frame(message))

    def end_watching(self, message: ServerMessage) -> None:
        """Tell each watcher, once they have had the rest, that nothing more comes, and forget them."""
        self._last_word = broadcast_frame(message)
        for peer in tuple(self.watchers):
            if peer in self._live:
                self._dismiss(peer, self._last_word)

    def _dismiss(self, peer: Peer, last_word: bytes) -> None:
        """Say the last word to a watcher, now or when there is room for it."""
        # nothing was ever dropped for this client, which is cut off instead: it has all that came before
        if SNAPSHOT not in peer.wanted:
            self.unwatch(peer)
            peer.send_frame(last_word)
        elif not self.come_back(peer, ()):
            self.fall_behind(peer)
            self.watchers[peer] = Gap.ALL_SINCE

    def is_skipped(self, peer: Peer) -> bool:
        """Tell whether a watcher is sent nothing until it has room again."""
        return self.watchers.get(peer) is Gap.ALL_SINCE

    def skip(self, peer: Peer) -> None:
        """Note that what waited for a watcher was dropped: a live one is sent nothing until it has room again."""
        if peer in self._live:
            self.fall_behind(peer)
            self.watchers[peer] = Gap.ALL_SINCE
        elif not self.is_skipped(peer):
            self.watchers[peer] = Gap.SOME

    def come_back(self, peer: Peer, frames: Sequence[bytes]) -> bool:
        """Send a watcher that was skipped all of these frames, then what comes next; False if they do not fit in."""
        last = () if self._last_word is None else (self._last_word,)
        if not peer.send_together((*frames, *last)):
            return False
        self.watchers[peer] = Gap.NOTHING
        self._keep_up(peer)
        if last:
            # with the table goes the last chance to get it again
            peer.outbox.keep_all()
            self.unwatch(peer)
        return True

    def _inside(self) -> Iterator[Peer]:
        yield from (peer for peer in self._seats if peer is not None)
        yield from self._insiders

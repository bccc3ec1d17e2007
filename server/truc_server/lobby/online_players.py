"""Who is connected: every player once, however many connections they have, and whom each of them ignores.

Whom a player ignores is one set for all of their connections. For players with a key it is in the store; for guests it
is only here, as long as the server runs and not too many others have come since. Invariants: a player is listed exactly
while one of their connections is logged in; every key that ignores anybody, as the store has it, is in `ignoring`.
"""

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Final, NamedTuple

from truc_server.net.peer import LoggedInPlayer, Peer, tag_of
from truc_server.storage import PlayerKind

PAGE: Final = 50  # players in one answer
# Guests whose ignored players are remembered, those who are gone included: guests cost nothing.
GUESTS: Final = 4_096


class PlayerPage(NamedTuple):
    """Some players, and whether there are more."""

    players: tuple[LoggedInPlayer, ...]
    more: bool


class OnlinePlayers:
    """Every connection that is logged in, by the tag of its player.

    Attributes:
        ignoring: the keys that ignore anybody, or once did: when others log in nothing has to be read.
        ignore_changes: how often a key has changed whom it ignores, so that a login knows what it read too early.
    """

    def __init__(self) -> None:
        self.ignoring: set[bytes] = set()
        self.ignore_changes: Counter[bytes] = Counter()
        self._peers: dict[str, tuple[Peer, ...]] = {}
        self._tags: list[str] = []
        self._ignored: dict[bytes, set[str]] = {}  # by guest; whoever changed it last comes last

    def __len__(self) -> int:
        """How many players are connected."""
        return len(self._tags)

    def enter(self, peer: Peer, player: LoggedInPlayer) -> None:
        """Note that a connection speaks for a player now."""
        tag = player.tag
        others = self._peers.get(tag, ())
        if others:
            peer.ignored = others[0].ignored
            peer.bucket = others[0].bucket  # limits are a player's, not a connection's
        elif player.kind is PlayerKind.GUEST:
            peer.ignored = self._ignored.get(player.id, set())
        if not others:
            insort(self._tags, tag)
        self._peers[tag] = (*others, peer)

    def leave(self, peer: Peer) -> None:
        """Note that a connection has ended."""
        if peer.player is None:
            return
        tag = peer.player.tag
        others = tuple([other for other in self._peers.get(tag, ()) if other is not peer])
        if others:
            self._peers[tag] = others
        elif self._peers.pop(tag, ()):
            del self._tags[bisect_left(self._tags, tag)]

    def everybody(self) -> Iterator[Peer]:
        """Yield every connection on which somebody is logged in."""
        return chain.from_iterable(self._peers.values())

    def connections(self, tag: str) -> tuple[Peer, ...]:
        """Return the connections of a player, the oldest first."""
        return self._peers.get(tag, ())

    def guests(self) -> frozenset[bytes]:
        """Return the ids of the guests who are connected."""
        players = (peers[-1].player for peers in self._peers.values())
        return frozenset(
            player.id for player in players if player is not None and player.kind is PlayerKind.GUEST
        )

    def after(self, tag: str, most: int) -> list[str]:
        """Return the tags after one, ascending, at most so many."""
        first = bisect_right(self._tags, tag)
        return self._tags[first : first + most]

    def player(self, tag: str) -> LoggedInPlayer | None:
        """Return a player who is connected, by their tag."""
        peers = self._peers.get(tag)
        return peers[-1].player if peers else None

    def note_ignored(self, player: bytes, kind: PlayerKind, tag: str, *, off: bool) -> None:
        """Note whom a player ignores, or hears again, as another node tells."""
        if kind is PlayerKind.KEY:
            self.ignore_changes[player] += 1
            if not off:
                self.ignoring.add(player)
        connections = self.connections(tag_of(kind, player))
        ignored = connections[0].ignored if connections else self._ignored.get(player, set())
        if off:
            ignored.discard(tag)
        else:
            ignored.add(tag)
        if kind is PlayerKind.GUEST:
            self.keep_ignored(player, ignored)

    def keep_ignored(self, guest: bytes, ignored: set[str]) -> None:
        """Remember whom a guest ignores, until the server ends."""
        # Taken out, to come last among those who have changed it.
        self._ignored.pop(guest, None)
        if ignored:
            self._ignored[guest] = ignored
        if len(self._ignored) > GUESTS:
            del self._ignored[next(iter(self._ignored))]

    def forget_ignored(self, player: bytes) -> None:
        """Forget whom a player who is forgotten ignores."""
        self._ignored.pop(player, None)
        if player in self.ignoring:
            self.ignore_changes[player] += 1

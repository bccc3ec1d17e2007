"""Who is connected: every player once, however many connections they have, and whom each of them ignores.

Whom a player ignores is one set for all of their connections. For players with a key it is in the store; for guests it
is only here, as long as the server runs and not too many others have come since. Invariants: a player is listed exactly
while one of their connections is logged in; every key that ignores anybody, as the store has it, is in `ignoring`.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from itertools import chain
from typing import Final, NamedTuple

from truc_server.net.peer import Peer, Player
from truc_server.storage import PlayerKind

PAGE: Final = 50  # players in one answer
GUESTS: Final = 4_096  # whose ignored players are remembered, including guests who are gone


class PlayerPage(NamedTuple):
    """Some players, and whether there are more."""

    players: tuple[Player, ...]
    more: bool


class OnlinePlayers:
    """Every connection that is logged in, by the tag of its player.

    Attributes:
        ignoring: the keys that ignore anybody, or once did: when others log in nothing has to be read.
    """

    def __init__(self) -> None:
        self.ignoring: set[bytes] = set()
        self._peers: dict[str, tuple[Peer, ...]] = {}
        self._tags: list[str] = []
        self._ignored: dict[bytes, set[str]] = {}  # by guest; whoever changed it last comes last

    def __len__(self) -> int:
        """How many players are connected."""
        return len(self._tags)

    def enter(self, peer: Peer, player: Player) -> None:
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

    def page(self, *, after: str) -> PlayerPage:
        """Return the players after a tag, ascending."""
        first = bisect_right(self._tags, after)
        found = self._tags[first : first + PAGE + 1]
        players = (self._peers[tag][-1].player for tag in found[:PAGE])
        return PlayerPage(tuple(player for player in players if player is not None), len(found) > PAGE)

    def keep_ignored(self, guest: Player, ignored: set[str]) -> None:
        """Remember whom a guest ignores, until the server ends."""
        self._ignored.pop(guest.id, None)
        if ignored:
            self._ignored[guest.id] = ignored
        if len(self._ignored) > GUESTS:
            del self._ignored[next(iter(self._ignored))]

    def forget_ignored(self, player: bytes) -> None:
        """Forget whom a guest ignores."""
        self._ignored.pop(player, None)

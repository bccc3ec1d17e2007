"""Requests for what is on another node: a client is sent there, or its request is brought there over a link.

A request that names a table is looked for here first; only when there is none of that code is the store asked which node
owns it: in a thread, and the answer is kept for a moment. A connection that follows nothing here may be sent to the owner
of the table; one that follows a table here, or has a link already, stays, and is brought. Invariants: a request for a table
that is here costs nothing extra; the owner's own word counts, the store only says whom to ask.
"""

from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

import trio

from truc_protocol.errors import Code
from truc_protocol.messages import AnyMessage, ClientMessage, Ignore, Join, Request, Resume, Seek, Watch
from truc_server.cluster.inner_door import InnerDoor, open_inner
from truc_server.cluster.node_links import AGAIN_MS, NodeLinks
from truc_server.net.connections import Connections
from truc_server.net.peer import LoggedInPlayer, Peer, RefusedRequestError, TooSoonError
from truc_server.parts import ServerParts
from truc_server.requests import login
from truc_server.requests.dispatch import Dispatch
from truc_server.storage import TableOwner

CACHE_S: Final = 0.5
"""Half of `AGAIN_MS`: whoever asks again for a table that is between two nodes gets a new answer."""
# Codes, among them those that nobody has: whoever guesses codes must not fill the memory.
MAX_CACHED: Final = 4_096
_REMEMBERED: Final = 1_024  # tables that are remembered as asked for in vain


class _Answer(NamedTuple):
    place: TableOwner | None
    until: float


class StoreDirectory:
    """What the store says about the owners of tables; `find` reads it, and blocks."""

    def __init__(self, find: Callable[[str], TableOwner | None]) -> None:
        self._find = find
        self._answers: dict[str, _Answer] = {}  # the newest comes last

    def __len__(self) -> int:
        """How many codes are remembered."""
        return len(self._answers)

    async def owner_of(self, code: str) -> TableOwner | None:
        """Return who owns a table, or owned it a moment ago; None if there is no such table.

        Raises:
            StoreError: The store cannot be read.
        """
        known = self._answers.get(code)
        if known is not None and trio.current_time() < known.until:
            return known.place
        place = await trio.to_thread.run_sync(self._find, code)
        # Taken out first, as a dict keeps a key where it was first put.
        self._answers.pop(code, None)
        self._answers[code] = _Answer(place, trio.current_time() + CACHE_S)
        if len(self._answers) > MAX_CACHED:
            del self._answers[next(iter(self._answers))]
        return place


_MIN_PATIENCE_S: Final = 15.0
_PATIENCE_LEASES: Final = 3
"""In whose time a table that a node left is with another: one until it is free, and another for reading many."""


def code_of(message: AnyMessage) -> str | None:
    """Return the code of the table that a message names, in capitals; None if it names none."""
    code: str | None = getattr(message, "table", None)
    return None if code is None else code.upper()


class VainLookups:
    """For how long tables were asked for in vain that nobody has, or that this node should have but has not."""

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        # When each was asked for first and last; the table that was asked for last comes last.
        self._asked: dict[str, tuple[float, float]] = {}

    def check(self, code: str) -> bool:
        """Note that a table was asked for; False if that has gone on for so long that there is none.

        Raises:
            TooSoonError: It may be there soon.
        """
        now = trio.current_time()
        first, last = self._asked.pop(code, (now, now))
        # After so long a silence it is another search, for a table that may be on its way again.
        if now - last > self._patience_s:
            first = now
        self._asked[code] = first, now
        if len(self._asked) > _REMEMBERED:
            del self._asked[next(iter(self._asked))]
        if now - first > self._patience_s:
            return False
        raise TooSoonError("the table is on its way to a node: ask again in a moment", AGAIN_MS)


class Routing:
    """What becomes of a request of a client of this node: the client is sent to the owner, or the request is."""

    def __init__(self, parts: ServerParts) -> None:
        cluster = parts.settings.now.cluster
        self._parts = parts
        self._lobby = parts.lobby
        self._node = cluster.node
        self._sends = cluster.route == "moved"
        self._patience_s = max(_MIN_PATIENCE_S, _PATIENCE_LEASES * cluster.lease_s)
        # A node that has not renewed its lease for so long may be gone: nobody is sent there.
        spare_ms = cluster.lease_s * 1_000 // 2
        self._directory = StoreDirectory(partial(parts.store.table_owner, spare_ms=spare_ms))
        self._links = NodeLinks(parts)
        self._vain_lookups = VainLookups(self._patience_s)

    def leave(self, peer: Peer) -> None:
        """End the links of a client that is gone."""
        self._links.drop(peer)

    async def open(self, connections: Connections, tasks: trio.Nursery) -> None:
        """Bring clients to other nodes from now on, and let those bring theirs, if the settings say where to listen.

        Raises:
            OSError: That cannot be listened on.
        """
        await tasks.start(self._links.run)
        if inner := self._parts.settings.now.cluster.inner:
            listeners = await open_inner(inner)
            word = BroughtRequests(self._directory, self._patience_s)
            brought = Dispatch(self._parts, self._lobby, word)
            door = InnerDoor(self._parts, connections, brought.handle)
            tasks.start_soon(door.run, listeners)

    async def take(self, peer: Peer, message: AnyMessage) -> bool:
        """Take a request to the node that owns the table it names; False if there is no such table."""
        code, player = code_of(message), peer.player
        if code is None or player is None or not isinstance(message, Request):
            return False
        if self._links.pass_on(peer, message, code):
            return True
        # The directory reads the store: nobody tries codes any faster than they read pages.
        await self._parts.pace.wait_page(peer.network)
        place = await self._directory.owner_of(code)
        if place is None or not peer.is_open:
            return place is not None
        if place.node in ("", self._node) or not (place.public or place.inner):
            # It is between two nodes, or its node has come and does not listen yet.
            return self._vain_lookups.check(code)
        if await self._route(peer, player, message, place, code):
            return True
        # Whoever wants to follow the table is told that there is one; for anything else it is unknown.
        if isinstance(message, Join | Watch | Resume):
            where = f": it is at {place.public}, which takes another connection" if place.public else ""
            raise RefusedRequestError(Code.NOT_NOW, f"expected a table that this connection can reach{where}")
        return False

    async def seek(self, peer: Peer, player: LoggedInPlayer, wanted: Seek) -> bool:
        """Take a search for a seat to a node with a public table that suits; False if none is known."""
        place = self._lobby.find_elsewhere(player, wanted)
        if place is None or place.node == self._node:
            return False
        return await self._route(peer, player, wanted, place, None)

    def ignore(self, peer: Peer, message: Ignore) -> None:
        """Let the nodes to which a connection has links know whom its player ignores, or hears again."""
        self._links.ignore(peer, message)

    async def _route(
        self, peer: Peer, player: LoggedInPlayer, message: ClientMessage, place: TableOwner, code: str | None
    ) -> bool:
        """Send a client to another node, or its request; False if neither way is open."""
        # Behind one address for all nodes a client that is sent there may come to any, this one too.
        is_elsewhere = place.public not in ("", self._parts.place.public)
        is_sent = self._sends and is_elsewhere and peer.can_move and not self._stays(peer)
        if not (is_sent or place.inner):
            return False
        # A guest who was not stored is unknown there. A goodbye leaves behind that row, as every frame waits
        # for the journal; a link waits for nothing by itself.
        login.store_guest(self._parts.journal, peer)
        if is_sent:
            peer.dismiss(Code.MOVED, f"that is at {place.public}", to=place.public)
            return True
        await self._parts.journal.wait_durable(self._parts.journal.gate)
        await self._links.bring(peer, player, message, place, code)
        return True

    def _stays(self, peer: Peer) -> bool:
        # Decision 25: else a player at tables of two nodes would be sent to and fro for ever.
        return self._links.carries(peer) or self._lobby.follows_any(peer)


class BroughtRequests:
    """What becomes of a request that another node has brought: it goes no further, and who asks must look again."""

    def __init__(self, directory: StoreDirectory, patience_s: float) -> None:
        self._directory = directory
        self._vain_lookups = VainLookups(patience_s)

    async def take(self, _peer: Peer, message: AnyMessage) -> bool:
        """Tell whoever asks to look again for a table that is on its way; False if there is no such table."""
        code = code_of(message)
        if code is None or await self._directory.owner_of(code) is None:
            return False
        return self._vain_lookups.check(code)

    async def seek(self, _peer: Peer, _player: LoggedInPlayer, _wanted: Seek) -> bool:
        """Look nowhere else."""
        return False

    def ignore(self, peer: Peer, message: Ignore) -> None:
        """Nobody else needs to know."""

"""Requests for what is on another node: a client is sent there, or brought there over a link.

A request that names a table is looked for here first; only when there is none of that code is the directory asked. A
connection that follows nothing here may be sent to the owner of the table; one that follows a table here, or has a link
already, stays, and is brought. Invariants: a request for a table that is here costs nothing extra; the owner's own word
counts, the directory only says whom to ask.
"""

from typing import Final, Protocol

import trio

from truc_protocol.errors import Code
from truc_protocol.messages import AnyMessage, ClientMessage, Ignore, Join, Request, Resume, Seek, Watch
from truc_server.lobby.lobby import Lobby
from truc_server.net.peer import LoggedInPlayer, Peer, RefusedRequestError, TooSoonError
from truc_server.net.usage_limits import Pace
from truc_server.requests import login
from truc_server.storage import TableOwner
from truc_server.storage.journal import Journal

_REMEMBERED: Final = 1_024  # tables that are remembered as asked for in vain
# After which a client asks again for a table that is between two nodes. The directory believes the store for
# half of it, so that the next answer is a new one.
AGAIN_MS: Final = 1_000


class OwnerDirectory(Protocol):
    """Which node owns a table."""

    async def owner_of(self, code: str) -> TableOwner | None:
        """Return who owns a table, or owned it a moment ago; None if there is no such table.

        Raises:
            StoreError: The store cannot be read.
        """
        ...


class Carrier(Protocol):
    """The links over which clients of this node are brought to others."""

    def carries(self, peer: Peer) -> bool:
        """Tell whether a connection has a link."""
        ...

    def pass_on(self, peer: Peer, message: ClientMessage, code: str) -> bool:
        """Pass a request on over the link by which a connection follows a table; False if it has none."""
        ...

    async def bring(
        self, peer: Peer, player: LoggedInPlayer, message: ClientMessage, place: TableOwner, code: str | None
    ) -> None:
        """Pass a request on to a node, over a link that is opened if there is none.

        Raises:
            RefusedError: The node does not answer, or takes nobody from there now.
        """
        ...

    def ignore(self, peer: Peer, message: Ignore) -> None:
        """Let the nodes to which a connection has links know whom its player ignores, or hears again."""
        ...


class Elsewhere(Protocol):
    """What becomes of a request for what is not here."""

    async def take(self, peer: Peer, message: AnyMessage) -> bool:
        """Take on a request for a table that is not here; False if there is no such table anywhere.

        Raises:
            RefusedError: The table is not to be had now.
        """
        ...

    async def seek(self, peer: Peer, player: LoggedInPlayer, wanted: Seek) -> bool:
        """Take on a search for a seat that nothing here suits; False if nothing is known elsewhere either, or raise as `take`."""
        ...

    def ignore(self, peer: Peer, message: Ignore) -> None:
        """Note, where it matters, that a player ignores somebody, or hears them again."""
        ...


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


class Routes:
    """What becomes of a request of a client of this node: the client is sent to the owner, or the request is."""

    def __init__(
        self,
        node: str,
        public: str,
        lobby: Lobby,
        journal: Journal,
        pace: Pace,
        *,
        sends: bool,
        patience_s: float,
        directory: OwnerDirectory,
        links: Carrier,
    ) -> None:
        self._node = node
        self._public = public
        self._lobby = lobby
        self._journal = journal
        self._pace = pace
        self._sends = sends
        self._directory = directory
        self._links = links
        self._vain_lookups = VainLookups(patience_s)

    async def take(self, peer: Peer, message: AnyMessage) -> bool:
        """Take a request to the node that owns the table it names; False if there is no such table."""
        code, player = code_of(message), peer.player
        if code is None or player is None or not isinstance(message, Request):
            return False
        if self._links.pass_on(peer, message, code):
            return True
        # The directory reads the store: nobody tries codes any faster than they read pages.
        await self._pace.wait_page(peer.network)
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
        is_elsewhere = place.public not in ("", self._public)
        is_sent = self._sends and is_elsewhere and peer.can_move and not self._stays(peer)
        if not (is_sent or place.inner):
            return False
        # A guest who was not stored is unknown there. A goodbye leaves behind that row, as every frame waits
        # for the journal; a link waits for nothing by itself.
        login.store_guest(self._journal, peer)
        if is_sent:
            peer.dismiss(Code.MOVED, f"that is at {place.public}", to=place.public)
            return True
        await self._journal.wait_durable(self._journal.gate)
        await self._links.bring(peer, player, message, place, code)
        return True

    def _stays(self, peer: Peer) -> bool:
        # Decision 25: else a player at tables of two nodes would be sent to and fro for ever.
        return self._links.carries(peer) or self._lobby.follows_any(peer)


class BroughtRequests:
    """What becomes of a request that another node has brought: it goes no further, and who asks must look again."""

    def __init__(self, directory: OwnerDirectory, patience_s: float) -> None:
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

"""What a node needs so that its clients come to the tables of others, and theirs to its own, put together.

Which node owns a table the store says: it is asked in a thread, and believed for a moment. Invariant: nothing is decided by that
but whom to ask; the owner's own word counts.
"""

from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

import trio

from truc_server.cluster.inner_door import InnerDoor, open_inner
from truc_server.cluster.links import Links
from truc_server.house import House
from truc_server.lobby.lobby import Lobby
from truc_server.net.admission import Admission
from truc_server.net.connections import Connections
from truc_server.net.peer import Peer
from truc_server.requests.dispatch import Dispatch
from truc_server.requests.elsewhere import Board, OwnersWord, Routes
from truc_server.storage import TableOwner

BELIEVED_S: Final = 0.5
"""Less than the time after which a client asks again for a table that is between two nodes."""
KEPT: Final = 4_096  # codes, among them those that nobody has


class _Answer(NamedTuple):
    place: TableOwner | None
    until: float


class StoreDirectory:
    """What the store says of the owners of tables; `find` reads it, and blocks."""

    def __init__(self, find: Callable[[str], TableOwner | None]) -> None:
        self._find = find
        self._answers: dict[str, _Answer] = {}  # the newest comes last

    def __len__(self) -> int:
        """How many codes anything is kept about."""
        return len(self._answers)

    async def owner_of(self, code: str) -> TableOwner | None:
        """Return who owns a table, as of a moment ago; None if there is no such table.

        Raises:
            StoreError: The store cannot be read.
        """
        known = self._answers.get(code)
        if known is not None and trio.current_time() < known.until:
            return known.place
        place = await trio.to_thread.run_sync(self._find, code)
        self._answers.pop(code, None)
        self._answers[code] = _Answer(place, trio.current_time() + BELIEVED_S)
        if len(self._answers) > KEPT:
            del self._answers[next(iter(self._answers))]
        return place


_LEAST_S: Final = 15.0
_LEASES: Final = 3
"""In whose time a table that a node left is with another: one until it is free, and another for reading many."""


class Routing:
    """The ways between this node and the others; `public` is where players reach this one, `board` knows the tables of these.

    Attributes:
        routes: what becomes of requests for tables that are not here.
    """

    def __init__(self, house: House, lobby: Lobby, *, public: str, board: Board | None) -> None:
        cluster = house.settings.now.cluster
        self._house = house
        self._lobby = lobby
        self._patience_s = max(_LEAST_S, _LEASES * cluster.lease_s)
        # a node that has not renewed its lease for so long may be gone: nobody is sent there
        spare_ms = cluster.lease_s * 1_000 // 2
        self._directory = StoreDirectory(partial(house.store.find_table, spare_ms=spare_ms))
        self._links = Links(house, cluster.node)
        self.routes = Routes(
            cluster.node,
            public,
            lobby,
            house.journal,
            house.pace,
            sends=cluster.route == "moved",
            patience_s=self._patience_s,
            directory=self._directory,
            links=self._links,
            board=board,
        )

    def leave(self, peer: Peer) -> None:
        """End what a client that is gone has on other nodes."""
        self._links.drop(peer)

    async def open(self, connections: Connections, admission: Admission, tasks: trio.Nursery) -> None:
        """Let clients be brought to other nodes, and let these bring theirs, if the settings say where.

        Raises:
            OSError: That cannot be listened on.
        """
        await tasks.start(self._links.run)
        if inner := self._house.settings.now.cluster.inner:
            listeners = await open_inner(inner)
            word = OwnersWord(self._directory, self._patience_s)
            brought = Dispatch(self._house.means(), self._lobby, admission, word)
            door = InnerDoor(self._house, self._lobby, connections, admission, brought.handle)
            tasks.start_soon(door.run, listeners)

"""The other nodes, as the lobby of one knows them: what they have told, and what they are to be told.

A server without other nodes has none of this, and does nothing for it. Invariant: of players, each of whom counts once however
many nodes they are at, what a node has told is forgotten when it is gone, or another process has come under its name.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator

from truc_server.lobby.names import LentNames
from truc_server.lobby.notes import Notes
from truc_server.lobby.other_tables import OtherTables
from truc_server.net.peer import Player, tag_of
from truc_server.storage import NodePlace
from truc_server.storage.told import ToldPlayer


class OtherPlayers:
    """The players who are connected to other nodes, by tag.

    Attributes:
        house: the tags of the host's own bots that other nodes have started, connected or not.
    """

    def __init__(self, lent: LentNames) -> None:
        self.house: set[str] = set()
        self._house: dict[str, set[str]] = {}  # by node
        self._lent = lent
        self._at: dict[str, dict[str, ToldPlayer]] = {}  # by tag, then by node: who came last comes last
        self._tags: list[str] = []

    def __contains__(self, tag: str) -> bool:
        """Whether a player is connected to another node."""
        return tag in self._at

    def __iter__(self) -> Iterator[str]:
        """Yield the tags of all, ascending."""
        return iter(self._tags)

    def hear(self, node: str, told: ToldPlayer) -> None:
        """Take up what a node tells of a player."""
        tag = tag_of(told.kind, told.player)
        self._drop(node, tag)
        self._note_house(node, tag, is_house=told.is_house)
        if not told.is_here:
            return
        if tag not in self._at:
            insort(self._tags, tag)
        self._at.setdefault(tag, {})[node] = told
        self._lent.add(told.player, told.name)

    def lose(self, node: str) -> None:
        """Forget who is connected to a node that is gone."""
        self._house.pop(node, None)
        self._count_house()
        for tag in [tag for tag, nodes in self._at.items() if node in nodes]:
            self._drop(node, tag)

    def _note_house(self, node: str, tag: str, *, is_house: bool) -> None:
        started = self._house.setdefault(node, set())
        if is_house != (tag in started):
            started ^= {tag}
            self._count_house()

    def _count_house(self) -> None:
        self.house.clear()
        self.house.update(*self._house.values())

    def _drop(self, node: str, tag: str) -> None:
        nodes = self._at.get(tag, {})
        told = nodes.pop(node, None)
        if told is None:
            return
        self._lent.drop(told.player, told.name)
        if not nodes:
            del self._at[tag]
            del self._tags[bisect_left(self._tags, tag)]

    def after(self, tag: str, most: int) -> list[str]:
        """Return the tags after one, ascending, at most so many."""
        first = bisect_right(self._tags, tag)
        return self._tags[first : first + most]

    def player(self, tag: str) -> Player | None:
        """Return a player by their tag, under the name they have where they came last."""
        nodes = self._at.get(tag)
        if not nodes:
            return None
        told = nodes[next(reversed(nodes))]
        return Player(told.kind, told.player, told.name)

    def named(self, meant: str) -> str | None:
        """Return the tag of whoever has this tag or name."""
        for tag, nodes in self._at.items():
            if meant == tag or any(told.name == meant for told in nodes.values()):
                return tag
        return None


class Others:
    """The other nodes.

    Attributes:
        notes: what they are to be told.
        lent: the names that players have there.
        tables: what they have told of their tables.
        players: who is connected to them.
        places: where each is that does not drain.
    """

    def __init__(self) -> None:
        self.notes = Notes()
        self.lent = LentNames()
        self.tables = OtherTables(self.lent)
        self.players = OtherPlayers(self.lent)
        self.places = dict[str, NodePlace]()

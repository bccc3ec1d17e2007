"""What nodes of one database tell each other, as values: public tables, who is connected, limits, what is said.

None of it is for good, and nothing that must not be lost depends on it: the tables themselves are in the log. What is told
is a moment old when it is heard. Invariant: of a private table no notice is told.
"""

from enum import StrEnum
from typing import NamedTuple

from truc_server.storage import NodePlace, PlayerKind


class SeatNews(NamedTuple):
    """Who has a seat, and under which name."""

    player: bytes
    name: str


class TableNews(NamedTuple):
    """A table as its owner tells it, or why it is gone.

    Attributes:
        notice: the encoded message `table` that everybody may see; None if the table is private, or gone.
        network: where it was made; None if that is not known any more.
        is_playing: whether a match is played as far as everybody may know.
        is_behind: whether who sits there is known to those who watch only later.
        ago_ms: how long before it was heard it was told.
    """

    code: str
    reason: str | None = None
    notice: bytes | None = None
    creator: bytes = b""
    network: str | None = None
    created_ms: int = 0
    is_playing: bool = False
    is_behind: bool = False
    seats: tuple[SeatNews, ...] = ()
    ago_ms: int = 0


class PlayerNews(NamedTuple):
    """A player who is connected to a node, or is not any more; `is_house` tells that it is a bot that this node has started."""

    player: bytes
    kind: PlayerKind
    name: str
    is_house: bool
    is_here: bool


class CrowdNews(NamedTuple):
    """How many connections of a network a node has; and how many came, and how many logins failed, since it began to count."""

    network: str
    connections: int
    came: int
    failed: int


class LineKind(StrEnum):
    """What a line is: chat of the lobby, words of the host, something about a player wherever they are, a call to bots."""

    CHAT = "chat"
    HOST = "host"
    KICK = "kick"
    IGNORE = "ignore"
    HEAR = "hear"
    FORGET = "forget"
    CALL = "call"


class LineNews(NamedTuple):
    """What was said or done once, by or to a player; `tag` is of whom; `serial` tells it apart from others of the node."""

    serial: int
    what: LineKind
    kind: PlayerKind = PlayerKind.KEY
    player: bytes = b""
    tag: str = ""
    name: str = ""
    text: str = ""


class Bulletin(NamedTuple):
    """What has changed at a node since it last told."""

    tables: tuple[TableNews, ...] = ()
    players: tuple[PlayerNews, ...] = ()
    crowds: tuple[CrowdNews, ...] = ()
    lines: tuple[LineNews, ...] = ()


class BulletinMark(NamedTuple):
    """How far a node has told, or is known to have: the number of its newest bulletin, and the claim it came under."""

    claimed: int
    n: int


class NodeNews(NamedTuple):
    """A node that may write now, how far it has told, and what of that is new; one that drains gives its tables away."""

    node: str
    place: NodePlace
    is_draining: bool
    mark: BulletinMark
    bulletin: Bulletin

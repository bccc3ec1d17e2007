"""The other nodes, as the lobby of one knows them: their tables and players, as told a moment ago, and what they are to be told.

A server without other nodes has heard of nothing, and notes nothing for them. What was told is good enough for lists, counts and limits; nothing that
must hold is decided by it: whoever wants a seat asks the owner. Of a table and of a player only the newest state
counts, so each is noted once, however often it changes; lines are all kept, what players say up to a limit. Deliberately not here: when
it is told (cluster/bulletin_exchange.py). Invariants: this node's own tables are never among these; a player counts once, at
however many nodes they are; what a node has told of players is forgotten when it is gone, or when another process has
taken its name; what was taken and could not be told is noted again, without replacing anything newer.
"""

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from itertools import count
from types import MappingProxyType
from typing import Final, NamedTuple

import structlog
import trio
from msgspec.structs import replace

from truc_protocol.codec import sha256
from truc_protocol.documents import rule_document
from truc_protocol.errors import RemoteError
from truc_protocol.messages import Seek, TableClosed, TableState
from truc_protocol.messages.table import Direction
from truc_protocol.setup import Opts
from truc_protocol.wire.encoding import decode, encode
from truc_server.lobby.names import LentNames
from truc_server.lobby.seeking import SeatOffer, best_first
from truc_server.lobby.table_limits import uncount
from truc_server.net.peer import LoggedInPlayer, tag_of
from truc_server.storage import NodePlace, PlayerKind
from truc_server.storage.node_news import LineKind, LineNews, PlayerNews, SeatNews, TableNews
from truc_server.table_data.board import SEATS_MAY_CHANGE
from truc_server.table_data.options import ChosenGame
from truc_server.tables.table import Table

# That wait while the database takes nothing; what is said then is told here alone.
MOST_LINES: Final = 1_000
# Kept however many wait, as what players say must not keep anybody from being kicked or forgotten. They are
# few: a moderator's, or behind a write, of which the journal takes only so many.
_KEPT: Final = (LineKind.FORGET, LineKind.HOST, LineKind.KICK)
_NONE: Final[Mapping[str, SeatNews]] = MappingProxyType({})

log = structlog.get_logger()


class OtherTable(NamedTuple):
    """A public table of another node: as it was told, and as everybody may see it, as of a moment of Trio's clock."""

    node: str
    told: TableNews
    state: TableState
    since: float

    @property
    def code(self) -> str:
        """The table's code."""
        return self.told.code

    def notice(self) -> TableState:
        """Return the state with its times as they are by now."""
        state = self.state
        passed_ms = max(0, round((trio.current_time() - self.since) * 1_000))
        expires_ms = None if state.expires_ms is None else max(0, state.expires_ms - passed_ms)
        age_ms = None if state.age_ms is None else state.age_ms + passed_ms
        return replace(state, expires_ms=expires_ms, age_ms=age_ms)


class OtherTables:
    """Every table of the other nodes, and what follows from them all.

    Attributes:
        playing: at how many a match is played.
        made_by: how many each player has made.
        made_from: how many were made from each network.
    """

    def __init__(self, lent: LentNames) -> None:
        self.playing = 0
        self.made_by = Counter[bytes]()
        self.made_from = Counter[str]()
        self._lent = lent
        self._told: dict[str, TableNews] = {}
        self._shown: dict[str, OtherTable] = {}  # the public ones
        self._public: list[str] = []  # their codes, ascending
        self._seats: dict[bytes, dict[str, SeatNews]] = {}

    def __len__(self) -> int:
        """How many there are, private ones included."""
        return len(self._told)

    def __contains__(self, code: str) -> bool:
        """Whether a table is one of them."""
        return code in self._told

    def after(self, code: str) -> Iterator[OtherTable]:
        """Yield the public tables after a code, ascending."""
        return map(self._shown.__getitem__, self._public[bisect_right(self._public, code) :])

    def hear(self, node: str, told: TableNews) -> OtherTable | TableClosed | None:
        """Take up what a node tells of a table; return what those who follow the lobby are to know of it."""
        was_shown = told.code in self._shown
        self.drop(told.code)
        if told.reason is not None:
            return TableClosed(table=told.code, reason=told.reason) if was_shown else None
        # Counted even if its state cannot be read: limits are the same for nodes of two versions.
        self._add(told)
        if (state := _state(told)) is None:
            return None
        insort(self._public, told.code)
        # Its times are those of the bulletin, which may be old when this node begins and reads it.
        table = OtherTable(node, told, state, trio.current_time() - told.ago_ms / 1_000)
        self._shown[told.code] = table
        return table

    def _add(self, told: TableNews) -> None:
        self._told[told.code] = told
        self.playing += told.is_playing
        self.made_by[told.creator] += 1
        if told.network is not None:
            self.made_from[told.network] += 1
        for held in told.seats:
            self._seats.setdefault(held.player, {})[told.code] = held
            self._lent.add(held.player, held.name)

    def drop(self, code: str) -> TableNews | None:
        """Forget a table, as it is gone or is this node's own by now; return it as it was told."""
        told = self._told.pop(code, None)
        if told is None:
            return None
        self.playing -= told.is_playing
        uncount(self.made_by, told.creator)
        if told.network is not None:
            uncount(self.made_from, told.network)
        for held in told.seats:
            self._unseat(held.player, code)
            self._lent.drop(held.player, held.name)
        if self._shown.pop(code, None) is not None:
            del self._public[bisect_left(self._public, code)]
        return told

    def _unseat(self, player: bytes, code: str) -> None:
        seats = self._seats[player]
        del seats[code]
        if not seats:
            del self._seats[player]

    def count_seats(self, player: bytes) -> int:
        """Return how many seats a player has at other nodes."""
        return len(self._seats.get(player, _NONE))

    def seated_at(self, code: str) -> frozenset[bytes]:
        """Return who has a seat at a table."""
        told = self._told.get(code)
        return frozenset() if told is None else frozenset(held.player for held in told.seats)

    def public_tables_of(self, player: bytes) -> tuple[str, ...]:
        """Return the codes of the public tables where a player sits as far as everybody may know."""
        held = self._seats.get(player, _NONE)
        return tuple(code for code in held if code in self._shown and not self._told[code].is_behind)

    def suitable(
        self,
        player: LoggedInPlayer,
        wanted: Seek,
        choose: Callable[[int], ChosenGame],
        *,
        nodes: Container[str],
    ) -> OtherTable | None:
        """Return the table of one of these nodes that a player may be given, the best by the order of the lobby.

        `choose` tells which game is meant with so many seats.
        """
        found = (table for table in self._shown.values() if table.node in nodes)
        may_be = (table for table in found if _may_be_meant(table.state, wanted))
        ranked = best_first(may_be, lambda table: _offer(table, player))
        # The rules come last, one table at a time, as they are hashed for it. The owner decides anyway.
        return next((table for table in ranked if _is_same(table.state, choose(table.state.n))), None)


def _may_be_meant(state: TableState, wanted: Seek) -> bool:
    same_game = state.variant == wanted.variant and state.options == wanted.options
    return same_game and wanted.seats in (None, state.n) and state.state in SEATS_MAY_CHANGE


def _is_same(state: TableState, chosen: ChosenGame) -> bool:
    # By their rules and not by their name: each node reads house variants from a folder of its own.
    rules = sha256(rule_document(chosen.variant))
    ours = (rules, tuple(chosen.opts), chosen.transcript, chosen.claim, chosen.mode)
    return ours == (state.rules, tuple(state.opts), state.transcript, state.claim, state.mode)


def _offer(table: OtherTable, player: LoggedInPlayer) -> SeatOffer:
    state, kinds = table.state, [seat.kind for seat in table.state.seats]
    return SeatOffer(
        is_own=any(seat.player == player.tag for seat in state.seats),
        is_admitted=player.kind is PlayerKind.KEY or kinds.count("guest") < Opts(*state.opts).guests,
        free=kinds.count("empty"),
        online=sum(bool(seat.online) for seat in state.seats),
        created_ms=table.told.created_ms,
    )


def _state(told: TableNews) -> TableState | None:
    """Return what everybody may see of a table; None if another version tells of it in a form unknown here."""
    if told.notice is None:
        return None
    try:
        state = decode(told.notice, Direction.TO_CLIENT)
    except RemoteError as error:
        log.warning("table_not_understood", table=told.code, reason=str(error))
        return None
    return state if isinstance(state, TableState) else None


class BulletinDraft(NamedTuple):
    """What has changed since the last one: tables by code, with the reason of those that are gone; players by id; lines."""

    tables: dict[str, str | None]
    players: dict[bytes, LoggedInPlayer]
    lines: tuple[LineNews, ...]


class UntoldChanges:
    """What has changed and is to be told; nothing is noted where nobody `is_told`.

    Attributes:
        woken: set when there is something.
    """

    def __init__(self, *, is_told: bool) -> None:
        self._is_told = is_told
        self._serials = count(1)
        self._empty()

    def _empty(self) -> None:
        self._tables: dict[str, str | None] = {}
        self._players: dict[bytes, LoggedInPlayer] = {}
        self._lines: list[LineNews] = []
        self.woken = trio.Event()

    def note_table(self, code: str, reason: str | None = None) -> None:
        """Note that a table has changed, or is gone for a reason."""
        if self._is_told:
            self._tables[code] = reason
            self.woken.set()

    def note_player(self, player: LoggedInPlayer) -> None:
        """Note that somebody has come, gone or changed their name."""
        if self._is_told:
            self._players[player.id] = player
            self.woken.set()

    def note_line(
        self,
        what: LineKind,
        player: LoggedInPlayer | None = None,
        *,
        tag: str = "",
        name: str = "",
        text: str = "",
    ) -> None:
        """Note what was said, or done by a player or to them, wherever they are."""
        if self._is_told and (what in _KEPT or len(self._lines) < MOST_LINES):
            line = LineNews(next(self._serials), what, tag=tag, name=name, text=text)
            whose = line if player is None else line._replace(kind=player.kind, player=player.id)
            self._lines.append(whose)
            self.woken.set()

    def take(self) -> BulletinDraft:
        """Return what has changed, and start collecting again."""
        draft = BulletinDraft(self._tables, self._players, tuple(self._lines))
        self._empty()
        return draft

    def put_back(self, draft: BulletinDraft) -> None:
        """Take back what could not be told, to tell it later."""
        # What was noted meanwhile is newer, and replaces it.
        self._tables = {**draft.tables, **self._tables}
        self._players = {**draft.players, **self._players}
        self._lines = [*draft.lines, *self._lines]
        self.woken.set()


def table_news(table: Table, network: str | None) -> TableNews:
    """Return a table as other nodes may know it; `network` is where it was made."""
    blueprint, board, feed = table.blueprint, table.board, table.feed
    seats = tuple(
        SeatNews(seated.player.id, seated.player.name) for seated in board.seats if seated is not None
    )
    return TableNews(
        table.code,
        notice=None if blueprint.private else encode(feed.shown_notice()),
        creator=blueprint.creator,
        network=network,
        created_ms=blueprint.created_ms,
        is_playing=feed.is_seen_playing,
        is_behind=feed.is_behind,
        seats=seats,
    )


class OtherPlayers:
    """The players who are connected to other nodes, by tag."""

    def __init__(self, lent: LentNames) -> None:
        self._house_bots: dict[str, set[str]] = {}  # by node
        self._lent = lent
        self._at: dict[str, dict[str, PlayerNews]] = {}  # by tag, then by node: who came last comes last
        self._tags: list[str] = []

    def __contains__(self, tag: str) -> bool:
        """Whether a player is connected to another node."""
        return tag in self._at

    def __iter__(self) -> Iterator[str]:
        """Yield the tags of all, ascending."""
        return iter(self._tags)

    def hear(self, node: str, told: PlayerNews) -> None:
        """Take up what a node tells of a player."""
        tag = tag_of(told.kind, told.player)
        # Dropped and put in anew, so that the node where a player came last is the last.
        self._drop(node, tag)
        self._note_house(node, tag, is_house=told.is_house)
        if not told.is_here:
            return
        if tag not in self._at:
            insort(self._tags, tag)
        self._at.setdefault(tag, {})[node] = told
        self._lent.add(told.player, told.name)

    def forget_node(self, node: str) -> None:
        """Forget who is connected to a node that is gone."""
        self._house_bots.pop(node, None)
        for tag in [tag for tag, nodes in self._at.items() if node in nodes]:
            self._drop(node, tag)

    def _note_house(self, node: str, tag: str, *, is_house: bool) -> None:
        started = self._house_bots.setdefault(node, set())
        if is_house:
            started.add(tag)
        else:
            started.discard(tag)

    @property
    def house_bots(self) -> frozenset[str]:
        """The tags of the host's own bots that other nodes have started, connected or not."""
        return frozenset().union(*self._house_bots.values())

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

    def player(self, tag: str) -> LoggedInPlayer | None:
        """Return a player by their tag, under the name they have where they came last."""
        nodes = self._at.get(tag)
        if not nodes:
            return None
        told = nodes[next(reversed(nodes))]
        return LoggedInPlayer(told.kind, told.player, told.name)

    def find_tag(self, meant: str) -> str | None:
        """Return the tag of whoever has this tag or name."""
        for tag, nodes in self._at.items():
            if meant == tag or any(told.name == meant for told in nodes.values()):
                return tag
        return None


class OtherNodes:
    """The other nodes; where this server `is_node` of none there is nothing in it.

    Attributes:
        untold: what they are to be told.
        lent: the names that players have there.
        tables: what they have told of their tables.
        players: who is connected to them.
        places: where each is that does not drain.
    """

    def __init__(self, *, is_node: bool) -> None:
        self.untold = UntoldChanges(is_told=is_node)
        self.lent = LentNames()
        self.tables = OtherTables(self.lent)
        self.players = OtherPlayers(self.lent)
        self.places = dict[str, NodePlace]()

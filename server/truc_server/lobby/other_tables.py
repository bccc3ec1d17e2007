"""The tables of other nodes, as these have told them a moment ago.

Good for lists, counts and limits; nothing that must hold is decided by it: whoever wants a seat asks the owner. A server
without other nodes knows of none. Invariant: a table that is this node's own is none of these.
"""

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
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
from truc_protocol.wire.encoding import decode
from truc_server.lobby.names import LentNames
from truc_server.lobby.seeking import Fit
from truc_server.lobby.table_limits import uncount
from truc_server.net.peer import Player
from truc_server.storage import PlayerKind
from truc_server.storage.told import ToldSeat, ToldTable
from truc_server.table_data.board import SEATS_MAY_CHANGE
from truc_server.table_data.options import ChosenGame

_NONE: Final[Mapping[str, ToldSeat]] = MappingProxyType({})

log = structlog.get_logger()


class OtherTable(NamedTuple):
    """A public table of another node: as it was told, and as everybody may see it, as of a moment of Trio's clock."""

    node: str
    told: ToldTable
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
        self._told: dict[str, ToldTable] = {}
        self._shown: dict[str, OtherTable] = {}  # the public ones
        self._public: list[str] = []  # their codes, ascending
        self._seats: dict[bytes, dict[str, ToldSeat]] = {}

    def __len__(self) -> int:
        """How many there are, private ones included."""
        return len(self._told)

    def __contains__(self, code: str) -> bool:
        """Whether a table is one of them."""
        return code in self._told

    def after(self, code: str) -> Iterator[OtherTable]:
        """Yield the public tables after a code, ascending."""
        return map(self._shown.__getitem__, self._public[bisect_right(self._public, code) :])

    def hear(self, node: str, told: ToldTable) -> OtherTable | TableClosed | None:
        """Take up what a node tells of a table; return what those who follow the lobby are to know of it."""
        was_shown = told.code in self._shown
        self.drop(told.code)
        if told.reason is not None:
            return TableClosed(table=told.code, reason=told.reason) if was_shown else None
        self._add(told)
        if (state := _state(told)) is None:
            return None
        insort(self._public, told.code)
        table = OtherTable(node, told, state, trio.current_time() - told.ago_ms / 1_000)
        self._shown[told.code] = table
        return table

    def _add(self, told: ToldTable) -> None:
        self._told[told.code] = told
        self.playing += told.is_playing
        self.made_by[told.creator] += 1
        if told.network is not None:
            self.made_from[told.network] += 1
        for held in told.seats:
            self._seats.setdefault(held.player, {})[told.code] = held
            self._lent.add(held.player, held.name)

    def drop(self, code: str) -> ToldTable | None:
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
        self, player: Player, wanted: Seek, choose: Callable[[int], ChosenGame], *, nodes: Container[str]
    ) -> OtherTable | None:
        """Return the table of one of these nodes that a player may be given, the best by the order of the lobby.

        `choose` tells which game is meant with so many seats.
        """
        found = (table for table in self._shown.values() if table.node in nodes)
        may_be = (
            table for table in found if _may_be_meant(table.state, wanted) and _has_room(table.state, player)
        )
        best_first = sorted(may_be, key=lambda table: _fit(table, player))
        return next((table for table in best_first if _is_same(table.state, choose(table.state.n))), None)


def _may_be_meant(state: TableState, wanted: Seek) -> bool:
    same_game = state.variant == wanted.variant and state.options == wanted.options
    return same_game and wanted.seats in (None, state.n) and state.state in SEATS_MAY_CHANGE


def _has_room(state: TableState, player: Player) -> bool:
    if any(seat.player == player.tag for seat in state.seats):
        return True
    guests = sum(seat.kind == "guest" for seat in state.seats)
    is_free = any(seat.kind == "empty" for seat in state.seats)
    admits = player.kind is PlayerKind.KEY or guests < Opts(*state.opts).guests
    return is_free and admits and any(seat.online for seat in state.seats)


def _is_same(state: TableState, chosen: ChosenGame) -> bool:
    rules = sha256(rule_document(chosen.variant))
    ours = (rules, tuple(chosen.opts), chosen.transcript, chosen.claim, chosen.mode)
    return ours == (state.rules, tuple(state.opts), state.transcript, state.claim, state.mode)


def _fit(table: OtherTable, player: Player) -> Fit:
    state = table.state
    return Fit.of(
        is_own=any(seat.player == player.tag for seat in state.seats),
        free=sum(seat.kind == "empty" for seat in state.seats),
        online=sum(bool(seat.online) for seat in state.seats),
        created_ms=table.told.created_ms,
    )


def _state(told: ToldTable) -> TableState | None:
    """Return what everybody may see of a table; nothing of one that a node of another version tells in a way not known here."""
    if told.notice is None:
        return None
    try:
        state = decode(told.notice, Direction.TO_CLIENT)
    except RemoteError as error:
        log.warning("table_not_understood", table=told.code, reason=str(error))
        return None
    return state if isinstance(state, TableState) else None

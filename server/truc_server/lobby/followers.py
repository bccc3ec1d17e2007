"""Who follows the lobby, and what they are told: its figures, public tables as they change, what is said.

Each notice is encoded once for everybody. Changes are told a little later, and of each table only its newest state. One
alarm serves all tables, those of other nodes too, and tells only as many at once as fit into everybody's outbox.
Invariant: of a private table nothing is told here except that it counts.
"""

from collections.abc import Callable
from typing import Final, assert_never

import trio

from truc_protocol.messages import ChatLine, LobbyState, ServerMessage, TableClosed
from truc_protocol.wire.connection import broadcast_frame
from truc_server.lobby.other_nodes import OtherTable
from truc_server.net.peer import Peer
from truc_server.tables.table import Table
from truc_server.timing.clock import Alarm, Timers

# lobby.md, "Following the lobby", has all three.
BETWEEN_S: Final = 0.5  # between two notices of one table
# Bytes, or up to one notice more; the rest waits for the next time. Half of the least that
# `limits.outbox_bytes` can be, so that news of the lobby alone cuts nobody.
AT_ONCE: Final = 32_768
STATE_S: Final = 1.0  # between two notices of the lobby's figures


class LobbyFollowers:
    """The connections that follow the lobby, and what they are still to be told."""

    def __init__(self, timers: Timers, state: Callable[[], LobbyState]) -> None:
        self._state = state
        self._peers: set[Peer] = set()
        # The one that has waited longest comes first.
        self._changed: dict[str, Table | OtherTable | TableClosed] = {}
        self._tables_told = self._state_told = -STATE_S
        self._last: LobbyState | None = None
        self._tables_alarm = Alarm(timers, self._tell_tables)
        self._state_alarm = Alarm(timers, self._tell_state)

    def __contains__(self, peer: Peer) -> bool:
        return peer in self._peers

    def add(self, peer: Peer) -> None:
        """Let a connection follow; it is told the lobby's figures at once."""
        self._peers.add(peer)
        # The others may have been told another state: the next one is news to somebody.
        self._last = None
        peer.send(self._state())

    def drop(self, peer: Peer) -> None:
        """Let a connection follow no longer."""
        self._peers.discard(peer)
        if not self._peers:
            self._changed.clear()

    def note_table(self, table: Table, closed: TableClosed | None = None) -> None:
        """Note that a table has changed, or is gone."""
        if not table.blueprint.private:
            self.note_public(table.code, closed or table)
        self.note_state()

    def note_public(self, code: str, change: Table | OtherTable | TableClosed) -> None:
        """Note that a public table, here or at another node, has changed or is gone."""
        if self._peers:
            self._changed[code] = change
            self._tables_alarm.set(max(trio.current_time(), self._tables_told + BETWEEN_S))

    def note_state(self) -> None:
        """Note that somebody has come or gone."""
        if self._peers:
            self._state_alarm.set(max(trio.current_time(), self._state_told + STATE_S))

    def tell(self, line: ChatLine) -> None:
        """Pass on what somebody says, except to those who ignore them."""
        frame = broadcast_frame(line)
        for peer in tuple(self._peers):
            if line.player not in peer.ignored:
                peer.send_frame(frame)

    def _tell_tables(self) -> None:
        self._tables_told, told = trio.current_time(), 0
        while self._changed and told < AT_ONCE:
            told += self._tell_change(self._changed.pop(next(iter(self._changed))))
        if self._changed:
            self._tables_alarm.set(self._tables_told + BETWEEN_S)

    def _tell_change(self, change: Table | OtherTable | TableClosed) -> int:
        """Tell how a table stands, except to those who follow it, whom the table tells; return the notice's length."""
        match change:
            case TableClosed():
                return self._tell(change, tuple(self._peers))
            case Table():
                others = tuple(peer for peer in self._peers if not change.audience.is_following(peer))
                return self._tell(change.feed.shown_notice(), others)
            case OtherTable(told=told):
                others = tuple(peer for peer in self._peers if told.code not in peer.brought)
                return self._tell(change.notice(), others)
            case _:
                assert_never(change)

    def _tell_state(self) -> None:
        state = self._state()
        if state != self._last:
            self._state_told = trio.current_time()
            self._last = state
            self._tell(state, tuple(self._peers))

    def _tell(self, message: ServerMessage, peers: tuple[Peer, ...]) -> int:
        """Send a notice to all of these; return its length."""
        frame = broadcast_frame(message)
        for peer in peers:
            peer.send_frame(frame)
        return len(frame)

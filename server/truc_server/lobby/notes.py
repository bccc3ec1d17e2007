"""What other nodes are to be told of this one: noted as it changes, taken together now and then.

Of a table and of a player only the newest state counts, so each is noted once however often it changes; lines are all kept,
up to a number. Deliberately not here: when it is told (cluster/telling.py).
Invariant: what was taken and could not be told is noted again, without replacing what is newer.
"""

from itertools import count
from typing import Final, NamedTuple

import trio

from truc_protocol.wire.encoding import encode
from truc_server.net.peer import Player
from truc_server.storage.told import Said, ToldLine, ToldSeat, ToldTable
from truc_server.tables.table import Table

MOST_LINES: Final = 1_000  # that wait; what is said then is told here alone


class Draft(NamedTuple):
    """What has changed since the last one: tables by code, with the reason of those that are gone; players by id; lines."""

    tables: dict[str, str | None]
    players: dict[bytes, Player]
    lines: tuple[ToldLine, ...]


class Notes:
    """What has changed and is to be told.

    Attributes:
        woken: set when there is something.
    """

    def __init__(self) -> None:
        self._serials = count(1)
        self._empty()

    def _empty(self) -> None:
        self._tables: dict[str, str | None] = {}
        self._players: dict[bytes, Player] = {}
        self._lines: list[ToldLine] = []
        self.woken = trio.Event()

    def table(self, code: str, reason: str | None = None) -> None:
        """Note that a table has changed, or is gone for a reason."""
        self._tables[code] = reason
        self.woken.set()

    def player(self, player: Player) -> None:
        """Note that somebody has come, gone or changed their name."""
        self._players[player.id] = player
        self.woken.set()

    def say(
        self, what: Said, player: Player | None = None, *, tag: str = "", name: str = "", text: str = ""
    ) -> None:
        """Note what was said, or done by a player or to them, wherever they are."""
        if len(self._lines) < MOST_LINES:
            line = ToldLine(next(self._serials), what, tag=tag, name=name, text=text)
            whose = line if player is None else line._replace(kind=player.kind, player=player.id)
            self._lines.append(whose)
            self.woken.set()

    def take(self) -> Draft:
        """Return what has changed, and note anew from now on."""
        draft = Draft(self._tables, self._players, tuple(self._lines))
        self._empty()
        return draft

    def put_back(self, draft: Draft) -> None:
        """Note what could not be told."""
        self._tables = {**draft.tables, **self._tables}
        self._players = {**draft.players, **self._players}
        self._lines = [*draft.lines, *self._lines]
        self.woken.set()


def told(table: Table, network: str | None) -> ToldTable:
    """Return a table as other nodes may know it; `network` is where it was made."""
    made, board, feed = table.made, table.board, table.feed
    seats = tuple(
        ToldSeat(seated.player.id, seated.player.name) for seated in board.seats if seated is not None
    )
    return ToldTable(
        table.code,
        notice=None if made.private else encode(feed.shown_notice()),
        creator=made.creator,
        network=network,
        created_ms=made.created_ms,
        is_playing=feed.is_seen_playing,
        is_behind=feed.is_behind,
        seats=seats,
    )

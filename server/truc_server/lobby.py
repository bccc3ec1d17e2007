"""The lobby: every table, and which tables a player sits at.

Synchronous. Invariant: the indexes here follow from the tables; nothing is kept in them alone.
"""

from bisect import bisect_right, insort
from collections import Counter
from secrets import choice
from typing import Final, NamedTuple

import structlog

from truc_protocol.errors import Code
from truc_protocol.messages import Create, SeatHeld
from truc_protocol.records import Record
from truc_protocol.setup import Opts
from truc_server.game import Game
from truc_server.house import PUBLIC_CODE, House, label, now_ms
from truc_server.options import choose, played
from truc_server.peer import Peer, Player, RefusedError
from truc_server.seats import Made
from truc_server.signed import Accepted
from truc_server.table import Table

PAGE: Final = 24  # tables in one answer; far below the longest frame
_ALPHABET: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_PRIVATE_LENGTH: Final = 16  # 80 bits: the code is the invite

log = structlog.get_logger()


class Page(NamedTuple):
    """Some tables, and whether there are more."""

    tables: tuple[Table, ...]
    more: bool


class Lobby:
    """All tables of the server."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._defaults = Opts(*house.settings.match.opts())
        self._tables: dict[str, Table] = {}
        self._public: list[str] = []
        self._seats: dict[bytes, dict[str, int]] = {}
        self._made_by: Counter[bytes] = Counter()

    def table(self, code: str) -> Table:
        """Return a table by its code.

        Raises:
            RefusedError: There is none.
        """
        table = self._tables.get(code.upper())
        if table is None:
            raise RefusedError(
                Code.NO_SUCH_TABLE, f"expected the code of a table, got {code!r}", field="table"
            )
        return table

    def create(self, player: Player, wanted: Create) -> Table:
        """Make a table with its creator on a seat.

        Raises:
            RefusedError: Too many tables, no such game, or options that do not fit.
        """
        game = played(self._house.catalogue, wanted.variant)
        chosen, seats = choose(game, wanted.seats, wanted.options, self._defaults)
        self._check_room(player)
        code = self._fresh_code(_PRIVATE_LENGTH if wanted.private else PUBLIC_CODE)
        made = Made(code, chosen, seats, dict(wanted.options), wanted.private, player.id, now_ms())
        table = Table(self._house, made, self.forget)
        self._house.write(table.row())
        self.add(table)
        try:
            self.join(table, player, wanted.seat)
        except RefusedError:
            table.close("empty")
            raise
        log.info("table_created", table=label(code), variant=wanted.variant, seats=seats)
        return table

    def _check_room(self, player: Player) -> None:
        limits = self._house.settings.limits
        if len(self._tables) >= limits.tables:
            raise RefusedError(Code.TOO_MANY_TABLES, f"the server has {limits.tables} tables, its most")
        if self._made_by[player.id] >= limits.tables_per_player:
            message = f"expected at most {limits.tables_per_player} open tables of one player"
            raise RefusedError(Code.TOO_MANY_TABLES, message)

    def _fresh_code(self, length: int) -> str:
        while True:
            code = "".join(choice(_ALPHABET) for _ in range(length))
            if code not in self._tables:
                return code

    def add(self, table: Table) -> None:
        """Take a table into the lobby, as it is; its time runs from now on."""
        self._tables[table.code] = table
        self._made_by[table.made.creator] += 1
        if not table.made.private:
            insort(self._public, table.code)
        for seat, seated in enumerate(table.seats):
            if seated is not None:
                self._seats.setdefault(seated.player.id, {})[table.code] = seat
        table.keep()

    def forget(self, table: Table) -> None:
        """Take a table that is closed, or cannot go on, out of the lobby."""
        del self._tables[table.code]
        self._made_by[table.made.creator] -= 1
        if not table.made.private:
            self._public.remove(table.code)
        for seated in table.seats:
            if seated is not None:
                self._unseat(table, seated.player)

    def _unseat(self, table: Table, player: Player) -> None:
        held = self._seats.get(player.id, {})
        held.pop(table.code, None)
        if not held:
            self._seats.pop(player.id, None)

    def join(self, table: Table, player: Player, seat: int | None) -> int:
        """Seat a player and return the seat.

        Raises:
            RefusedError: The table does not allow it.
        """
        taken = table.join(player, seat)
        self._seats.setdefault(player.id, {})[table.code] = taken
        return taken

    def substitute(self, table: Table, game: Game, peer: Peer, player: Player, record: Record) -> Accepted:
        """Let a player who stands by take the seat over.

        Raises:
            RefusedError: The record is not taken.
        """
        seat = table.standins.own_seat(peer)
        accepted, left = table.substitute(game, peer, player, record)
        if left is not None:
            self._unseat(table, left.player)
        self._seats.setdefault(player.id, {})[table.code] = seat
        return accepted

    def leave(self, table: Table, player: Player) -> None:
        """Unseat a player; a table that everybody has left is closed.

        Raises:
            RefusedError: The table does not allow it.
        """
        table.leave(player)
        self._unseat(table, player)

    def page(self, *, variant: str | None, after: str) -> Page:
        """Return the public tables after a code, ascending."""
        first = bisect_right(self._public, after.upper())
        found: list[Table] = []
        for code in self._public[first:]:
            table = self._tables[code]
            if variant in (None, table.made.chosen.variant.name):
                found.append(table)
            if len(found) > PAGE:
                return Page(tuple(found[:PAGE]), more=True)
        return Page(tuple(found), more=False)

    def seats_of(self, player: Player) -> tuple[SeatHeld, ...]:
        """Return every seat of a player."""
        held = self._seats.get(player.id, {})
        return tuple(
            SeatHeld(table=code, match=self._tables[code].match_of(seat), seat=seat)
            for code, seat in sorted(held.items())
        )

    def leave_all(self, peer: Peer) -> None:
        """Forget a connection that has ended, and tell the tables it followed."""
        for code in sorted(peer.tables):
            table = self._tables.get(code)
            if table is not None:
                table.drop(peer)

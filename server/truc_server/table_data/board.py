"""How one table stands: who sits there, what is going on, and how both are stored and shown.

Whoever changes a board stores the change before anybody is told; that is not done here.
"""

from collections.abc import Collection, Iterable
from typing import Final

import trio

from truc_protocol.codec import sha256
from truc_protocol.documents import rule_document
from truc_protocol.errors import Code
from truc_protocol.messages import SeatState, TableState
from truc_server.net.peer import Player, RefusedError
from truc_server.storage import PlayerKind, SaveSeat, SaveTable
from truc_server.table_data.seats import Blueprint, Seated, State, seat_row

SEATS_MAY_CHANGE: Final = ("open", "over")


class TableBoard:
    """One table as it stands.

    Attributes:
        made: what never changes about it.
        seats: who sits there.
        state: what is going on.
        match: the match in play, or the last one; None from when the terms of the next one go out.
        vacant: the seats that a substitute may take over now, as has been told.
        expires: the moment of Trio's clock at which it goes, if nobody does anything.
    """

    def __init__(self, made: Blueprint) -> None:
        self.made = made
        self.seats: list[Seated | None] = [None] * made.seats
        self.state: State = "open"
        self.match: bytes | None = None
        self.vacant: tuple[int, ...] = ()
        self.expires = 0.0
        self._document = rule_document(made.chosen.variant)
        self._rules = sha256(self._document)

    def seat_of(self, player: Player) -> int | None:
        """Return the seat of a player."""
        for seat, seated in enumerate(self.seats):
            if seated is not None and seated.player.id == player.id:
                return seat
        return None

    @property
    def is_empty(self) -> bool:
        """Whether nobody sits here."""
        return not any(self.seats)

    @property
    def is_ready(self) -> bool:
        """Whether every seat is taken by somebody who agrees to start."""
        return all(seated and seated.is_ready for seated in self.seats)

    @property
    def may_change(self) -> bool:
        """Whether players may come and go."""
        return self.state in SEATS_MAY_CHANGE

    def check_may_change(self) -> None:
        """Check that players may come and go.

        Raises:
            RefusedError: A match is being set up or played.
        """
        if not self.may_change:
            raise RefusedError(Code.TABLE_NOT_OPEN, f"expected an open table, got one in state {self.state}")

    def unready(self, which: Iterable[int]) -> list[SaveSeat]:
        """Let players agree to nothing any more; return what is stored of that."""
        rows: list[SaveSeat] = []
        for seat in which:
            seated = self.seats[seat]
            if seated is not None:
                self.seats[seat] = Seated(seated.player)
                rows.append(seat_row(self.made.code, seat, Seated(seated.player)))
        return rows

    def row(self, match: bytes | None) -> SaveTable:
        """Return what is stored of the table, with the match that it is in or that is still being shown."""
        made = self.made
        return SaveTable(
            made.code,
            made.chosen.variant.name,
            made.options,
            made.seats,
            made.private,
            made.creator,
            made.created_ms,
            self._document,
            self.state,
            match,
        )

    def notice(self, *, online: Collection[int], watchers: int, age_ms: int) -> TableState:
        """Return the full state of the table, as the seats see it."""
        made = self.made
        return TableState(
            table=made.code,
            variant=made.chosen.variant.name,
            rules=self._rules,
            seats=tuple(self._seat_state(seat, online=seat in online) for seat in range(made.seats)),
            n=made.seats,
            state=self.state,
            match=self.match,
            private=made.private,
            options=dict(made.options),
            opts=tuple(made.chosen.opts),
            policy=made.chosen.variant.reveal,
            mode=made.chosen.mode,
            expires_ms=max(0, int((self.expires - trio.current_time()) * 1000)) if self.may_change else None,
            age_ms=age_ms,
            watchers=watchers,
            transcript=made.chosen.transcript,
            claim=made.chosen.claim,
        )

    def _seat_state(self, seat: int, *, online: bool) -> SeatState:
        seated = self.seats[seat]
        if seated is None:
            return SeatState(seat=seat, kind="empty")
        return SeatState(
            seat=seat,
            kind="key" if seated.player.kind is PlayerKind.KEY else "guest",
            name=seated.player.name,
            player=seated.player.tag,
            ready=seated.is_ready,
            online=online,
            vacant=seat in self.vacant,
        )

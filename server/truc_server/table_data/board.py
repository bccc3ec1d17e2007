"""A table as values: what never changes about it, who sits where, how it stands, and how that is stored and shown.

Whoever changes a board stores the change before anybody is told; that is not done here.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Final, Literal, NamedTuple

import trio

from truc_protocol.codec import sha256
from truc_protocol.crypto.keys import is_admissible_box_key
from truc_protocol.documents import rule_document
from truc_protocol.errors import Code
from truc_protocol.messages import SeatState, Setup, TableState, Terms
from truc_protocol.setup import MatchSetup, MatchTerms
from truc_server.net.peer import LoggedInPlayer, RefusedRequestError, wrong_field
from truc_server.storage import AddPlayer, DropTerms, PlayerKind, SaveMatch, SaveSeat, SaveTable
from truc_server.table_data.options import ChosenGame, ChosenOptions
from truc_server.timing.clock import now_ms

SEATS_MAY_CHANGE: Final = ("open", "over")
TableStage = Literal["open", "terms", "playing", "over"]


class Blueprint(NamedTuple):
    """What never changes about a table."""

    code: str
    chosen: ChosenGame
    seats: int
    options: ChosenOptions
    private: bool
    creator: bytes
    created_ms: int


class Seated(NamedTuple):
    """A taken seat; `x` is a guest's box key for the next match."""

    player: LoggedInPlayer
    is_ready: bool = False
    x: bytes | None = None


class Lineup(NamedTuple):
    """A match as it was set up, and the ids of its guests, by seat: the setup has only their names."""

    setup: MatchSetup
    guests: Mapping[int, bytes]


class TableBoard:
    """One table as it stands.

    Attributes:
        blueprint: what never changes about it.
        seats: who sits there.
        state: what is going on.
        match: the match in play, or the last one; None from when the terms of the next one go out.
        vacant: the seats that a substitute may take over now, as has been told.
        expires: the moment of Trio's clock at which it goes, if nobody does anything.
    """

    def __init__(self, blueprint: Blueprint) -> None:
        self.blueprint = blueprint
        self.seats: list[Seated | None] = [None] * blueprint.seats
        self.state: TableStage = "open"
        self.match: bytes | None = None
        self.vacant: tuple[int, ...] = ()
        self.expires = 0.0
        # once: every state of the table has the hash, and every row the document
        self._document = rule_document(blueprint.chosen.variant)
        self._rules = sha256(self._document)

    def seat_of(self, player: LoggedInPlayer) -> int | None:
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
            raise RefusedRequestError(
                Code.TABLE_NOT_OPEN, f"expected an open table, got one in state {self.state}"
            )

    def free_seat(self, wanted: int | None) -> int:
        """Return the seat for a newcomer.

        Raises:
            RefusedError: It is taken, or every seat is, or there is none of that number.
        """
        free = [i for i, seated in enumerate(self.seats) if seated is None]
        if wanted is not None and wanted >= len(self.seats):
            raise wrong_field("seat", f"0 to {len(self.seats) - 1}, got {wanted}")
        if not free:
            raise RefusedRequestError(Code.TABLE_FULL, f"every seat of table {self.blueprint.code} is taken")
        if wanted is not None and wanted not in free:
            raise RefusedRequestError(Code.SEAT_TAKEN, f"seat {wanted} is taken; free: {free}")
        return free[0] if wanted is None else wanted

    def guests(self) -> dict[int, bytes]:
        """Return the ids of the guests, by seat."""
        return {
            seat: seated.player.id
            for seat, seated in enumerate(self.seats)
            if seated is not None and seated.player.kind is PlayerKind.GUEST
        }

    def admits(self, player: LoggedInPlayer) -> bool:
        """Tell whether one more player of this kind may sit here."""
        return player.kind is PlayerKind.KEY or len(self.guests()) < self.blueprint.chosen.opts.guests

    def check_guest(self, player: LoggedInPlayer) -> None:
        """Check that one more player of this kind may sit here.

        Raises:
            RefusedError: The player is a guest, and the table has as many as it may.
        """
        if not self.admits(player):
            allowed = self.blueprint.chosen.opts.guests
            message = f"guests at this table: at most {allowed}, already {len(self.guests())}"
            raise RefusedRequestError(Code.GUESTS_NOT_ALLOWED, message)

    def check_box_key(self, seat: int, x: bytes | None) -> None:
        """Check that a seat may use this box key in a match.

        Raises:
            RefusedError: It is not sound, or another seat has it.
        """
        others = [seated.x for i, seated in enumerate(self.seats) if seated is not None and i != seat]
        if x is not None and (x in others or not is_admissible_box_key(x)):
            raise wrong_field("x", "a fresh X25519 public key")

    def match_rows(self, setup: MatchSetup) -> tuple[SaveMatch | DropTerms | AddPlayer, ...]:
        """Return what is stored of a match that begins, in place of its terms: the match, and who plays it."""
        code, terms, readers = self.blueprint.code, setup.terms, self.blueprint.chosen.transcript
        match = SaveMatch(setup.mid, code, terms.document, setup.records, terms.th, len(self.seats), readers)
        since_ms = now_ms()
        players = (
            AddPlayer(setup.mid, seat, seated.player.id, seated.player.kind, since_ms)
            for seat, seated in enumerate(self.seats)
            if seated is not None
        )
        return (match, DropTerms(code), *players)

    def unready(self, which: Iterable[int]) -> list[SaveSeat]:
        """Make players no longer ready; return what is stored of that."""
        rows: list[SaveSeat] = []
        for seat in which:
            seated = self.seats[seat]
            if seated is not None:
                # without the box key as well: each match needs a fresh one
                self.seats[seat] = Seated(seated.player)
                rows.append(seat_row(self.blueprint.code, seat, Seated(seated.player)))
        return rows

    def row(self, match: bytes | None) -> SaveTable:
        """Return what is stored of the table, with the match that it is in or that is still being shown."""
        blueprint = self.blueprint
        return SaveTable(
            blueprint.code,
            blueprint.chosen.variant.name,
            blueprint.options,
            blueprint.seats,
            blueprint.private,
            blueprint.creator,
            blueprint.created_ms,
            self._document,
            self.state,
            match,
        )

    def notice(self, *, online: Collection[int], watchers: int, age_ms: int) -> TableState:
        """Return the full state of the table, as the seats see it; `ShownMatch.mask` keeps back what watchers are shown later."""
        blueprint = self.blueprint
        return TableState(
            table=blueprint.code,
            variant=blueprint.chosen.variant.name,
            rules=self._rules,
            seats=tuple(self._seat_state(seat, online=seat in online) for seat in range(blueprint.seats)),
            n=blueprint.seats,
            state=self.state,
            match=self.match,
            private=blueprint.private,
            options=dict(blueprint.options),
            opts=tuple(blueprint.chosen.opts),
            policy=blueprint.chosen.variant.reveal,
            mode=blueprint.chosen.mode,
            expires_ms=max(0, int((self.expires - trio.current_time()) * 1000)) if self.may_change else None,
            age_ms=age_ms,
            watchers=watchers,
            transcript=blueprint.chosen.transcript,
            claim=blueprint.chosen.claim,
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


def seat_row(code: str, seat: int, seated: Seated) -> SaveSeat:
    """Return what is stored of a seat."""
    player = seated.player
    return SaveSeat(code, seat, player.kind, player.id, player.name, seated.is_ready, seated.x)


def terms_message(code: str, terms: MatchTerms) -> Terms:
    """Return the terms of a match as they are sent."""
    return Terms(table=code, record=terms.record, doc=terms.document)


def setup_message(code: str, setup: MatchSetup) -> Setup:
    """Return the setup of a match as it is sent."""
    return Setup(table=code, match=setup.mid, doc=setup.terms.document, records=setup.records)

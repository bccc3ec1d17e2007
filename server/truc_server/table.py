"""A table of the lobby: who sits there, who is ready, and the match they play.

A plain object with synchronous methods. Invariants: every change is in the journal before anybody is told of it; seats
are fixed from the moment terms go out until the match is over.
"""

import time
from collections.abc import Callable
from typing import Final

import structlog
import trio

from truc_protocol.checks import CheckError
from truc_protocol.codec import sha256
from truc_protocol.documents import rule_document
from truc_protocol.errors import Code
from truc_protocol.keys import admissible_box_public, seal_at_rest
from truc_protocol.messages import SeatTakenOver, Setup, TableClosed, TableState, Terms
from truc_protocol.setup import Setup as MatchSetup
from truc_protocol.setup import open_terms
from truc_server.audience import Audience
from truc_server.dealer import Dealer, new_secrets
from truc_server.game import Game
from truc_server.gathering import Gathering, GuestSeat
from truc_server.house import House, label
from truc_server.peer import Peer, Player, RefusedError
from truc_server.seats import Made, Seated, State, seat_row, seat_state, table_row, table_state
from truc_server.store import (
    ClearSeat,
    DropSecrets,
    DropTable,
    PlayerKind,
    SaveMatch,
    SaveSecrets,
    SaveTable,
    Write,
)
from truc_server.talk import Talk
from truc_server.timers import Alarm

LINKS: Final = 1_024  # links of every chain: a match has as many deals at most
SEATS_MAY_CHANGE: Final = ("open", "over")

log = structlog.get_logger()


class Table:
    """One table and everybody at it."""

    def __init__(self, house: House, made: Made, on_close: Callable[["Table"], None]) -> None:
        self.made = made
        self.code = made.code
        self.seats: list[Seated | None] = [None] * made.seats
        self.state: State = "open"
        self.match: bytes | None = None
        self.audience = Audience(made.seats)
        self.talk = Talk(self.audience, made.chosen.variant.phrases)
        self.game: Game | None = None
        self.gathering: Gathering | None = None
        self._house = house
        self._on_close = on_close
        self._document = rule_document(made.chosen.variant)
        self._rules = sha256(self._document)
        self._expiry = Alarm(house.timers, self._expire)
        self._signing = Alarm(house.timers, self._drop_terms)
        self._expires = 0.0

    def seat_of(self, player: Player) -> int | None:
        """Return the seat of a player."""
        return next(
            (i for i, seated in enumerate(self.seats) if seated and seated.player.id == player.id), None
        )

    def own_seat(self, player: Player) -> int:
        """Return the seat of a player who must have one.

        Raises:
            RefusedError: They have none.
        """
        seat = self.seat_of(player)
        if seat is None:
            raise RefusedError(Code.NOT_SEATED, f"expected a player with a seat at table {self.code}")
        return seat

    def match_of(self, seat: int) -> bytes | None:
        """Return the match that a seat's player is in, or was in last; None for who came later."""
        seated = self.seats[seat]
        if self.game is None or seated is None or not self.game.is_of(seat, seated.player):
            return None
        return self.match

    def own_game(self, mid: bytes) -> Game:
        """Return the match of this id.

        Raises:
            RefusedError: The table does not play it, nor has played it last.
        """
        if self.game is None or self.game.mid != mid:
            message = f"match: expected the present match of table {self.code}"
            raise RefusedError(Code.NO_SUCH_MATCH, message, field="match")
        return self.game

    def join(self, player: Player, wanted: int | None) -> int:
        """Seat a player, or find the seat they have; return it.

        Raises:
            RefusedError: The seat, the table or the player's kind does not allow it.
        """
        own = self.seat_of(player)
        if own is not None:
            if wanted not in (None, own):
                raise RefusedError(
                    Code.NOT_NOW, f"expected seat {own}, which is this player's: leave it first"
                )
            return own
        seat = self._free_seat(wanted)
        self._check_open()
        self._check_guest(player)
        self._sit(seat, Seated(player))
        return seat

    def _free_seat(self, wanted: int | None) -> int:
        free = [i for i, seated in enumerate(self.seats) if seated is None]
        if wanted is not None and wanted >= len(self.seats):
            message = f"seat: expected 0 to {len(self.seats) - 1}, got {wanted}"
            raise RefusedError(Code.BAD_MESSAGE, message, field="seat")
        if not free:
            raise RefusedError(Code.TABLE_FULL, f"every seat of table {self.code} is taken")
        if wanted is not None and wanted not in free:
            raise RefusedError(Code.SEAT_TAKEN, f"seat {wanted} is taken; free: {free}")
        return free[0] if wanted is None else wanted

    def _check_open(self) -> None:
        if self.state not in SEATS_MAY_CHANGE:
            raise RefusedError(Code.TABLE_NOT_OPEN, f"expected an open table, got one in state {self.state}")

    def _check_guest(self, player: Player) -> None:
        guests = sum(seated is not None and seated.player.kind is PlayerKind.GUEST for seated in self.seats)
        allowed = self.made.chosen.opts.guests
        if player.kind is PlayerKind.GUEST and guests >= allowed:
            raise RefusedError(
                Code.GUESTS_NOT_ALLOWED, f"this table admits {allowed} guests, and has {guests}"
            )

    def leave(self, player: Player) -> None:
        """Give a seat up.

        Raises:
            RefusedError: A match is being set up or played.
        """
        seat = self.own_seat(player)
        self._check_open()
        self._house.write(ClearSeat(self.code, seat))
        self.seats[seat] = None
        self.audience.release(seat)
        self.keep()

    @property
    def is_empty(self) -> bool:
        """Whether nobody sits here."""
        return not any(self.seats)

    def set_ready(self, player: Player, *, is_ready: bool, x: bytes | None = None) -> None:
        """Note whether a player agrees to start.

        Raises:
            RefusedError: The match has begun, or a guest's box key cannot be used.
        """
        seat = self.own_seat(player)
        self._check_open()
        if player.kind is PlayerKind.KEY:
            x = None
        others = [seated.x for i, seated in enumerate(self.seats) if seated is not None and i != seat]
        if x is not None and (x in others or not admissible_box_public(x)):
            raise RefusedError(Code.BAD_MESSAGE, "x: expected a fresh X25519 public key", field="x")
        self._sit(seat, Seated(player, is_ready, x))

    def _sit(self, seat: int, seated: Seated) -> None:
        self._house.write(seat_row(self.code, seat, seated))
        self.seats[seat] = seated
        self.keep()

    def attach(self, seat: int, peer: Peer) -> None:
        """Give a seat to a connection; the one that had it is told."""
        before = self.audience.attach(seat, peer)
        peer.tables.add(self.code)
        if before is not None:
            before.send(SeatTakenOver(table=self.code, seat=seat))
        self._attend()

    def drop(self, peer: Peer) -> None:
        """Forget a connection that has ended."""
        if self.audience.drop(peer):
            self._attend()
            self.announce()

    def _attend(self) -> None:
        """Who is connected matters to a running match: with nobody there its time runs."""
        if self.state == "playing":
            self.keep()

    def remind(self, peer: Peer) -> None:
        """Send a connection that has joined the terms it may have to answer."""
        if self.gathering is not None:
            peer.send(self.terms_message(self.gathering))

    def advance(self) -> None:
        """Send the terms out, if everybody is there and ready."""
        if self.state in SEATS_MAY_CHANGE and all(seated and seated.is_ready for seated in self.seats):
            self._open_terms()

    def _open_terms(self) -> None:
        secrets = new_secrets()
        dealer = Dealer(self._house.identity.key, secrets, links=LINKS)
        record = dealer.table_record(
            self.made.chosen.variant,
            seats=self.made.seats,
            opts=self.made.chosen.opts,
            name=self._house.settings.name,
            opened=int(time.time()),
        )
        terms = open_terms(self._document, record)
        sealed = seal_at_rest(self._house.identity.at_rest, secrets.to_bytes(), terms.th)
        stale = self._drop_game()
        self.state, self.match = "terms", None
        self._house.write(*stale, SaveSecrets(terms.th, sealed), self.row())
        self.gathering = Gathering(terms, dealer, keyed=self._keyed(), guests=self._guests())
        self._expiry.set(None)
        self._signing.set(trio.current_time() + terms.opts.release_ms / 1000)
        self.announce()
        self.audience.tell(self.terms_message(self.gathering))
        self._begin_if_signed(self.gathering)

    def _keyed(self) -> dict[int, bytes]:
        return {
            i: seated.player.id
            for i, seated in enumerate(self.seats)
            if seated and seated.player.kind is PlayerKind.KEY
        }

    def _guests(self) -> dict[int, GuestSeat]:
        return {
            i: GuestSeat(seated.player.name, seated.x)
            for i, seated in enumerate(self.seats)
            if seated and seated.player.kind is PlayerKind.GUEST
        }

    def _drop_game(self) -> tuple[Write, ...]:
        game, self.game = self.game, None
        if game is None:
            return ()
        game.stop()
        return (DropSecrets(game.setup.terms.th),)

    def begin_if_signed(self) -> None:
        """Start the match, if every keyed seat has signed the terms."""
        if self.gathering is not None:
            self._begin_if_signed(self.gathering)

    def _begin_if_signed(self, gathering: Gathering) -> None:
        if gathering.missing:
            return
        try:
            setup = gathering.close()
        except CheckError as error:
            log.warning("setup_failed", table=label(self.code), check=error.check)
            self._drop_terms()
            return
        self.gathering = None
        self._signing.set(None)
        self._begin(setup, gathering.dealer)

    def _begin(self, setup: MatchSetup, dealer: Dealer) -> None:
        terms = setup.terms
        self.state, self.match = "playing", setup.mid
        self._house.write(
            SaveMatch(setup.mid, self.code, terms.document, setup.records, terms.th, self.made.seats),
            self.row(),
        )
        log.info(
            "match_started",
            table=label(self.code),
            match=setup.mid.hex(),
            variant=terms.variant.name,
            assurance=setup.level,
        )
        self.game = self.make_game(setup, dealer)
        self.announce()
        self.audience.tell(self.setup_message(setup))
        self.audience.all_caught_up()
        self.keep()
        self.game.drive()

    def make_game(self, setup: MatchSetup, dealer: Dealer) -> Game:
        """Return the match of a setup, at its start."""
        return Game(self._house, self.code, setup, dealer, audience=self.audience, on_end=self._end)

    def _drop_terms(self) -> None:
        """Give the terms up: whoever has not signed them is no longer ready."""
        gathering, self.gathering = self.gathering, None
        if gathering is None:
            return
        self._signing.set(None)
        self.state = "open"
        silent = gathering.missing or tuple(range(len(self.seats)))
        self._unready(silent, DropSecrets(gathering.terms.th), self.row())
        log.info("terms_dropped", table=label(self.code), seats=list(silent))
        self.keep()
        self.announce()

    def reopen(self) -> None:
        """Go on from before the terms, as a restart has found the seats: those that are ready stay so."""
        self.state = "open"
        self._house.write(self.row())
        self.keep()
        self.advance()

    def _unready(self, which: tuple[int, ...], *more: Write) -> None:
        rows: list[Write] = []
        for seat in which:
            seated = self.seats[seat]
            if seated is not None:
                self.seats[seat] = Seated(seated.player)
                rows.append(seat_row(self.code, seat, Seated(seated.player)))
        self._house.write(*more, *rows)

    def _end(self) -> None:
        if self.state != "playing" or self.game is None:
            return
        self.state = "over"
        self._unready(tuple(range(len(self.seats))), self.row())
        outcome = self.game.ledger.outcome
        log.info(
            "match_ended",
            table=label(self.code),
            match=self.game.mid.hex(),
            reason=outcome and outcome.reason,
        )
        self.keep()
        self.announce()

    def keep(self) -> None:
        """Let the table stand for a while from now on; for ever while a match is played by anybody."""
        is_alone = self.state == "playing" and not self.audience.is_seated
        if self.state in SEATS_MAY_CHANGE or is_alone:
            self._expires = trio.current_time() + self._house.settings.tables.expiry_s
            self._expiry.set(self._expires)
        else:
            self._expiry.set(None)

    def _expire(self) -> None:
        if self.state == "playing" and self.game is not None:
            self.game.abandon()
            self.keep()
        else:
            self.close("expired")

    def stop(self) -> None:
        """Ask for no more time."""
        self._expiry.set(None)
        self._signing.set(None)
        if self.game is not None:
            self.game.stop()

    def close(self, reason: str) -> None:
        """Remove the table."""
        self.stop()
        self._house.write(*self._drop_game(), DropTable(self.code))
        self.audience.tell(TableClosed(table=self.code, reason=reason))
        log.info("table_closed", table=label(self.code), reason=reason)
        self._on_close(self)

    def row(self) -> SaveTable:
        """Return what is stored of the table."""
        return table_row(self.made, self._document, self.state, self.match)

    def announce(self) -> None:
        """Tell everybody at the table how it stands."""
        self.audience.tell(self.notice())

    def notice(self) -> TableState:
        """Return the full state of the table."""
        waits = self.state in SEATS_MAY_CHANGE
        left = max(0, int((self._expires - trio.current_time()) * 1000)) if waits else None
        seats = tuple(
            seat_state(i, seated, online=self.audience.holder(i) is not None)
            for i, seated in enumerate(self.seats)
        )
        return table_state(self.made, self._rules, seats, state=self.state, match=self.match, expires_ms=left)

    def terms_message(self, gathering: Gathering) -> Terms:
        """Return the terms as they are sent."""
        return Terms(table=self.code, record=gathering.terms.record, doc=gathering.terms.document)

    def setup_message(self, setup: MatchSetup) -> Setup:
        """Return the setup as it is sent."""
        return Setup(table=self.code, match=setup.mid, doc=setup.terms.document, records=setup.records)

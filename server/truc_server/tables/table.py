"""A table of the lobby: who sits there, who is ready, and the match they play.

A plain object with synchronous methods. Invariants: every change is in the journal before anybody is told of it; seats
are fixed from the moment terms go out until the match is over.
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import Final, Protocol

import structlog
import trio

from truc_protocol.bodies import Close, Rule, Void
from truc_protocol.codec import sha256
from truc_protocol.dealer import Dealer
from truc_protocol.documents import rule_document
from truc_protocol.errors import Code
from truc_protocol.messages import SeatTakenOver, TableClosed, TableState
from truc_protocol.setup import Setup
from truc_protocol.wire.connection import broadcast_frame
from truc_server.house import House
from truc_server.matches.deadlines import AGAIN_S
from truc_server.matches.game import Game, Turn
from truc_server.net.peer import Peer, Player, RefusedError
from truc_server.spectating.spectator_feed import ShownMatch, SpectatorFeed
from truc_server.storage import (
    AddRecord,
    ClearSeat,
    DropSecrets,
    DropTable,
    DropTerms,
    PlayerKind,
    SaveTable,
    Write,
)
from truc_server.storage.journal import JournalStoppedError
from truc_server.table_data.codes import label
from truc_server.table_data.seats import (
    Lineup,
    Made,
    Seated,
    State,
    check_box_key,
    check_guest,
    free_seat,
    guest_ids,
    match_rows,
    seat_row,
    seat_states,
    table_row,
    table_state,
    terms_message,
)
from truc_server.tables.chat import TableChat
from truc_server.tables.gathering import Gathering, gather
from truc_server.tables.standby import Standins
from truc_server.tables.talk import Talk
from truc_server.timing.timers import Alarm

SEATS_MAY_CHANGE: Final = ("open", "over")

log = structlog.get_logger()


class Register(Protocol):
    """Where tables are listed, and what it is told of them."""

    def changed(self, table: "Table") -> None:
        """Note that a table has changed."""
        ...

    def vacated(self, table: "Table") -> None:
        """Note that the vacant seats of a match have changed."""
        ...

    def closed(self, table: "Table", notice: TableClosed) -> None:
        """Take out a table that is gone."""
        ...


class Table:
    """One table and everybody at it."""

    def __init__(self, house: House, made: Made, register: Register) -> None:
        self.made = made
        self.code = made.code
        self.seats: list[Seated | None] = [None] * made.seats
        self.state: State = "open"
        self.match: bytes | None = None
        spectators = made.chosen.opts.spectators
        self.feed = SpectatorFeed(
            made.code,
            house.store,
            house.pages,
            house.timers,
            seats=made.seats,
            spectators=spectators,
            state=self.shown_notice,
            on_shown=lambda: register.changed(self),
        )
        self.audience = self.feed.audience
        self.standins = Standins(self.feed, spectators=spectators)
        self.talk = Talk(self.feed, made.chosen.variant.phrases)
        self.chat = TableChat(made.code, self.feed, house.timers)
        self.game: Game | None = None
        self.gathering: Gathering | None = None
        self._house = house
        self._register = register
        self._document = rule_document(made.chosen.variant)
        self._rules = sha256(self._document)
        self._expiry = Alarm(house.timers, self._expire)
        self._signing = Alarm(house.timers, self.drop_terms)
        self._clock = Alarm(house.timers, self._time_out)
        self._expires = 0.0
        self._gate = 0  # of the newest record
        self._shown: ShownMatch | None = None

    def seat_of(self, player: Player) -> int | None:
        """Return the seat of a player."""
        for seat, seated in enumerate(self.seats):
            if seated is not None and seated.player.id == player.id:
                return seat
        return None

    def own_seat(self, player: Player) -> int:
        """Return the seat of a player who must have one.

        Raises:
            RefusedError: They have none.
        """
        if (seat := self.seat_of(player)) is not None:
            return seat
        self._check_not_gone(player)
        raise RefusedError(Code.NOT_SEATED, f"expected a player with a seat at table {self.code}")

    def _check_not_gone(self, player: Player) -> None:
        if self.state == "playing" and self.game is not None and self.game.has_had(player):
            raise RefusedError(Code.SEAT_GONE, "a substitute has taken the seat of this player")

    def match_of(self, seat: int) -> bytes | None:
        """Return the match that a seat's player is in, or was in last; None for a player who came later."""
        seated, game = self.seats[seat], self.game
        return self.match if game and seated and game.has_had(seated.player) else None

    def own_game(self, mid: bytes, player: Player | None = None) -> Game:
        """Return the match of this id, in which `player`, if given, must have had a seat.

        Raises:
            RefusedError: It is neither in play here nor the last that was; or the player came later.
        """
        game = self.game
        if game is None or game.mid != mid or not (player is None or game.has_had(player)):
            message = f"match: expected the present match of table {self.code}"
            raise RefusedError(Code.NO_SUCH_MATCH, message, field="match")
        return game

    def join(self, player: Player, wanted: int | None) -> int:
        """Seat a player, or find the seat they have; return it.

        Raises:
            RefusedError: The seat, the table or the player's kind does not allow it.
        """
        own = self.seat_of(player)
        if own is not None:
            if wanted not in (None, own):
                message = f"expected seat {own}, which is this player's: leave it first"
                raise RefusedError(Code.NOT_NOW, message)
            return own
        self._check_not_gone(player)
        seat = free_seat(self.code, self.seats, wanted)
        self._check_open()
        check_guest(self.seats, player, allowed=self.made.chosen.opts.guests)
        self._sit(seat, Seated(player))
        return seat

    def _check_open(self) -> None:
        if self.state not in SEATS_MAY_CHANGE:
            raise RefusedError(Code.TABLE_NOT_OPEN, f"expected an open table, got one in state {self.state}")

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

    def set_ready(self, player: Player, *, is_ready: bool, x: bytes | None) -> None:
        """Note whether a player agrees to start.

        Raises:
            RefusedError: The match has begun, or a guest's box key cannot be used.
        """
        seat = self.own_seat(player)
        self._check_open()
        x = None if player.kind is PlayerKind.KEY else x
        check_box_key(self.seats, seat, x)
        self._sit(seat, Seated(player, is_ready, x))

    def _sit(self, seat: int, seated: Seated) -> None:
        self._house.write(seat_row(self.code, seat, seated))
        self.seats[seat] = seated
        self.keep()

    def attach(self, seat: int, peer: Peer) -> bool:
        """Give a seat to a connection, and tell the one that had it; False if this one has it already."""
        if self.audience.holder(seat) is peer:
            return False
        before = self.audience.attach(seat, peer)
        peer.tables |= {self.code}
        if before is not None:
            before.send(SeatTakenOver(table=self.code, seat=seat))
        self.attend()
        return True

    def drop(self, peer: Peer) -> None:
        """Forget a connection that has ended."""
        self.standins.drop(peer)
        self.chat.drop(peer)
        if self.feed.drop(peer):
            with suppress(JournalStoppedError):  # the server is stopping: nothing is decided any more
                self.attend()
            self.announce()

    def attend(self) -> None:
        """Note who is connected to a running match, which sets its time, what it holds back and how long it stands."""
        if self.state == "playing" and self.game is not None:
            self.keep()
            before = self.game.time
            self._advance(self.game)
            if self.game.time != before and not self.game.is_halted:
                self._ask(self.game)

    def remind(self, peer: Peer) -> None:
        """Send a connection that has joined the terms it may have to answer."""
        if self.gathering is not None:
            peer.send(terms_message(self.code, self.gathering.terms))

    def advance(self) -> None:
        """Send the terms out, if everybody is there and ready."""
        if self.state in SEATS_MAY_CHANGE and all(seated and seated.is_ready for seated in self.seats):
            self._open_terms()

    def _open_terms(self) -> None:
        gathering = gather(self._house, self.made, self.seats)
        stale = self._drop_game()
        self.state, self.match = "terms", None
        self._house.write(*stale, *gathering.rows(), self.row())
        self.gather(gathering)

    def gather(self, gathering: Gathering) -> None:
        """Wait for the signatures of terms that are stored."""
        terms = gathering.terms
        self.state, self.gathering = "terms", gathering
        self._expiry.set(None)
        self._signing.set(trio.current_time() + terms.opts.release_ms / 1000)
        self.announce()
        self.feed.tell(terms_message(self.code, terms))
        self.begin_if_signed()

    def _drop_game(self) -> tuple[Write, ...]:
        game, self.game = self.game, None
        self._shown = None
        if game is None:
            return ()
        self._clock.set(None)
        return (DropSecrets(game.setup.terms.th),)

    def begin_if_signed(self) -> None:
        """Start the match, if every keyed seat has signed the terms."""
        gathering = self.gathering
        if gathering is None or gathering.missing:
            return
        setup = gathering.close()
        self.gathering = None
        self._signing.set(None)
        self._begin(setup, gathering.dealer)

    def _begin(self, setup: Setup, dealer: Dealer) -> None:
        self.state, self.match = "playing", setup.mid
        self._house.write(*match_rows(self.made, setup, self.seats), self.row())
        named = {"table": label(self.code), "match": setup.mid.hex()}
        log.info("match_started", **named, variant=setup.terms.variant.name, assurance=setup.level)
        self.open_game(Lineup(setup, guest_ids(self.seats)), dealer)
        self.announce()
        self.feed.open(setup)
        self.keep()
        self.go_on()

    def open_game(self, lineup: Lineup, dealer: Dealer) -> Game:
        """Take up a match at its start."""
        house = self._house
        at_rest = house.identity.at_rest
        game = Game(self.made, lineup, dealer, house.in_force, epoch=house.epoch, at_rest=at_rest)
        self.game, self._shown = game, self.feed.begin(lineup, game.tail)
        return game

    def restore(self, game: Game, rows: Iterable[AddRecord]) -> None:
        """Take up a match where it stood, by the records in the store.

        Raises:
            CheckError: They do not follow.
            RebuildError: The match's secrets do not give what was committed to.
        """
        for row in rows:
            self._show(game.replay(row))
        game.resume(is_unasked=self._house.unasked.get(game.mid) == game.ledger.k)

    def commit(self, game: Game, turn: Turn) -> None:
        """Store what follows from a record, and let everybody be told behind it; time runs when it is stored."""
        self._house.write(*turn.rows)
        gate = self._house.gate
        game.note(turn, gate=gate)
        if isinstance(turn.body, Close):
            game.tail.close_hand(self._house.journal.durable)
        if gate != self._gate:
            self._gate = gate
            self._house.starts.after(gate, self._start)
        self.audience.show_seats(turn.frame)
        if turn.to_seats:
            self.audience.send(turn.to_seats)
        self._show(turn)
        if isinstance(turn.body, Rule | Void):
            self._log(turn.k, turn.body)

    def _show(self, turn: Turn) -> None:
        """Let those who watch see a record when it is time."""
        if self._shown is not None:
            self.feed.took(self._shown, turn.frame, turn.body, turn.here.ledger, at_ms=turn.at_ms)

    def _log(self, k: int, body: Rule | Void) -> None:
        if isinstance(body, Void):
            log.info("voided", table=label(self.code), k=body.k, seats=list(body.seats))
        else:
            told = {"ruling": body.ruling, "seat": body.seat, "kind": body.kind}
            log.info("ruled", table=label(self.code), k=k, **told)

    def go_on(self) -> None:
        """Let every record follow that is the server's to make, then ask the seats that have a choice."""
        game = self.game
        if game is not None and self._advance(game):
            self._ask(game)

    def _advance(self, game: Game) -> bool:
        """Add every record that is the server's to make; False if the match is held."""
        game.meet(self.audience.online)
        if not game.is_calm:
            self._tell_changes(game)
        if game.hold.unheard:
            return False
        while (turn := game.due(is_draining=self._house.is_draining)) is not None:
            self.commit(game, turn)
            if not game.is_calm:
                self._tell_changes(game)
        if self._is_stored:
            self._clock.set(game.moment)
        if game.is_over:
            self._end(game)
        return True

    def _ask(self, game: Game) -> None:
        asked = game.ask(self.audience.live_seats())
        self.audience.send(asked.to_seats)
        if asked.notice is not None:
            self.feed.note(asked.notice)

    def _tell_changes(self, game: Game) -> None:
        """Tell which seats are vacant and who is away after each record: with the next, watchers may be hushed."""
        vacant = game.vacancies()
        if vacant != game.vacant:
            game.vacant = vacant
            self.announce()
            self.standins.keep(vacant)
            self._register.vacated(self)
        news = game.news(is_hushed=self.feed.is_hushed)
        for away in news.to_seats:
            self.audience.tell_seats(away)
        for away in news.to_watchers:
            self.feed.note(broadcast_frame(away))

    @property
    def _is_stored(self) -> bool:
        """Whether the newest record is stored, so that time runs for what it asks."""
        return self._house.journal.durable >= self._gate

    def _start(self) -> None:
        """Let time run for what the newest record asks, once that is stored."""
        if self.game is not None and self._is_stored:
            self._clock.set(self.game.start_clock())

    def _time_out(self) -> None:
        game = self.game
        if game is None or not self._is_stored:
            return  # nobody has been shown yet what to answer: time has not begun
        if self._house.journal.is_full:
            self._clock.set(trio.current_time() + AGAIN_S)  # answers are not taken now either
            return
        turn = game.time_out()
        if turn is not None:
            self.commit(game, turn)
        self.go_on()

    def abandon(self) -> None:
        """End a match that nobody may go on with: without a winner, unless it is won already."""
        if self.game is not None and not self.game.hold.is_on:
            self.game.desert()
            self.go_on()

    def present(self, game: Game, seat: int) -> None:
        """Send a seat, if it has caught up, its cards, those it was shown, who is away, and what it may do now."""
        peer = self.audience.live(seat)
        if peer is None:
            return
        self.audience.send(game.asking.all_cards(game.ledger, seat))
        for away in game.away():
            peer.send(away)
        if not game.hold.is_on:
            self.audience.send(game.ask((seat,)).to_seats)

    def drop_terms(self) -> None:
        """Give the terms up: whoever has not signed them is no longer ready."""
        gathering, self.gathering = self.gathering, None
        if gathering is None:
            return
        self._signing.set(None)
        self.state = "open"
        silent = gathering.missing or tuple(range(len(self.seats)))
        self._unready(silent, DropSecrets(gathering.terms.th), DropTerms(self.code), self.row())
        log.info("terms_dropped", table=label(self.code), seats=list(silent))
        self.keep()
        self.announce()

    def reopen(self) -> None:
        """Go back to before the terms, with the seats as a restart found them: still ready, if a match may begin."""
        self.state = "open"
        is_nearly_full = self._house.disk.is_nearly_full
        self._unready(tuple(range(len(self.seats))) if is_nearly_full else (), self.row())
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

    def _end(self, game: Game) -> None:
        if self.state != "playing":
            return
        self.state = "over"
        self._unready(tuple(range(len(self.seats))), self.row())
        winner, reason = game.ledger.outcome or (None, None)
        log.info("match_ended", table=label(self.code), match=game.mid.hex(), reason=reason, winner=winner)
        self.keep()
        self.announce()

    def keep(self) -> None:
        """Let the table stand for a while from now on; for ever while anybody is there to play its match."""
        is_alone = self.state == "playing" and not self.audience.online
        if self.state in SEATS_MAY_CHANGE or is_alone:
            begins = trio.current_time() if self.game is None else self.game.goes_on_at
            self._expires = begins + self._house.settings.tables.expiry_s
            self._expiry.set(self._expires)
        else:
            self._expiry.set(None)

    def _expire(self) -> None:
        if self.state != "playing" or self.game is None:
            self.close("expired")
        elif not self.game.ledger.pause.active:
            self.abandon()
            self.keep()

    def stop(self) -> None:
        """Stop all alarms."""
        self._expiry.set(None)
        self._signing.set(None)
        self.chat.stop()
        self._clock.stop()

    def close(self, reason: str) -> None:
        """Remove the table."""
        self.stop()
        self._house.write(*self._drop_game(), DropTable(self.code))
        notice = TableClosed(table=self.code, reason=reason)
        self.feed.close(notice)
        log.info("table_closed", table=label(self.code), reason=reason)
        self._register.closed(self, notice)

    def row(self) -> SaveTable:
        """Return what is stored of the table; while terms are out, with the match that is still being shown."""
        return table_row(self.made, self._document, self.state, self.match or self.feed.held)

    def announce(self) -> None:
        """Tell everybody at the table, and those who follow the lobby, how it stands."""
        self.audience.tell_seats(self.notice())
        self.feed.tell_state()
        self._register.changed(self)

    def shown_notice(self) -> TableState:
        """Return the full state of the table as everybody may see it, no newer than the records shown."""
        return self.feed.mask(self.notice())

    def notice_for(self, peer: Peer) -> TableState:
        """Return the full state of the table as a connection may see it."""
        return self.notice() if self.audience.is_inside(peer) else self.shown_notice()

    @property
    def is_seen_playing(self) -> bool:
        """Whether a match is played as far as everybody may know."""
        return self.state == "playing" or self.feed.holds_back

    def notice(self) -> TableState:
        """Return the full state of the table, as the seats see it."""
        waits = self.state in SEATS_MAY_CHANGE
        left = max(0, int((self._expires - trio.current_time()) * 1000)) if waits else None
        vacant = () if self.game is None else self.game.vacant
        seats = seat_states(self.seats, online=self.audience.online, vacant=vacant)
        return table_state(
            self.made,
            self._rules,
            seats,
            state=self.state,
            match=self.match,
            expires_ms=left,
            age_ms=self.feed.age_ms(self.made.created_ms, is_playing=self.state == "playing"),
            watchers=len(self.audience.watchers),
        )

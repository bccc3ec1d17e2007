"""A table of the lobby: who sits there, who is ready, and the match they play.

A plain object with synchronous methods. Invariants: every change is in the journal before anybody is told of it; seats
are fixed from the moment terms go out until the match is over.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from heapq import merge
from operator import attrgetter
from typing import Final, Protocol

import structlog
import trio

from truc_protocol.bodies import Close, Rule, Void
from truc_protocol.checks import CheckError
from truc_protocol.dealer import Dealer
from truc_protocol.errors import Code
from truc_protocol.ledger import check_place, steps_due
from truc_protocol.messages import GuestAct, SeatTakenOver, SignedAct, TableClosed
from truc_protocol.records import Phase, Record
from truc_protocol.wire.connection import broadcast_frame
from truc_server.identity.identity import Identity
from truc_server.matches.acceptance import refused
from truc_server.matches.blind_hands import CHECKED_S, SentStep, end_of_closed_hands
from truc_server.matches.choices import Answerers
from truc_server.matches.deadlines import RETRY_S, vacant
from truc_server.matches.game import Game, Turn
from truc_server.net.peer import LoggedInPlayer, Peer, RefusedRequestError, wrong_field
from truc_server.settings.in_force import CurrentValue, ServerDrain
from truc_server.settings.settings import Settings
from truc_server.spectating.spectator_feed import SpectatorFeed
from truc_server.storage import (
    AddRecord,
    AddWish,
    ClearSeat,
    DropSecrets,
    DropTable,
    DropTerms,
    EndMatch,
    GiveTable,
    PlayerKind,
    SaveTable,
    Write,
)
from truc_server.storage.journal import Journal, JournalStoppedError
from truc_server.storage.page_reader import PageReader
from truc_server.table_data.board import (
    Blueprint,
    Lineup,
    Seated,
    TableBoard,
    seat_row,
    terms_message,
)
from truc_server.table_data.codes import label
from truc_server.tables.pending_terms import PendingTerms, fresh_terms
from truc_server.tables.standby import StandbySeats
from truc_server.tables.talk import TableChat, Talk
from truc_server.timing.clock import Alarm, Timers, now_ms

ACKS_S: Final = 2.0  # for the players to acknowledge the end of their match, before the table closes
_CALLED, _ENDED = Phase.CALLED, Phase.ENDED  # a lookup in an Enum is slow
GIVEN_UP: Final = "given_up"  # in place of the reason that a record `end` would give

log = structlog.get_logger()


class Register(Protocol):
    """Where tables are listed; it is told when one changes."""

    def changed(self, table: "Table") -> None:
        """Note that a table has changed."""
        ...

    def vacated(self, table: "Table") -> None:
        """Note that the vacant seats of a match have changed."""
        ...

    def closed(self, table: "Table", notice: TableClosed) -> None:
        """Take out a table that is gone."""
        ...


class TableBacking(Protocol):
    """What the tables of a server work with.

    Attributes:
        epoch: under which ownership of the store the server runs.
        page_reader: reads what is shown late from the store.
    """

    settings: CurrentValue[Settings]
    identity: Identity
    epoch: int
    page_reader: PageReader
    journal: Journal
    timers: Timers
    drain: ServerDrain


class Table:
    """One table and everybody at it.

    Attributes:
        is_leaving: whether another node is to have it: hands under way go on, and no other begins here.
    """

    def __init__(
        self, backing: TableBacking, blueprint: Blueprint, register: Register, *, epoch: int
    ) -> None:
        """Begin a table that is owned under an epoch: no box is sealed twice with one counter of it."""
        self.blueprint = blueprint
        self.code = blueprint.code
        self.board = TableBoard(blueprint)
        self.feed = SpectatorFeed(
            self.board,
            backing.page_reader,
            backing.timers,
            on_shown=self._note_shown,
        )
        self.audience = self.feed.audience
        self.standby = StandbySeats(self.feed, self.board)
        self.talk = Talk(self.feed, blueprint.chosen.variant.phrases)
        self.chat = TableChat(self.feed, backing.timers)
        self.game: Game | None = None
        self.pending_terms: PendingTerms | None = None
        self._backing = backing
        self._epoch = epoch
        self._journal = backing.journal
        self._register = register
        self._expiry = Alarm(backing.timers, self._expire)
        self._signing = Alarm(backing.timers, self._end_signing)
        self._deadline = Alarm(backing.timers, self._time_out)
        self._closing = Alarm(backing.timers, self.close_for_host)
        # the batch of the newest record: until it is durable, nobody's time runs for what it asks
        self._gate = 0
        self._put_off: int | None = None  # the position whose time ran out while something was being checked
        self.is_leaving = False
        self._is_given = False

    def own_seat(self, player: LoggedInPlayer) -> int:
        """Return the seat of a player who must have one.

        Raises:
            RefusedError: They have none.
        """
        if (seat := self.board.seat_of(player)) is not None:
            return seat
        self._check_not_gone(player)
        raise RefusedRequestError(Code.NOT_SEATED, f"expected a player with a seat at table {self.code}")

    def _check_not_gone(self, player: LoggedInPlayer) -> None:
        # session.md: `seat_gone`, as it is another's now; a stranger is only `not_seated`
        if self.board.state == "playing" and self.game is not None and player.id in self.game.players:
            raise RefusedRequestError(Code.SEAT_GONE, "a substitute has taken the seat of this player")

    def match_of(self, seat: int) -> bytes | None:
        """Return the match that a seat's player is in, or was in last; None for a player who came later."""
        seated, game = self.board.seats[seat], self.game
        return self.board.match if game and seated and seated.player.id in game.players else None

    def own_game(self, mid: bytes | None, player: LoggedInPlayer | None = None) -> Game:
        """Return the match of this id, in which `player`, if given, must have had a seat.

        Raises:
            RefusedError: It is neither in play here nor the last that was, or no id is given; or the player came later.
        """
        game = self.game
        if game is None or game.mid != mid or (player is not None and player.id not in game.players):
            raise wrong_field("match", f"the present match of table {self.code}", Code.NO_SUCH_MATCH)
        return game

    def join(self, player: LoggedInPlayer, wanted: int | None) -> int:
        """Seat a player, or find the seat they have; return it.

        Raises:
            RefusedError: The seat, the table or the player's kind does not allow it.
        """
        own = self.board.seat_of(player)
        if own is not None:
            if wanted not in (None, own):
                message = f"expected seat {own}, which is this player's: leave it first"
                raise RefusedRequestError(Code.NOT_NOW, message)
            return own
        self._check_not_gone(player)
        seat = self.board.free_seat(wanted)
        self.board.check_may_change()
        self.board.check_guest(player)
        self._sit(seat, Seated(player))
        return seat

    def leave(self, player: LoggedInPlayer) -> None:
        """Give a seat up.

        Raises:
            RefusedError: A match is being set up or played.
        """
        seat = self.own_seat(player)
        self.board.check_may_change()
        self._journal.write(ClearSeat(self.code, seat))
        self.board.seats[seat] = None
        self.audience.release(seat)
        self.renew_expiry()

    def set_ready(self, player: LoggedInPlayer, *, is_ready: bool, x: bytes | None) -> None:
        """Note whether a player agrees to start.

        Raises:
            RefusedError: The match has begun, or a guest's box key cannot be used.
        """
        seat = self.own_seat(player)
        self.board.check_may_change()
        # a seat with a key names its box key in the record that it signs
        x = None if player.kind is PlayerKind.KEY else x
        self.board.check_box_key(seat, x)
        self._sit(seat, Seated(player, is_ready, x))

    def _sit(self, seat: int, seated: Seated) -> None:
        self._journal.write(seat_row(self.code, seat, seated))
        self.board.seats[seat] = seated
        self.renew_expiry()

    def attach(self, seat: int, peer: Peer) -> bool:
        """Give a seat to a connection, and tell the one that had it; False if this one has it already."""
        if self.audience.holder(seat) is peer:
            return False
        before = self.audience.attach(seat, peer)
        peer.tables |= {self.code}
        if before is not None:
            before.send(SeatTakenOver(table=self.code, seat=seat))
        self.note_attendance()
        return True

    def change_hands(self, seat: int, newcomer: Seated, peer: Peer) -> None:
        """Give a seat of a match to the player who has stood by for it on this connection; who had it is told."""
        self.board.seats[seat] = newcomer
        self.standby.drop(peer)
        before = self.audience.hand_over(seat, peer)
        if before is not None:
            before.send(SeatTakenOver(table=self.code, seat=seat))
        self.renew_expiry()

    def drop(self, peer: Peer) -> None:
        """Forget a connection that has ended."""
        self.standby.drop(peer)
        self.chat.drop(peer)
        if self.feed.drop(peer):
            with suppress(JournalStoppedError):  # the server is stopping: nothing is decided any more
                self.note_attendance()
            self.announce()

    def note_attendance(self) -> None:
        """Note who is connected to a match: its clocks, what it holds back and its end depend on it."""
        if self.board.state == "playing" and self.game is not None:
            self.renew_expiry()
            game, clock = self.game, self.game.clock
            before = game.ledger.k, clock.wait, clock.is_halted
            self._make_due_records(game)
            # the deadline that was told stood still meanwhile, or something else is waited for
            if (game.ledger.k, clock.wait, clock.is_halted) != before and not clock.is_halted:
                self.feed.ask(game.ask(self.audience.answerers))

    def send_pending_terms(self, peer: Peer) -> None:
        """Send a connection that has just come the terms that are out."""
        if self.pending_terms is not None:
            peer.send(terms_message(self.code, self.pending_terms.terms))

    def send_terms_if_ready(self) -> None:
        """Send the terms out, if everybody is there and ready."""
        if not (self.board.may_change and self.board.is_ready):
            return
        pending = fresh_terms(
            self._backing.identity, self._backing.settings.now, self.blueprint, self.board.seats
        )
        # session.md: until the next match is set up, the one that is over can be resumed, and takes acks
        stale = self._drop_game()
        self.board.state, self.board.match = "terms", None
        self._journal.write(*stale, *pending.rows(), self.row())
        self.await_signatures(pending)

    def await_signatures(self, pending: PendingTerms) -> None:
        """Wait for the signatures of terms that are stored."""
        terms = pending.terms
        self.board.state, self.pending_terms = "terms", pending
        self._expiry.set(None)
        self.announce()
        self.feed.tell(terms_message(self.code, terms))
        self._journal.call_when_durable(partial(self._let_sign, pending))
        self.begin_if_signed()

    def _let_sign(self, pending: PendingTerms, now: float) -> None:
        """Let time run for the signatures of terms that have been sent."""
        if self.pending_terms is pending:
            self._signing.set(now + pending.terms.opts.release_ms / 1000)

    def sign_terms(self, pending: PendingTerms, seat: int, record: Record) -> bool:
        """Take what a seat signs of the terms; False if the very same was taken before.

        Raises:
            RefusedError: It does not answer these terms, or its signature is not valid.
        """
        is_new = pending.sign(seat, record)
        if is_new:
            self._journal.write(pending.row(record))
        return is_new

    def begin_if_signed(self) -> None:
        """Start the match, if every keyed seat has signed the terms."""
        pending = self.pending_terms
        if pending is None or pending.missing:
            return
        setup, self.pending_terms = pending.close(), None
        self._signing.set(None)
        self.board.state, self.board.match = "playing", setup.mid
        self._journal.write(*self.board.match_rows(setup), self.row())
        named = {"table": label(self.code), "match": setup.mid.hex()}
        log.info("match_started", **named, variant=setup.terms.variant.name, assurance=setup.level)
        self.open_game(Lineup(setup, self.board.guests()), pending.dealer)
        self.announce()
        self.feed.announce_match(setup)
        self.renew_expiry()
        self.go_on()

    def _end_signing(self) -> None:
        if self._journal.is_full:
            # signatures are not taken now either: no seat is unready for want of one
            self._signing.set(trio.current_time() + RETRY_S)
            return
        self.drop_terms()

    def drop_terms(self) -> None:
        """Give the terms up: whoever has not signed them is no longer ready."""
        pending, self.pending_terms = self.pending_terms, None
        if pending is None:
            return
        self._signing.set(None)
        self.board.state = "open"
        silent = pending.missing or tuple(range(len(self.board.seats)))
        silent_rows = self.board.unready(silent)
        self._journal.write(DropSecrets(pending.terms.th), DropTerms(self.code), self.row(), *silent_rows)
        log.info("terms_dropped", table=label(self.code), seats=list(silent))
        self.renew_expiry()
        self.announce()

    def reopen(self, *, may_begin: bool) -> None:
        """Go back to before the terms, with the seats as a restart found them: still ready, if a match may begin."""
        self.board.state = "open"
        self._journal.write(self.row(), *self.board.unready(() if may_begin else range(self.blueprint.seats)))
        self.renew_expiry()
        self.send_terms_if_ready()

    def _drop_game(self) -> tuple[Write, ...]:
        game, self.game = self.game, None
        self.board.vacant = ()
        if game is None:
            return ()
        self._deadline.set(None)
        return (DropSecrets(game.setup.terms.th),)

    def open_game(self, lineup: Lineup, dealer: Dealer) -> Game:
        """Take up a match at its start."""
        backing = self._backing
        at_rest = backing.identity.at_rest
        game = Game(self.blueprint, lineup, dealer, backing.settings, epoch=self._epoch, at_rest=at_rest)
        self.game = game
        self._put_off = None  # the one before may have come to the same position
        self.feed.begin(lineup, game.recent)
        return game

    def restore(self, game: Game, records: Sequence[AddRecord], wishes: Sequence[AddWish]) -> None:
        """Take up a match where it stood, by its records and the wishes of its seats, each in their order in the store.

        Raises:
            CheckError: They do not follow.
            RebuildError: The match's secrets do not give what was committed to.
        """
        # a closed hand of mode blind takes 1 to 6 ms, in place of 20 to 130 with its steps checked again
        known_before = end_of_closed_hands(records) if game.is_blind else 0
        # of one position the wish is first: it was made before the record came
        rows: Iterable[AddWish | AddRecord] = merge(wishes, records, key=attrgetter("k"))
        for row in rows:
            match row:
                case AddWish():
                    game.clock.note_wish(row.seat)
                case AddRecord():
                    self.feed.add_record(game.replay(row, is_known=row.k < known_before))
        game.clock.restore()

    def commit(self, game: Game, turn: Turn) -> None:
        """Store what follows from a record, and tell everybody once it is stored; only then time runs."""
        # first, so that nobody is told what no batch has: frames wait in their outboxes for this one
        gate = self._journal.write(*turn.rows)
        if gate != self._gate:  # one start for all records of a batch
            self._gate = gate
            self._journal.call_when_durable(self._start)
        game.note(turn, gate=gate)
        if game.keys.held:
            game.keys.refuse_stale(game.ledger.parallel[0])
        match turn.body:  # patterns, as `isinstance` is a call
            case Close():
                game.recent.close_hand(self._journal.durable)
            case Rule() | Void():
                self._log(turn.k, turn.body)
            case _:
                pass
        self.feed.add_record(turn)
        self.audience.show_seats(turn.frame)
        if turn.to_seats:
            self.audience.send(turn.to_seats)

    def wish(self, game: Game, seat: int) -> None:
        """Hold the next call back for a seat that wants time to start a new chain.

        Raises:
            RefusedError: It may not start one.
        """
        if game.clock.wish(seat):
            self._journal.write(AddWish(game.mid, game.ledger.k, seat))

    def take(self, game: Game, turn: Turn, peer: Peer, act: SignedAct | GuestAct) -> None:
        """Commit what follows from an act, answer it behind that, and let the match go on behind the answer."""
        self.commit(game, turn)
        peer.ok(act, k=turn.k, dup=False)
        if self._backing.settings.now.log.level == "debug":
            log.debug("act", table=label(self.code), k=turn.k)
        self.go_on(turn)

    def hold_keys(self, game: Game, seat: int, held: SentStep) -> None:
        """Hold keys of mode blind; once every seat that owes some has sent its own, write them and let the match go on.

        Raises:
            RefusedError: Other keys of the seat are held.
        """
        game.keys.hold(seat, held, holder=self.audience.holder(seat))
        due = steps_due(game.ledger)
        if due is not None and game.keys.has(due.seats):
            self.go_on(self._write_keys(game))

    def _write_keys(self, game: Game) -> Turn | None:
        """Write the keys that are held, seats ascending, then answer who has sent them; return what followed last."""
        written: list[tuple[SentStep, int]] = []
        turn: Turn | None = None
        for held in game.keys.take():
            try:
                turn = game.take(check_place(game.ledger, held.placed.record, held.placed.body), after=turn)
            except CheckError as error:  # with those of another seat: a point of it came before
                if held.peer.is_open:
                    held.peer.refuse(refused(game, held.placed, error).refusal(held.request.id))
                continue
            self.commit(game, turn)
            written.append((held, turn.k))
        for held, k in written:
            if held.peer.is_open:
                held.peer.ok(held.request, k=k, dup=False)
        return turn

    def _log(self, k: int, body: Rule | Void) -> None:
        if isinstance(body, Void):
            log.info("voided", table=label(self.code), k=body.k, seats=list(body.seats))
        else:
            told = {"ruling": body.ruling, "seat": body.seat, "kind": body.kind}
            log.info("ruled", table=label(self.code), k=k, **told)

    def go_on(self, turn: Turn | None = None) -> None:
        """Make every record that the server owes, then ask the seats that have a choice.

        What follows at once from a `turn` is of the same moment. While only releases are waited for, nobody is asked.
        """
        game = self.game
        if game is None or not self._make_due_records(game, turn):
            return
        # the call itself asks for releases (play.md, "Records"); in mode blind `waiting` says who owes what
        if game.ledger.phase is not _CALLED or game.ledger.blind_hand is not None:
            self.feed.ask(game.ask(self.audience.answerers))

    def _make_due_records(self, game: Game, turn: Turn | None = None) -> bool:
        """Make every record that the server owes; False if the match is held."""
        game.note_online(self.audience.online)
        if not game.is_calm:
            self._tell_changes(game)
        if game.hold.unheard:
            return False
        is_draining = self.is_leaving or self._backing.drain.by is not None
        # each may make another one due: the close of a hand the next call, a ruling the end
        while (turn := game.due(turn, is_draining=is_draining)) is not None:
            self.commit(game, turn)
            if not game.is_calm:
                self._tell_changes(game)
        if self._journal.durable >= self._gate:
            self._deadline.set(game.clock.ends_at)
        if game.ledger.phase is _ENDED:
            self._end(game)
        return True

    def _tell_changes(self, game: Game) -> None:
        """Tell which seats are vacant and who is away after each record: with the next, watchers may be hushed."""
        vacancies = vacant(game.ledger, game.clock.returned)
        if vacancies != self.board.vacant:
            self.board.vacant = vacancies
            self.announce()
            self.standby.keep_only(vacancies)
            self._register.vacated(self)
        news = game.news(is_hushed=self.feed.is_hushed)
        for away in news.to_seats:
            self.audience.tell_seats(away)
        for away in news.to_watchers:
            self.feed.note(broadcast_frame(away))

    def _start(self, now: float) -> None:
        """Let time run for what the newest record asks, once that is stored."""
        # a newer record may wait for the next batch, which calls this again
        if self.game is not None and self._journal.durable >= self._gate:
            self._deadline.set(self.game.clock.start(now))

    def _time_out(self) -> None:
        game = self.game
        if game is None or self._journal.durable < self._gate:
            return  # nobody has been shown yet what to answer: time has not begun
        if self._journal.is_full:
            # answers are not taken now either: nobody is ruled against for want of one
            self._deadline.set(trio.current_time() + RETRY_S)
            return
        if game.is_blind and game.blind_steps.is_busy and self._put_off != game.ledger.k:
            # once: what has come in time is taken before it is ruled that it is missing
            self._put_off = game.ledger.k
            self._deadline.set(trio.current_time() + CHECKED_S)
            return
        self._write_keys(game)  # whoever has sent its own owes nothing
        turn = game.time_out()
        if turn is not None:
            self.commit(game, turn)
        self.go_on()

    def _end(self, game: Game) -> None:
        if self.board.state != "playing":
            return
        self.board.state = "over"
        self._journal.write(self.row(), *self.board.unready(range(self.blueprint.seats)))
        winner, reason = game.ledger.outcome or (None, None)
        log.info("match_ended", table=label(self.code), match=game.mid.hex(), reason=reason, winner=winner)
        self.renew_expiry()
        self.announce()

    def abandon(self) -> None:
        """End a match that nobody may go on with: without a winner, unless it is won already."""
        # decision 17: nothing is signed in a match that is held, not even its end
        if self.game is not None and not self.game.hold.is_on:
            self.game.desert()
            self.go_on()

    def greet(self, game: Game, peer: Peer) -> None:
        """Tell a follower that has been sent every record who is away, and what is waited for."""
        for away in game.away():
            peer.send(away)
        waiting = game.clock.notice(self.code)
        if waiting is not None:
            peer.send(waiting)

    def send_position(self, game: Game, seat: int) -> None:
        """Send a seat, if it has caught up, its cards, those it was shown, who is away, and what it may do now."""
        peer = self.audience.live_holder(seat)
        if peer is None:
            return
        self.audience.send(game.questions.all_cards(game.ledger, seat))
        for away in game.away():
            peer.send(away)
        if not game.hold.is_on:
            alone = Answerers([], [seat]) if peer.knows_rules else Answerers([seat], [])
            self.audience.send(game.ask(alone).to_seats)

    def renew_expiry(self) -> None:
        """Keep the table for a while from now on; for ever while anybody is there to play its match."""
        is_alone = self.board.state == "playing" and not self.audience.online
        if self.board.may_change or is_alone:
            # play.md, "What follows": a pause takes its time though nobody is there, and this begins after it
            pause_ends = None if self.game is None else self.game.clock.rests_until
            since = pause_ends or trio.current_time()
            self.board.expires = since + self._backing.settings.now.tables.expiry_s
            self._expiry.set(self.board.expires)
        else:
            self._expiry.set(None)

    def _expire(self) -> None:
        if self.board.state != "playing" or self.game is None:
            self.close("expired")
        elif not self.game.ledger.pause.active:
            self.abandon()
            self.renew_expiry()

    def stop(self) -> None:
        """Stop all alarms."""
        self._expiry.stop()
        self._signing.stop()
        # a table that was given away meanwhile is another node's, and its rows are not this one's to delete
        self._closing.stop()
        self.chat.stop()
        self._deadline.stop()

    def give(self, to: str) -> None:
        """Let another node have the table: from now on nothing is written about it here. Whoever follows it is not told."""
        self.stop()
        self._journal.write(GiveTable(self.code, to))
        self._is_given = True
        self.game = self.pending_terms = None  # an act whose signature is being checked finds no match here

    def _note_shown(self) -> None:
        """Let the lobby know of what watchers are shown late."""
        # one that was given away still shows what it held back, but is another node's
        if not self._is_given:
            self._register.changed(self)

    def release_followers(self) -> tuple[Peer, ...]:
        """Forget everybody who follows the table, and return them; it must have been given away."""
        followers = self.audience.followers()
        for peer in followers:
            self.standby.drop(peer)
            self.chat.drop(peer)
            self.feed.drop(peer)
        return followers

    def close(self, reason: str) -> None:
        """Remove the table."""
        self.stop()
        self._journal.write(*self._drop_game(), DropTable(self.code))
        notice = TableClosed(table=self.code, reason=reason)
        self.feed.close(notice)
        log.info("table_closed", table=label(self.code), reason=reason)
        self._register.closed(self, notice)

    def give_up(self, game: Game, *, why: str) -> None:
        """Close the table of a match that is held and cannot go on: nothing more is signed in it.

        A player has seen records of it that are not in the backup, or has not come back to say. What the players have
        of it stays as it is: the longest of their transcripts is the match.
        """
        log.warning("match_given_up", table=label(self.code), match=game.mid.hex(), k=game.ledger.k, why=why)
        self._journal.write(EndMatch(game.mid, GIVEN_UP, now_ms()))
        self.close("server")
        # last: what was put off is answered by a table that is gone
        game.hold.end()

    def close_for_host(self) -> bool:
        """Close the table because the host wants it; False if it closes in a moment, after the end of its match.

        A match under way ends by the server's ruling, without a winner. In one that is held nothing is signed, not even
        its end.
        """
        if self.feed.is_closed:
            return True
        self.drop_terms()
        game = self.game
        if self.board.state != "playing" or game is None:
            self.close("server")
            return True
        if game.hold.is_on:
            self.give_up(game, why="the host has closed the table")
            return True
        self.abandon()
        # the table is closed by a second call, when there has been time for acks
        self._closing.set(trio.current_time() + ACKS_S)
        return False

    def row(self) -> SaveTable:
        """Return what is stored of the table; while terms are out, with the match that is still being shown."""
        return self.board.row(self.board.match or self.feed.held_back_match)

    def announce(self) -> None:
        """Tell everybody at the table, and those who follow the lobby, how it stands."""
        self.audience.tell_seats(self.feed.notice())
        self.feed.tell_state()
        self._register.changed(self)

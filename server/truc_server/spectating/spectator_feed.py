"""When those who watch a table are shown what happens there: at once, with each hand's close, or some seconds late.

Records go to the seats from the match itself; here they go to the rest. At a table that is shown late, whatever is said
of a match comes as late as its records, matches come one after another, and the table's state waits until nothing is
held back. Of matches that are over and wait for their turn the records are only in the store, and are read when they are
due. Invariants: every record is shown once, in order, and none before the table's terms allow; what is told of
the table meanwhile says no more than the records shown; a table that is gone is kept here only while it is watched.
"""

from collections.abc import Callable, Sequence
from itertools import starmap
from typing import Final, NamedTuple

import structlog
import trio
from msgspec.structs import replace

from truc_protocol.bodies import AnyBody, Call, Close, End, Guest, Placed, SeatTaken, Sub
from truc_protocol.codec import unpack
from truc_protocol.crypto.keys import fingerprint
from truc_protocol.ledger.facts import Fact
from truc_protocol.messages import SeatState, ServerMessage, Snapshot, TableClosed, TableState
from truc_protocol.records import Phase, Record, next_head, parse_own
from truc_protocol.setup import MatchSetup
from truc_protocol.wire.connection import broadcast_frame
from truc_protocol.wire.encoding import LENGTH_BYTES
from truc_server.matches.choices import SeatFrames
from truc_server.matches.game import RecentRecords, Turn, record_frame, record_of
from truc_server.net.peer import Peer, tag_of
from truc_server.spectating.audience import Audience
from truc_server.spectating.delay_line import DelayLine, Notice
from truc_server.storage import AddRecord, PlayerKind
from truc_server.storage.page_reader import PageReader, PageRequest
from truc_server.table_data.board import Lineup, TableBoard, setup_message
from truc_server.table_data.codes import label
from truc_server.table_data.options import WATCH_BY_HAND, WATCH_LATE
from truc_server.timing.clock import Alarm, Timers, now_ms

# Matches held back at one table. Beyond that the third oldest is left out: the first is being shown, and the second
# comes next.
MATCHES: Final = 32
_S: Final = 1_000  # milliseconds

log = structlog.get_logger()


class HandStart(NamedTuple):
    """Where a hand begins: the position of its first record, and the frame of the record before that."""

    k: int
    before: bytes | None


class ShownMatch:
    """What has been shown of one match.

    Attributes:
        line: when the records that are held back are due.
        recent: the newest records made.
        k: the next position to be shown.
        hand_start: where the hand that watchers see begins: at the newest call, or after a close that came later.
        began_ms: when the first record was made, Unix time in milliseconds; None before.
        ended_ms: when the end was made; None before.
        has_hole: whether records were left out, and no hand has begun since.
    """

    def __init__(self, table: str, lineup: Lineup, recent: RecentRecords, line: DelayLine) -> None:
        self.setup = lineup.setup
        self.recent = recent
        self.line = line
        self.k = 0
        self.hand_start = HandStart(0, None)
        self.began_ms: int | None = None
        self.ended_ms: int | None = None
        self.has_hole = False
        self._guests = lineup.guests
        self._seats: tuple[SeatTaken | Guest | Sub, ...] = lineup.setup.seats
        self._table = table
        self._newest: bytes | None = None
        self._hand: list[bytes] = []

    @property
    def is_complete(self) -> bool:
        """Whether every record made has been shown."""
        return self.k == self.recent.end

    def note_made_at(self, body: AnyBody, at_ms: int) -> None:
        """Note when a record was made, which may be shown later: the first and the end tell how old the match is."""
        if self.began_ms is None:
            self.began_ms = at_ms
        if type(body) is End:
            self.ended_ms = at_ms

    def add(self, frame: bytes, body: AnyBody) -> None:
        """Count the next record as shown."""
        if type(body) is Call:
            # a hand can be shown from its call on, but for one behind a record that nobody has
            self.has_hole = self.has_hole and self._newest is None
            self._begin()
        self._hand.append(frame)
        self._newest = frame
        self.k += 1
        if type(body) is Close:
            self._begin()
        elif type(body) is Sub:
            self._seats = (*self._seats[: body.seat], body, *self._seats[body.seat + 1 :])

    def leave_out(self, k: int) -> None:
        """Count the records before position `k` as shown, which cannot be read; nothing is shown before another hand."""
        self.k, self._newest, self._hand, self.has_hole = k, None, [], True

    def _begin(self) -> None:
        self.hand_start = HandStart(self.k, self._newest)
        self._hand = []

    def hand(self) -> Sequence[bytes]:
        """Return the records of the present hand, as sent."""
        return tuple(self._hand)

    def snapshot(self, *, skipped: bool) -> Snapshot:
        """Return the match in short, up to where its present hand begins."""
        return Snapshot(
            table=self._table,
            match=self.setup.mid,
            k=self.hand_start.k,
            head=self.setup.mid if self.hand_start.before is None else _head_after(self.hand_start.before),
            doc=self.setup.terms.document,
            records=self.setup.records,
            view={} if self.hand_start.before is None else _state(self.hand_start.before),
            skipped=skipped,
        )

    def mask(self, state: TableState) -> TableState:
        """Return a table's state as of this match, whatever has become of the table since."""
        of_match = (_seat_state(seat, self._guests.get(seat.seat)) for seat in self._seats)
        seats = tuple(starmap(_masked, zip(of_match, state.seats, strict=True)))
        age_ms = age(self.began_ms)
        return replace(
            state, seats=seats, state="playing", match=self.setup.mid, expires_ms=None, age_ms=age_ms
        )


def age(since_ms: int | None) -> int:
    """Return how long ago a time was, in milliseconds; 0 for one that has not come."""
    return 0 if since_ms is None else max(0, now_ms() - since_ms)


def _masked(of_match: SeatState, now: SeatState) -> SeatState:
    """Return a seat as of a match, and whether its player is connected now, if they still sit there."""
    # whether somebody else sits there by now is what the delay keeps back
    if of_match.player is None or of_match.player != now.player:
        return of_match
    return replace(of_match, online=now.online)


def _head_after(frame: bytes) -> bytes:
    """Return the head after a record as sent, one that is bound to its position."""
    record = record_of(frame)
    body = parse_own(record)
    if not isinstance(body, Placed):
        raise TypeError(f"expected a record of a match, got {type(body).__name__}")
    return next_head(body.head, record)


def _state(frame: bytes) -> Fact:
    """Return the fact `state` of a record as sent."""
    state: Fact = unpack(frame[LENGTH_BYTES:])["means"][-1]
    return state


def _seat_state(seat: SeatTaken | Guest | Sub, guest: bytes | None) -> SeatState:
    name = seat.name.decode()
    if isinstance(seat, Guest):
        player = None if guest is None else tag_of(PlayerKind.GUEST, guest)
        return SeatState(seat=seat.seat, kind="guest", name=name, player=player)
    return SeatState(seat=seat.seat, kind="key", name=name, player=fingerprint(seat.pk))


class ShownExtent(NamedTuple):
    """How far a match has been shown: the next position, and whether that is all there is."""

    k: int
    is_all: bool


class SpectatorFeed:
    """What the watchers of one table are shown.

    Attributes:
        table: the table's code.
        is_closed: whether the table is gone.
        audience: who follows the table.
        delay_s: how many seconds late they are shown it; 0 if it does not depend on time.
    """

    def __init__(
        self,
        board: TableBoard,
        page_reader: PageReader,
        timers: Timers,
        *,
        on_shown: Callable[[], None],
    ) -> None:
        spectators = board.blueprint.chosen.opts.spectators
        self.audience = Audience(board.blueprint.seats, watched=self)
        self.table = board.blueprint.code
        self.is_closed = False
        self.delay_s = max(0, spectators - WATCH_LATE)
        self._is_by_hand = spectators == WATCH_BY_HAND
        self._page_reader = page_reader
        self._board = board
        self._on_shown = on_shown
        self._queue: list[ShownMatch] = []
        self._is_reading = False
        self._owes_state = False
        self._closed: TableClosed | None = None
        self._alarm = Alarm(timers, self._show_due)

    @property
    def match(self) -> ShownMatch | None:
        """The match that is being shown."""
        return self._queue[0] if self._queue else None

    @property
    def holds_back(self) -> bool:
        """Whether there is anything that has not been shown yet."""
        return len(self._queue) > 1 or (self.match is not None and not self.match.is_complete)

    @property
    def is_hushed(self) -> bool:
        """Whether watchers are told nothing of the match now, nor later what is said meanwhile."""
        return self.holds_back and not self.delay_s

    @property
    def is_behind(self) -> bool:
        """Whether something is held back only until its time comes."""
        return self.delay_s > 0 and self.holds_back

    @property
    def held_back_match(self) -> bytes | None:
        """The newest match, if the rest of it is held back only until its time comes."""
        return self._queue[-1].setup.mid if self.is_behind else None

    def extent(self, match: bytes) -> ShownExtent | None:
        """Return how far a match has been shown, 0 if it waits for its turn; None if it is no longer here."""
        for place, shown in enumerate(self._queue):
            if shown.setup.mid == match:
                return ShownExtent(shown.k, is_all=not place and shown.is_complete)
        return None

    def begin(self, lineup: Lineup, recent: RecentRecords) -> ShownMatch:
        """Take up a match, to be shown after those before it."""
        if not self.holds_back:
            self._queue.clear()
        elif len(self._queue) > 1:
            # decision 13: over, and not shown for a while: its records are read again
            self._queue[-1].recent = RecentRecords(self._queue[-1].recent.end)
        if len(self._queue) == MATCHES:
            del self._queue[2]
        self._queue.append(ShownMatch(self.table, lineup, recent, DelayLine(self.delay_s)))
        return self._queue[-1]

    def restore(self, lineup: Lineup, rows: Sequence[AddRecord]) -> None:
        """Show the rest of an earlier match of the table, if it is held back only until its time comes."""
        if self.delay_s:
            shown = self.begin(lineup, RecentRecords(len(rows)))
            for row in rows:
                shown.note_made_at(parse_own(Record(row.signer, row.body, row.sig)), row.at_ms)
                self._put_off(row.k + 1, row.at_ms)

    def add_record(self, turn: Turn) -> None:
        """Show the next record that the newest match has taken, now or later."""
        shown, ledger = self._queue[-1], turn.here.ledger
        if shown.began_ms is None or ledger.phase is Phase.ENDED:
            shown.note_made_at(turn.body, turn.at_ms)
        if self.delay_s:
            self._put_off(shown.recent.end, turn.at_ms)
        elif not self._is_by_hand:
            shown.add(turn.frame, turn.body)
            if self.audience.watchers:
                self.audience.show_watchers(turn.frame)
        # what closes or voids a hand lets all of it be shown; what stands between hands comes at once
        elif ledger.hand is None and ledger.phase is not Phase.CALLED:
            self._show_recent(shown, shown.recent.end)

    def _put_off(self, k: int, at_ms: int) -> None:
        """Let the records before position `k` be shown when the delay since the newest of them is over."""
        # by the time stored with the record, so that a restart changes nothing; but if the clock of the
        # system was set back meanwhile, no longer than the delay
        left_ms = min(at_ms + self.delay_s * _S - now_ms(), self.delay_s * _S)
        self._newest_line().put_record(trio.current_time() + max(0, left_ms) / _S, k)
        self._set_alarm()

    def _newest_line(self) -> DelayLine:
        """Return the line of the match in play, or of the last one."""
        line = self._queue[-1].line
        if not self.audience.watchers:
            # nobody hears what is said: only what was said last is kept
            line.hush_newest()
        return line

    def _set_alarm(self) -> None:
        # what is being read shows what is due by then, and sets the alarm again
        if self._queue and not self._is_reading:
            self._alarm.set(self._queue[0].line.next)

    def _show_due(self) -> None:
        """Show everything that is due, until something has to be read first."""
        while self.match is not None and not self._is_reading:
            line = self.match.line
            mark = line.due(trio.current_time())
            if mark is None:
                break
            if self._show_before(self.match, mark.k):
                line.pop()
                self._tell_owed_state()
                for notice in mark.notices:
                    self.audience.show_watchers(*notice)
                self._go_on()
        self._set_alarm()

    def _show_before(self, shown: ShownMatch, k: int) -> bool:
        """Show the records before position `k`; False if they have to be read first."""
        # the match has dropped them from memory: the store has them, and is read for all tables by one task
        if shown.k < min(k, shown.recent.first):
            self._is_reading = True
            request = PageRequest(shown.setup.mid, shown.k, self._show_page, self._leave_out)
            self._page_reader.ask(request)
            return False
        self._show_recent(shown, k)
        return True

    def _show_page(self, rows: tuple[AddRecord, ...]) -> None:
        """Show those of the records that are due; ignore the rest."""
        self._is_reading = False
        if self.match is None:
            return
        shown, mark = self.match, self.match.line.due(trio.current_time())
        # the match was deleted meanwhile: nothing more of it can be shown
        if not rows:
            shown.k = shown.recent.end
        for row in rows:
            # the page may reach beyond what is due
            if mark is not None and shown.k == row.k < mark.k:
                body = parse_own(Record(row.signer, row.body, row.sig))
                self._show(shown, record_frame(self.table, row), body)
        self._show_due()

    def _leave_out(self) -> None:
        """Leave out what is due and cannot be read."""
        self._is_reading = False
        shown = self.match
        if shown is not None and (mark := shown.line.due(trio.current_time())) is not None:
            shown.leave_out(max(shown.k, mark.k))
        self._show_due()

    def _show_recent(self, shown: ShownMatch, k: int) -> None:
        for item in shown.recent.since(shown.k):
            if item.k < k:
                self._show(shown, item.frame, parse_own(item.record))

    def _show(self, shown: ShownMatch, frame: bytes, body: AnyBody) -> None:
        had_hole = shown.has_hole
        shown.add(frame, body)
        if shown.has_hole:
            return
        if had_hole:
            self.audience.jump(broadcast_frame(shown.snapshot(skipped=True)))
        self.audience.show_watchers(frame)

    def _tell_owed_state(self) -> None:
        if self._owes_state and not self.holds_back:
            self._owes_state = False
            self._tell_shown_state()

    def _tell_shown_state(self) -> None:
        """Tell watchers how the table stands as shown now; the lobby already knows of a table that is gone."""
        self.audience.tell_watchers(broadcast_frame(self.shown_notice()))
        if self._closed is None:
            self._on_shown()

    def _go_on(self) -> None:
        """Go on to the next match, or to the end of the table, if nothing more is to be shown of this one."""
        if self.match is None or not self.match.is_complete:
            return
        if len(self._queue) > 1:
            self._take_next()
        elif self._closed is not None:
            self._end_watching(self._closed)

    def _take_next(self) -> None:
        """Begin to show the next match."""
        # views.md, "Shown late": the state first, then the setup, then the records in their time
        del self._queue[0]
        self._tell_shown_state()
        self.audience.show_watchers(broadcast_frame(setup_message(self.table, self._queue[0].setup)))

    def ask(self, asked: SeatFrames) -> None:
        """Ask seats for their decision, each by its own frame, and tell watchers whom the match waits for."""
        if asked.notice is not None:
            self.note(asked.notice)
        self.audience.send(asked.to_seats)

    def note(self, frame: bytes, *, speaker: str | None = None) -> None:
        """Show what belongs to the newest position: whom the match waits for, who is away, or a sign of a player."""
        if self.delay_s:
            self._say_later(Notice(frame, speaker))
        elif self.audience.watchers and not self.holds_back:
            self.audience.show_watchers(frame, speaker)

    def say(self, message: ServerMessage, *, speaker: str) -> None:
        """Pass on to watchers a phrase of the player with the tag `speaker`."""
        notice = Notice(broadcast_frame(message), speaker)
        if self.delay_s and self._queue:
            self._say_later(notice)
        else:
            self.audience.tell_watchers(*notice)

    def _say_later(self, notice: Notice) -> None:
        line = self._newest_line()
        line.put_notice(trio.current_time() + self.delay_s, line.end, notice)
        self._set_alarm()

    def tell_state(self) -> None:
        """Tell watchers how the table stands: now, or once everything has been shown."""
        if self.is_behind:
            self._owes_state = True
        elif self.audience.watchers:
            self.audience.tell_watchers(broadcast_frame(self.shown_notice()))

    def greet(self, peer: Peer) -> None:
        """Tell a new watcher how the table stands; if something is held back, they are told again later."""
        # masked now: the present state is told when everything has been shown
        self._owes_state |= self.holds_back
        peer.send(self.shown_notice())

    def tell(self, message: ServerMessage) -> None:
        """Tell everybody something about the table, except watchers who have not been shown what came before."""
        self.audience.tell_seats(message)
        if not self.is_behind and self.audience.watchers:
            self.audience.tell_watchers(broadcast_frame(message))

    def announce_match(self, setup: MatchSetup) -> None:
        """Tell everybody that a match begins, watchers once they have seen the one before; the seats miss nothing."""
        message = setup_message(self.table, setup)
        self.audience.tell_seats(message)
        self.audience.seats_caught_up()
        # watchers who are shown an earlier match are told when its turn comes
        if self.match is not None and self.match.setup is setup:
            self.audience.show_watchers(broadcast_frame(message))

    def notice(self) -> TableState:
        """Return the full state of the table, as the seats see it."""
        audience, age_ms = self.audience, self.age_ms()
        return self._board.notice(online=audience.online, watchers=len(audience.watchers), age_ms=age_ms)

    def shown_notice(self) -> TableState:
        """Return the full state of the table as everybody may see it, no newer than the records shown."""
        state = self.notice()
        return state if self.match is None or not self.holds_back else self.match.mask(state)

    def notice_for(self, peer: Peer) -> TableState:
        """Return the full state of the table as a connection may see it."""
        return self.notice() if self.audience.is_inside(peer) else self.shown_notice()

    @property
    def is_seen_playing(self) -> bool:
        """Whether a match is played as far as everybody may know."""
        return self._board.state == "playing" or self.holds_back

    def age_ms(self) -> int:
        """Return how long the newest match has been played or over, or, if there is none, since the table was made."""
        created_ms, is_playing = self._board.blueprint.created_ms, self._board.state == "playing"
        newest = self._queue[-1] if self._queue else None
        if is_playing:
            return age(None if newest is None else newest.began_ms)
        return age(created_ms if newest is None or newest.ended_ms is None else newest.ended_ms)

    def close(self, notice: TableClosed) -> None:
        """Tell everybody that the table is gone: watchers when the rest has been shown."""
        self.audience.tell_seats(notice)
        self.is_closed, self._closed = True, notice
        self._let_go_if_alone()
        self.audience.enforce_closed_limit(notice)
        if self.is_behind:
            self._let_go_if_alone()
        else:
            self._end_watching(notice)

    def _end_watching(self, notice: TableClosed) -> None:
        self.audience.end_watching(notice)
        self._let_go_if_alone()

    def _let_go_if_alone(self) -> None:
        """While nobody watches, drop what is said, and everything if the table is gone."""
        if self.audience.watchers:
            return
        for shown in self._queue:
            shown.line.hush()
        if self._closed is not None:
            self._queue.clear()
            self._alarm.stop()

    def caught_up(self, peer: Peer) -> None:
        """Note that a follower has been sent everything so far; show them again what was dropped meanwhile."""
        if not self.audience.caught_up(peer):
            self._show_again(peer)
        self._let_go_if_alone()

    def unwatch(self, peer: Peer) -> None:
        """Forget that a connection follows without a seat; a seat it has stays its own."""
        self.audience.unwatch(peer)
        self._let_go_if_alone()

    def drop(self, peer: Peer) -> bool:
        """Forget a connection; tell whether it had a seat."""
        had_seat = self.audience.drop(peer)
        self._let_go_if_alone()
        return had_seat

    def skip(self, peer: Peer) -> None:
        """Note that what waited for a watcher was dropped."""
        self.audience.skip(peer)

    def readmit(self, peer: Peer) -> None:
        """Let a watcher that was skipped go on, as there is room again."""
        if self.audience.is_skipped(peer):
            self._show_again(peer)
            self._let_go_if_alone()

    def _show_again(self, peer: Peer) -> None:
        """Let a watcher whose outbox was full go on from the present hand."""
        shown = self.match
        messages: list[ServerMessage] = [self.shown_notice()]
        if shown is not None:
            messages.append(shown.snapshot(skipped=True))
        frames = [*map(broadcast_frame, messages), *(shown.hand() if shown is not None else ())]
        if self.audience.come_back(peer, frames):
            named = {"table": label(self.table), "connection": peer.number}
            log.info("watcher_skipped", **named, address=peer.address)

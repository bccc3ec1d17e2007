"""A match being played: one record after another, what the server must add, and what everybody is told.

Synchronous: every method decides, writes to the journal and queues frames between two checkpoints. Acts are judged
in acceptance.py before they come here; table.py knows who sits where. Invariant: a record is published
exactly once, in order, to every follower that has all earlier ones, and its frame waits for the journal.
"""

from collections.abc import Callable, Iterable, Sequence

import structlog
import trio

from truc_protocol.bodies import Act, AnyBody, Close, Deal, End, Proxy, Rule, Share, Void
from truc_protocol.dealer import Dealer
from truc_protocol.dealing import DealtCards
from truc_protocol.facts import Fact, means
from truc_protocol.ledger import Due, Folded, Ledger, due, fold, start
from truc_protocol.match_secrets import new_root
from truc_protocol.records import Phase, Record, parse, parse_own
from truc_rules import Action
from truc_server.house import House
from truc_server.matches.auto_rulings import TooEarlyError, Unrecorded, claimed, consequence, desertion
from truc_server.matches.choices import Asking, Sealer, Window, window
from truc_server.matches.deadlines import AGAIN_S, Clocks, Wait, Waits, owes_chain, vacant
from truc_server.matches.presence import RollCall
from truc_server.matches.restore_hold import Hold
from truc_server.matches.stored import ending, save_secrets
from truc_server.net.peer import Peer, Player
from truc_server.spectating.recent_records import Item, Tail, packed_facts, record_frame
from truc_server.spectating.spectator_feed import Showing
from truc_server.storage import AddRecord, Write
from truc_server.table_data.codes import label
from truc_server.table_data.seats import Lineup, Made
from truc_server.timing.clock import now_ms
from truc_server.timing.timers import Alarm

_CALLED, _ENDED = Phase.CALLED, Phase.ENDED  # looked up once: a lookup in an Enum is slow
log = structlog.get_logger()


class RebuildError(Exception):
    """Stored records do not give the match they should."""


class Game:
    """One match at a table.

    Attributes:
        mid: the match id.
        tail: the newest records, as sent.
        chosen: each guest's last choice that was taken: its position, its move line, and where it cuts.
        hold: whether the match is held, after a backup was restored.
        beyond: the signers of bodies for a position not reached yet; only the first of each is looked at.
        asking: what its seats are asked.
        sealer: seals what is for one seat alone.
        vacant: the seats that a substitute may take over now, as the table has been told.
    """

    def __init__(
        self,
        house: House,
        made: Made,
        lineup: Lineup,
        dealer: Dealer,
        showing: Showing,
        *,
        on_vacancy: Callable[[], None],
        on_end: Callable[[], None],
    ) -> None:
        self.setup = lineup.setup
        self.mid = self.setup.mid
        self.ledger: Ledger = start(self.setup)
        self.tail = Tail()
        self.chosen: dict[int, tuple[int, str, int | None]] = {}
        self.dealer = dealer
        self._guests = lineup.guests
        self._house = house
        self._table = made.code
        self._showing = showing
        self._audience = showing.audience
        self._shown = showing.begin(lineup, self.tail)
        self.vacant: tuple[int, ...] = ()
        self._on_vacancy = on_vacancy
        self._on_end = on_end
        self.sealer = Sealer(dealer, house.epoch)
        self.asking = Asking(made.code, showing.audience, dealer, self.sealer)
        self._waits = Waits(self.ledger, between_ms=house.settings.tables.between_hands_ms)
        self._roll = RollCall(house, made.code, showing, self.ledger)
        # an absent seat forfeits only when its opponents ask for it
        self._is_claimed = made.chosen.claim == "opponents"
        self._is_public = not made.private
        self._is_deserted = self._is_stopped = False
        self._gate = 0
        self.beyond: tuple[int, ...] = ()
        self.hold = Hold(made.code, self.mid)
        self._window: Window | None = None
        self._alarm = Alarm(house.timers, self._ring)

    @property
    def is_over(self) -> bool:
        """Whether the match has ended; acks may still come."""
        return self.ledger.phase is _ENDED

    def is_of(self, seat: int, player: Player) -> bool:
        """Tell whether a player is the one this match has at a seat now, or had when it ended."""
        contributor = self.ledger.contributors[seat + 1]
        return player.id == (self._guests.get(seat) if contributor is None else contributor.public)

    def has_had(self, player: Player) -> bool:
        """Tell whether a player has a seat in this match, or has had one."""
        return player.id in self._guests.values() or ("key", player.id) in self.ledger.commitments

    def add(self, record: Record) -> None:
        """Append a record of the server's own."""
        self.take(record, parse_own(record))

    def take(self, record: Record, body: AnyBody, *also: Write) -> int:
        """Append a record that follows, publish it, and return its position; `also` is stored before it.

        Raises:
            CheckError: It does not follow; nothing has changed.
        """
        before, folded = self.ledger, self._folded(record, body)
        opens = window(before, record, body, folded)
        facts = self._facts(body, folded, opens)
        now = trio.current_time()
        timed = self._waits.timed(folded.ledger, body, now)
        row = AddRecord(self.mid, before.k, *record, packed_facts(facts), now_ms(), timed.to_bytes())
        last = (
            ending(self._house, self.setup, body, is_public=self._is_public) if isinstance(body, End) else ()
        )
        self._house.write(*also, row, *last)
        frame = record_frame(self._table, row)
        self.ledger = folded.ledger
        self._note(body, timed, now, opens)
        if self._gate != self._house.gate:
            self._gate = self._house.gate
            self._house.starts.after(self._gate, self._start)
        item = Item(before.k, frame, self._gate)
        self.tail.add(item)
        self._publish(frame, body)
        self._show(item, body, row.at_ms)
        return before.k

    def _folded(self, record: Record, body: AnyBody) -> Folded:
        folded = fold(self.ledger, record, body)
        if isinstance(body, Deal):
            return Folded(self.dealer.know_deal(folded.ledger), folded.events)
        return folded

    def _facts(self, body: AnyBody, folded: Folded, opens: Window | None) -> list[Fact]:
        """Return what a record means, as far as everybody can tell now, and what could not be told before."""
        untold = () if self._window is None else self._window.later
        told = opens or folded
        opened = self._opened() if isinstance(body, Close) and body.link is not None else None
        return means(body, told.ledger, untold + told.events, opened)

    def _opened(self) -> DealtCards:
        """Return the cards of the hand that is still open, and that a record now lays all open."""
        seats = range(self.ledger.seats)
        return DealtCards(tuple(self.dealer.openings(self.ledger, seat) for seat in seats), (), 0)

    def _note(self, body: AnyBody, timed: Clocks, now: float, opens: Window | None) -> None:
        self._window = opens
        window_ms = None if opens is None else self._house.settings.tables.window_ms
        self._waits.note(self.ledger, body, timed, now, window_ms=window_ms)
        self._roll.note(self.ledger, body)

    def _publish(self, frame: bytes, body: AnyBody) -> None:
        self._audience.show_seats(frame)
        if isinstance(body, Act | Proxy):  # first, as most records are moves
            return
        match body:
            case Deal():
                for seat in range(self.ledger.seats):
                    self.asking.show_cards(self.ledger, seat)
            case Share():
                self.asking.show_cards(self.ledger, body.receiver, of=body.giver)
            case Close():
                self.tail.close_hand(self._house.journal.durable)
            case Rule():
                told = {"ruling": body.ruling, "seat": body.seat, "kind": body.kind}
                log.info("ruled", table=label(self._table), k=self.ledger.k - 1, **told)
            case Void():
                log.info("voided", table=label(self._table), k=body.k, seats=list(body.seats))
            case _:
                pass

    def _show(self, item: Item, body: AnyBody, at_ms: int) -> None:
        """Let those who watch see a record when it is time."""
        is_between = self.ledger.hand is None and self.ledger.phase is not _CALLED
        self._showing.took(self._shown, item, body, at_ms=at_ms, is_between=is_between)

    def options(self, seat: int) -> tuple[Action, ...]:
        """Return what a seat may choose from at this position."""
        return self.asking.options(self._waits.here, seat)

    def drive(self) -> None:
        """Add every record that is the server's to make, then ask the seats that have a choice."""
        if self._advance():
            self._ask_all()

    def _advance(self) -> bool:
        """Add every record that is the server's to make; False if the match is held."""
        self._meet()
        self._tell_changes()
        if self.hold.is_on:
            return False
        while self._step():
            self._tell_changes()
        if self._is_stored:
            self._alarm.set(self._waits.moment)
        if self.is_over:
            self._on_end()
        return True

    def _ask_all(self) -> None:
        notice = self._ask(range(self.ledger.seats))
        if notice is not None:
            self._showing.note(notice)

    def _ask(self, seats: Iterable[int]) -> bytes | None:
        waiting, window = self._waits.notice(self._table), self._open_window
        return self.asking.ask(self._waits.here, waiting, self._waits.offer, window, seats)

    @property
    def _open_window(self) -> Window | None:
        return self._window if self._waits.is_window else None

    def attend(self) -> None:
        """Go on with what depends on who is connected: time, and what is held back while a side has nobody there."""
        before = self.ledger.k, self._waits.now, self._waits.is_halted
        self._advance()
        after = self.ledger.k, self._waits.now, self._waits.is_halted
        if after != before and not after[-1]:
            self._ask_all()

    def _meet(self) -> None:
        """Note who is connected; while nobody is, no seat's time runs."""
        is_attended = self._roll.call(self.ledger) and not self.hold.is_on
        self._waits.see(self._roll.attendance.returned(self.ledger.streaks))
        if is_attended:
            self._waits.go_on()
        else:
            self._waits.halt()

    @property
    def _is_stored(self) -> bool:
        """Whether the newest record is stored, so that time runs for what it asks."""
        return self._house.journal.durable >= self._gate

    def _start(self) -> None:
        """Let time run for what the newest record asks, once that is stored."""
        if self._is_stored and not self._is_stopped:
            self._waits.start()
            self._alarm.set(self._waits.moment)

    def _step(self) -> bool:
        """Add a record that is the server's to make; False if there is none."""
        if owes_chain(self.ledger):
            self._rekey()
            return True
        record = self._next()
        if record is not None:
            self.add(record)
        return record is not None

    def _next(self) -> Record | None:
        last = desertion(self.dealer, self.ledger) if self._is_deserted else None
        ruling = last or consequence(self.dealer, self.ledger, self._unrecorded())
        is_held = self._house.is_draining and due(self.ledger) is Due.CALL
        if ruling is not None or is_held or self._waits.now is not None:
            return ruling
        return self.dealer.next_record(self.ledger)

    def _unrecorded(self) -> Unrecorded:
        sides, returned = self._roll.attendance.sides, self._waits.returned
        return Unrecorded(self._waits.is_over, sides, returned, self._is_claimed)

    def _rekey(self) -> None:
        """Start a new chain of the server's; its secrets are stored with the record, and before it."""
        record = self.dealer.rekey(self.ledger, new_root())
        secrets = save_secrets(self._house, self.setup.terms.th, self.dealer.secrets)
        self.take(record, parse_own(record), secrets)

    def wish(self, seat: int) -> None:
        """Give a seat time to rekey before the next call.

        Raises:
            RefusedError: It may not start a new chain.
        """
        self._waits.wish(seat)

    def remind(self) -> None:
        """Tell everybody again for whom the call is held back, if it is: perhaps for one seat more."""
        if self.ledger.phase is Phase.BETWEEN:
            self.drive()

    @property
    def vacant_ms(self) -> int | None:
        """How much longer vacant seats are offered, if that has an end."""
        wait = self._waits.now
        return self._waits.left_ms if wait is not None and wait.what == "sub" else None

    def _tell_changes(self) -> None:
        """Tell which seats are vacant and who is away after each record: with the next, watchers may be hushed."""
        before, self.vacant = self.vacant, vacant(self.ledger, self._waits.returned)
        if self.vacant != before:
            self._on_vacancy()
        self._roll.tell(self.ledger, self._waits)

    def _ring(self) -> None:
        if not self._is_stored:
            return  # nobody has been shown yet what to answer: time has not begun
        if self._house.journal.is_full:
            self._alarm.set(trio.current_time() + AGAIN_S)  # answers are not taken now either
            return
        match self._waits.now:
            case Wait("pause"):
                self.add(self.dealer.resume(self.ledger))
            case Wait("release"):
                self.add(self.dealer.void(self.ledger))
            case Wait("decision"):
                self.add(self.dealer.move(self.ledger))
            case Wait("rekey") if self._waits.is_over:
                self.add(self.dealer.abandon(self.ledger, "server"))  # no forfeit can stand
            case _:
                self._waits.end()
        self.drive()

    def abandon(self) -> None:
        """End a match that nobody may go on with: without a winner, unless it is won already."""
        if self.hold.is_on:
            return
        self._waits.end()  # nobody is given more time to show cards
        self._is_deserted = True
        self.drive()

    @property
    def is_unasked(self) -> bool:
        """Whether the next call could come, and nobody has asked for time before it."""
        return self._waits.is_unasked

    @property
    def goes_on_at(self) -> float:
        """When the match's pause is over; now if it has none."""
        return self._waits.rests_until or trio.current_time()

    def claim(self, seat: int) -> int:
        """End the match because the other side is away; return the position of the ruling.

        Raises:
            TooEarlyError: It is not away, or not for long enough, or a ruling cannot stand now.
        """
        self._meet()
        others = range(1 - seat % 2, self.ledger.seats, 2)
        is_kept = bool(self.vacant) or self._waits.awaits(seat)
        alone = () if is_kept else self._roll.alone(self.ledger, self._waits, others)
        record = claimed(self.dealer, self.ledger, seat, self._unrecorded(), alone)
        if record is None:
            wait_ms = self._roll.claimable_in_ms(self.ledger, self._waits, others)
            raise TooEarlyError(
                "expected the other side to be away for longer, and no deal to be under way", wait_ms
            )
        return self.take(record, parse_own(record))

    def stop(self) -> None:
        """Stop the alarm: the table is done with this match."""
        self._is_stopped = True
        self._alarm.stop()

    def tell(self, peer: Peer) -> None:
        """Tell who is away and what is waited for to a follower that has been sent every record."""
        self._roll.tell_one(peer, self.ledger, self._waits)
        waiting = self._waits.notice(self._table)
        if waiting is not None:
            peer.send(waiting)

    def present(self, seat: int) -> None:
        """Send a seat, once it has caught up, its cards, those it was shown, who is away, and what it may do now."""
        self.asking.show_all_cards(self.ledger, seat)
        if (peer := self._audience.live(seat)) is not None:
            self._roll.tell_one(peer, self.ledger, self._waits)
        if not self.hold.is_on:
            self._ask((seat,))

    def restore(self, rows: Sequence[AddRecord]) -> None:
        """Take records that are already in the store.

        Raises:
            CheckError: They do not follow.
            RebuildError: The match's secrets do not give what was committed to.
        """
        for row in rows:
            record = Record(row.signer, row.body, row.sig)
            body = parse(record)
            if not self.dealer.gives(self.ledger, record, body):
                raise RebuildError(f"record {row.k}: the secrets stored give another")
            before, folded = self.ledger, self._folded(record, body)
            self.ledger = folded.ledger
            timed, opens = Clocks.from_bytes(row.clocks), window(before, record, body, folded)
            self._note(body, timed, trio.current_time(), opens)
            item = Item(row.k, record_frame(self._table, row), 0)
            self.tail.add(item)
            if isinstance(body, Close):
                self.tail.close_hand(0)
            self._show(item, body, row.at_ms)
        self._waits.restore(is_unasked=self._house.unasked.get(self.mid) == self.ledger.k)

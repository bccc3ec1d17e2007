"""A match being played: one record after another, what the server must add, and what everybody is told.

Synchronous: every method decides, writes to the journal and queues frames, between two checkpoints. How acts are
judged before they come here stands in signed.py and proxies.py; who sits where, in table.py. Invariant: a record is
published exactly once, in order, to every follower that has all before it, and its frame waits for the journal.
"""

from collections.abc import Callable, Mapping, Sequence

import structlog

from truc_protocol.bodies import (
    AnyBody,
    Close,
    Deal,
    End,
    Rule,
    Share,
)
from truc_protocol.codec import pack
from truc_protocol.dealing import DealtCards
from truc_protocol.ledger import Folded, Ledger, fold, start
from truc_protocol.meaning import Fact, means
from truc_protocol.messages import GuestAct, Waiting
from truc_protocol.records import Phase, Record, parse
from truc_protocol.setup import Setup
from truc_rules import Action, is_blind
from truc_server.choices import Moment, Sealer, comes_always, open_actions, options_message, some_cut
from truc_server.clear_cards import cards_message
from truc_server.clocks import Clocks
from truc_server.consequences import consequence
from truc_server.dealer import Dealer
from truc_server.house import House, label, now_ms
from truc_server.match_secrets import new_root, save_secrets
from truc_server.peer import Peer, Player
from truc_server.showing import Made, Showing
from truc_server.store import AddRecord, EndMatch, Write
from truc_server.tail import Item, Tail, record_frame, stored_frame
from truc_server.timers import Alarm
from truc_server.waits import Wait, Waits, opens_decision, owes_chain, vacant
from truc_server.windows import Window, is_asked, window

log = structlog.get_logger()


class RebuildError(Exception):
    """Stored records do not give the match that they should."""


class Game:
    """One match at a table.

    Attributes:
        tail: the newest records, as sent.
        chosen: per guest, the choice that was taken last.
        sealer: seals what is for one seat alone.
        vacant: the seats that a substitute may take over now, as the table has been told.
    """

    def __init__(
        self,
        house: House,
        table: str,
        setup: Setup,
        dealer: Dealer,
        guests: Mapping[int, bytes],
        *,
        showing: Showing,
        on_vacancy: Callable[[], None],
        on_end: Callable[[], None],
    ) -> None:
        self.setup = setup
        self.ledger: Ledger = start(setup)
        self.tail = Tail()
        self.chosen: dict[int, GuestAct] = {}
        self.dealer = dealer
        self._guests = guests
        self._house = house
        self._table = table
        self._showing = showing
        self._audience = showing.audience
        self._shown = showing.begin(setup, self.tail, guests)
        self.vacant: tuple[int, ...] = ()
        self._on_vacancy = on_vacancy
        self._on_end = on_end
        self.sealer = Sealer(dealer, house.epoch)
        self._waits = Waits(self.ledger, between_ms=house.settings.tables.between_hands_ms)
        self._offer = 0
        self._is_doubted = False
        self._window: Window | None = None
        self._deal_at = 0
        self._cut = (0, some_cut(self.ledger))
        self._alarm = Alarm(house.timers, self._ring)

    @property
    def mid(self) -> bytes:
        """The match id."""
        return self.setup.mid

    @property
    def is_over(self) -> bool:
        """Whether the match has ended; acks may still come."""
        return self.ledger.phase is Phase.ENDED

    def is_of(self, seat: int, player: Player) -> bool:
        """Tell whether a player is the one this match has at a seat now, or had when it ended."""
        contributor = self.ledger.contributors[seat + 1]
        return player.id == (self._guests.get(seat) if contributor is None else contributor.public)

    def has_had(self, player: Player) -> bool:
        """Tell whether a player has a seat in this match, or has had one."""
        return player.id in self._guests.values() or ("key", player.id) in self.ledger.commitments

    def doubt(self, *, seen: int) -> None:
        """Tell the host, once, that a player says to have seen a record that is not there; that proves nothing."""
        if not self._is_doubted:
            self._is_doubted = True
            log.warning(
                "player_has_seen_more",
                table=label(self._table),
                match=self.mid.hex(),
                seen=seen,
                newest=self.ledger.k - 1,
                reason="was the data restored from an older copy?",
            )

    def add(self, record: Record) -> None:
        """Append a record of the server's own."""
        self.take(record, parse(record))

    def take(self, record: Record, body: AnyBody, *also: Write) -> int:
        """Append a record that follows, publish it, and return its position; `also` is stored before it.

        Raises:
            CheckError: It does not follow; nothing has changed.
        """
        before, opened = self.ledger, self._opened(body)
        folded = self._folded(record, body)
        opens = window(before, record, body, folded)
        facts = self._facts(body, folded, opened, opens)
        timed = self._waits.timed(before, folded.ledger, body)
        row = AddRecord(self.mid, before.k, *record, pack({"means": facts}), now_ms(), timed.to_bytes())
        self._house.write(*also, row, *self._ending(body))
        frame = record_frame(self._table, row, facts)
        self.ledger = folded.ledger
        self._note(before.k, body, timed, opens)
        self.tail.add(Item(before.k, record, frame, self._house.gate))
        self._publish(frame, body)
        self._show(Made(record, body, frame, row.at_ms))
        return before.k

    def _folded(self, record: Record, body: AnyBody) -> Folded:
        folded = fold(self.ledger, record, body)
        if isinstance(body, Deal):
            return folded._replace(ledger=self.dealer.know_deal(folded.ledger))
        return folded

    def _ending(self, body: AnyBody) -> tuple[EndMatch, ...]:
        return (EndMatch(self.mid, body.reason, now_ms()),) if isinstance(body, End) else ()

    def _opened(self, body: AnyBody) -> DealtCards | None:
        if not isinstance(body, Close) or body.link is None:
            return None
        seats = range(self.ledger.seats)
        return DealtCards(tuple(self.dealer.openings(self.ledger, seat) for seat in seats), (), 0)

    def _facts(
        self, body: AnyBody, folded: Folded, opened: DealtCards | None, opens: Window | None
    ) -> list[Fact]:
        """Return what a record means, as far as everybody can tell now; and what could not be told before."""
        untold = () if self._window is None else self._window.later
        if opens is not None:
            return means(body, opens.ledger, untold + opens.events, opened)
        return means(body, folded.ledger, untold + folded.events, opened)

    def _note(self, k: int, body: AnyBody, timed: Clocks, opens: Window | None) -> None:
        self._window = opens
        window_ms = None if opens is None else self._house.settings.tables.window_ms
        self._waits.note(self.ledger, body, timed, window_ms=window_ms)
        if opens_decision(body):
            self._offer = k
        if isinstance(body, Deal):
            self._deal_at = k

    def _publish(self, frame: bytes, body: AnyBody) -> None:
        self._audience.show_seats(frame)
        if isinstance(body, Deal):
            for seat in range(self.ledger.seats):
                self._show_cards(seat)
        if isinstance(body, Share):
            self._show_partner(body)
        if isinstance(body, Close):
            self.tail.close_hand(self._house.journal.durable)
        if isinstance(body, Rule):
            log.info(
                "ruled",
                table=label(self._table),
                k=self.ledger.k - 1,
                ruling=body.ruling,
                seat=body.seat,
                kind=body.kind,
            )

    def _show(self, made: Made) -> None:
        """Let those who watch see a record in their time."""
        is_between = self.ledger.hand is None and self.ledger.phase is not Phase.CALLED
        self._showing.took(self._shown, made, is_between=is_between)

    def drive(self) -> None:
        """Add every record that is the server's to make, then ask the seats that have a choice."""
        self._tell_vacancies()
        while self._step():
            self._tell_vacancies()
        wait = self._waits.now(self.ledger)
        self._alarm.set(self._waits.moment(wait))
        waiting = self._waiting(wait)
        for seat in range(self.ledger.seats):
            self._ask(seat, waiting)
        if waiting is not None:
            self._showing.note(waiting)
        if self.is_over:
            self._on_end()

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
        ruling = consequence(self.dealer, self.ledger, is_held_out=self._waits.is_over(self.ledger))
        if ruling is not None or self._waits.now(self.ledger) is not None:
            return ruling
        return self.dealer.next_record(self.ledger)

    def _rekey(self) -> None:
        """Start a new chain of the server's; its secrets are stored with the record, and before it."""
        record = self.dealer.rekey(self.ledger, new_root())
        self.take(record, parse(record), save_secrets(self._house, self.setup.terms.th, self.dealer.secrets))

    def wish(self, seat: int) -> None:
        """Let a seat have time to rekey before the next call.

        Raises:
            RefusedError: It may not start a new chain.
        """
        self._waits.wish(self.ledger, seat)

    def remind(self) -> None:
        """Tell everybody again for whom the call is held back, if it is: a seat more, perhaps."""
        if self.ledger.phase is Phase.BETWEEN:
            self.drive()

    def _tell_vacancies(self) -> None:
        before, self.vacant = self.vacant, vacant(self.ledger)
        if self.vacant != before:
            self._on_vacancy()

    def _ring(self) -> None:
        match self._waits.now(self.ledger):
            case Wait("pause"):
                self.add(self.dealer.resume(self.ledger))
            case Wait("release"):
                self.add(self.dealer.void(self.ledger))
            case Wait("decision"):
                self.add(self.dealer.move(self.ledger))
            case Wait("rekey") if self._waits.is_over(self.ledger):
                self.add(
                    self.dealer.abandon(self.ledger, "server")
                )  # no forfeit can stand: the terms say wait
            case _:
                self._waits.end(self.ledger)
        self.drive()

    def abandon(self) -> None:
        """End the match without a winner, if a ruling can stand now: an open call is left to its own time."""
        if self.ledger.match is not None and self.ledger.match.winner is not None:
            self._waits.end(self.ledger)  # it is won: nobody is given time any more to show cards
            self.drive()
        elif self.ledger.phase is not Phase.CALLED:
            self.add(self.dealer.abandon(self.ledger, "server"))
            self.drive()

    def stop(self) -> None:
        """Ask for no more time: the table has done with this match."""
        self._alarm.set(None)

    def cut(self) -> int:
        """Return the place of a cut that the options at this position offer."""
        if self._cut[0] != self.ledger.k:
            self._cut = (self.ledger.k, some_cut(self.ledger))
        return self._cut[1]

    def _ask(self, seat: int, waiting: Waiting | None) -> None:
        peer = self._audience.live(seat)
        if peer is None:
            return
        actions, comes = self._open_actions(seat), comes_always(self.ledger, seat)
        if actions or comes:
            message = options_message(
                self.ledger, self.sealer, self.dealer, self._moment(seat), actions=actions, cut=self.cut()
            )
            peer.send(message)
        if waiting is not None and (not actions or (comes and seat not in waiting.seats)):
            peer.send(waiting)

    def _open_actions(self, seat: int) -> tuple[Action, ...]:
        """Return what a seat may choose from; while a window is open only who has something to say in it may."""
        opened = self._window if self._waits.is_window(self.ledger) else None
        if opened is not None and not is_asked(opened, self.ledger, seat):
            return ()
        return open_actions(self.ledger, seat)

    def _moment(self, seat: int) -> Moment:
        wait = self._waits.now(self.ledger)
        is_open = wait is not None and wait.what == "decision" and bool(wait.seats)
        left = self._waits.left_ms(wait) if wait is not None and is_open else None
        must = wait is not None and is_open and seat in wait.seats
        return Moment(seat, self._table, self.mid, self.ledger.k, self._offer, must, left)

    def _waiting(self, wait: Wait | None) -> Waiting | None:
        """Return what everybody is told who has no choice now."""
        match wait:
            case Wait("window", _) | Wait("decision", ()):
                return Waiting(table=self._table, match=self.mid, at=self.ledger.k, seats=())
            case Wait("decision" | "rekey" | "sub" as what, seats):
                left, at = self._waits.left_ms(wait), self.ledger.k
                return Waiting(
                    table=self._table, match=self.mid, at=at, seats=seats, what=what, deadline_ms=left
                )
            case _:
                return None

    def tell(self, peer: Peer) -> None:
        """Tell one who has been sent every record what is waited for."""
        waiting = self._waiting(self._waits.now(self.ledger))
        if waiting is not None:
            peer.send(waiting)

    def _show_cards(self, seat: int) -> None:
        hand = self.ledger.hand
        if hand is not None and self.ledger.match is not None and not is_blind(self.ledger.match):
            self._show_hand(seat, of=None)

    def _show_partner(self, share: Share) -> None:
        self._show_hand(share.receiver, of=share.giver)

    def _show_hand(self, seat: int, *, of: int | None) -> None:
        """Send a guest without a box its own cards, or those of a partner, in clear."""
        peer = self._audience.live(seat)
        if peer is not None:
            place = (self._table, self._deal_at)
            cards = cards_message(self.ledger, self.dealer, place, seat=seat, of=of)
            if cards is not None:
                peer.send(cards)

    def present(self, seat: int) -> None:
        """Send a seat that has caught up its cards, those it was shown, and what it may do now."""
        self._show_cards(seat)
        for share in self.ledger.hand.shares if self.ledger.hand is not None else ():
            if share.receiver == seat:
                self._show_partner(share)
        self._ask(seat, self._waiting(self._waits.now(self.ledger)))

    def restore(self, rows: Sequence[AddRecord]) -> None:
        """Take records that are in the store already.

        Raises:
            CheckError: They do not follow.
            RebuildError: The match's secrets do not give the deal that was committed to.
        """
        for row in rows:
            record = Record(row.signer, row.body, row.sig)
            body = parse(record)
            if not self.dealer.gives(self.ledger, record, body):
                raise RebuildError(f"record {row.k}: the secrets stored give another")
            before, folded = self.ledger, self._folded(record, body)
            self.ledger = folded.ledger
            self._note(row.k, body, Clocks.from_bytes(row.clocks), window(before, record, body, folded))
            frame = stored_frame(self._table, row)
            self.tail.add(Item(row.k, record, frame, 0))
            if isinstance(body, Close):
                self.tail.close_hand(0)
            self._show(Made(record, body, frame, row.at_ms))
        self._waits.restore(self.ledger)

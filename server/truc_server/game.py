"""A match being played: one record after another, what the server must add, and what everybody is told.

Synchronous: every method decides, writes to the journal and queues frames, between two checkpoints. How acts are
judged before they come here stands in signed.py and proxies.py; who sits where, in table.py. Invariant: a record is
published exactly once, in order, to every follower that has all before it, and its frame waits for the journal.
"""

from collections.abc import Callable, Sequence

import structlog
import trio

from truc_protocol.bodies import (
    Act,
    AnyBody,
    Call,
    Close,
    Deal,
    End,
    Guest,
    Proxy,
    Release,
    Rule,
    SeatTaken,
    Share,
)
from truc_protocol.codec import pack, unpack
from truc_protocol.connection import broadcast_frame
from truc_protocol.dealing import DealtCards
from truc_protocol.ledger import Due, Ledger, box_public, due, fold, missing, start
from truc_protocol.meaning import Fact, means
from truc_protocol.messages import GuestAct, MatchRecord, OwnCards, Waiting
from truc_protocol.records import Phase, Record, parse
from truc_protocol.setup import Setup
from truc_rules import Kind, is_blind
from truc_server import clocks
from truc_server.audience import Audience
from truc_server.choices import (
    Moment,
    Sealer,
    holders,
    holders_in_view,
    may_show,
    open_actions,
    options_message,
    some_cut,
)
from truc_server.clocks import Clocks
from truc_server.consequences import consequence
from truc_server.dealer import Dealer
from truc_server.house import House, label, now_ms
from truc_server.peer import Player
from truc_server.store import AddRecord, EndMatch, PlayerKind
from truc_server.tail import Item, Tail
from truc_server.timers import Alarm

_BESIDE_DECISIONS = (Kind.PAUSE, Kind.RESUME, Kind.ORDER, Kind.CLAIM)
LIVE = 1  # opts[8]: watchers see records at once; with more, when the hand is closed

log = structlog.get_logger()


class RebuildError(Exception):
    """Stored records do not give the match that they should."""


class Game:
    """One match at a table.

    Attributes:
        tail: the newest records, as sent.
        shown: the next position that those who watch may see.
        chosen: per guest, the choice that was taken last.
        sealer: seals what is for one seat alone.
    """

    def __init__(
        self,
        house: House,
        table: str,
        setup: Setup,
        dealer: Dealer,
        *,
        audience: Audience,
        on_end: Callable[[], None],
    ) -> None:
        self.setup = setup
        self.ledger: Ledger = start(setup)
        self.tail = Tail()
        self.shown = 0
        self.chosen: dict[int, GuestAct] = {}
        self.dealer = dealer
        self._house = house
        self._table = table
        self._audience = audience
        self._on_end = on_end
        self.sealer = Sealer(dealer, house.epoch)
        self._clocks = clocks.full(setup.terms.opts, self.ledger.seats)
        self._holder: int | None = None
        self._since = trio.current_time()
        self._offer = 0
        self._deal_at = 0
        self._cut = (0, some_cut(self.ledger))
        self._waited = False
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
        """Tell whether a player is the one this match has at a seat; of guests it knows but the name."""
        match self.setup.seats[seat]:
            case SeatTaken(pk=public):
                return player.id == public
            case Guest(name=name):
                return player.kind is PlayerKind.GUEST and player.name.encode() == name

    def add(self, record: Record) -> None:
        """Append a record of the server's own."""
        self.take(record, parse(record))

    def take(self, record: Record, body: AnyBody) -> int:
        """Append a record that follows, publish it, and return its position.

        Raises:
            CheckError: It does not follow; nothing has changed.
        """
        before, opened = self.ledger, self._opened(body)
        folded = fold(before, record, body)
        ledger = self.dealer.know_deal(folded.ledger) if isinstance(body, Deal) else folded.ledger
        facts = means(body, ledger, folded.events, opened)
        moves = _moves(body)
        timed = self._timed(before, ledger, moves=moves)
        row = AddRecord(self.mid, before.k, *record, pack({"means": facts}), now_ms(), timed.to_bytes())
        self._house.write(row, *self._ending(body))
        frame = _record_frame(self._table, row, facts)
        self.ledger, self._clocks = ledger, timed
        self._note(before.k, body, moves=moves)
        self.tail.add(Item(before.k, record, frame, self._house.gate))
        self._publish(frame, body)
        return before.k

    def _ending(self, body: AnyBody) -> tuple[EndMatch, ...]:
        return (EndMatch(self.mid, body.reason, now_ms()),) if isinstance(body, End) else ()

    def _opened(self, body: AnyBody) -> DealtCards | None:
        if not isinstance(body, Close) or body.link is None:
            return None
        seats = range(self.ledger.seats)
        return DealtCards(tuple(self.dealer.openings(self.ledger, seat) for seat in seats), (), 0)

    def _used(self) -> int:
        running = 0 if self._holder is None else int((trio.current_time() - self._since) * 1000)
        return self._clocks.used + running

    def _timed(self, before: Ledger, after: Ledger, *, moves: bool) -> Clocks:
        opts = self.setup.terms.opts
        if before.match is not None and after.match is not None and before.match.games != after.match.games:
            return clocks.full(opts, after.seats)
        timed = self._clocks._replace(used=self._used())
        if not moves:
            return timed
        return timed._replace(used=0) if self._holder is None else clocks.decided(timed, opts, self._holder)

    def _note(self, k: int, body: AnyBody, *, moves: bool) -> None:
        self._holder = next(iter(holders(self.ledger)), None)
        rests = self.ledger.pause.active and not isinstance(body, Rule)
        if not (rests or isinstance(body, Release)):
            self._since = trio.current_time()
        if moves:
            self._offer = k
        if isinstance(body, Deal):
            self._deal_at = k
        if isinstance(body, Call):
            self._waited = False

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
        live = self.setup.terms.opts.spectators <= LIVE
        if live or (self.ledger.hand is None and self.ledger.phase is not Phase.CALLED):
            self._show_watchers()

    def _show_watchers(self) -> None:
        for item in self.tail.since(self.shown):
            self._audience.show_watchers(item.frame)
        self.shown = self.ledger.k

    def drive(self) -> None:
        """Add every record that is the server's to make, then ask the seats that have a choice."""
        while (record := self._next()) is not None:
            self.add(record)
        self._arm()
        for seat in range(self.ledger.seats):
            self._ask(seat)
        self._tell_watchers()
        if self.is_over:
            self._on_end()

    def _next(self) -> Record | None:
        ruling = consequence(self.dealer, self.ledger)
        if ruling is not None or self._rests():
            return ruling
        return self.dealer.next_record(self.ledger)

    def _rests(self) -> bool:
        """Tell whether the server holds back a record to give people time: the deal, or what ends a hand."""
        between = self._house.settings.tables.between_hands_ms
        return between > 0 and not self._waited and (self._deals_unasked() or self._may_be_shown())

    def _deals_unasked(self) -> bool:
        """Tell whether a deal is due for which no release was waited for, so that nobody had time."""
        keyless = not any(self.ledger.contributors[1:])
        return keyless and self.ledger.phase is Phase.CALLED and due(self.ledger) is Due.DEAL

    def _may_be_shown(self) -> bool:
        """Tell whether a hand is over of which somebody may still show cards that its close leaves closed."""
        if self.ledger.opens_at_close or not may_show(self.ledger):
            return False
        return any(open_actions(self.ledger, seat) for seat in range(self.ledger.seats))

    def _arm(self) -> None:
        left = self._left_ms()
        self._alarm.set(None if left is None else self._since + left / 1000)

    def _left_ms(self) -> int | None:
        """Return how long after `_since` nothing need happen; None if for ever."""
        opts = self.setup.terms.opts
        if self.ledger.pause.active:
            return opts.pause_ms
        if self._rests():
            return self._house.settings.tables.between_hands_ms
        if missing(self.ledger):
            return opts.release_ms
        return None if self._holder is None else clocks.left_ms(self._clocks, opts, self._holder)

    def _ring(self) -> None:
        if self.ledger.pause.active:
            self.add(self.dealer.resume(self.ledger))
        elif self._rests():
            self._waited = True
        elif missing(self.ledger):
            self.add(self.dealer.void(self.ledger))
        elif self._holder is not None:
            self.add(self.dealer.move(self.ledger))
        self.drive()

    def abandon(self) -> None:
        """End the match without a winner, if a ruling can stand now: an open call is left to its own time."""
        if self.ledger.match is not None and self.ledger.match.winner is not None:
            self._waited = True  # it is won: nobody is given time any more to show cards
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

    def _moment(self) -> Moment:
        left = None
        if self._holder is not None:
            timed = self._clocks._replace(used=self._used())
            left = clocks.left_ms(timed, self.setup.terms.opts, self._holder)
        return Moment(self._table, self.mid, self.ledger.k, self._offer, left)

    def _ask(self, seat: int) -> None:
        peer = self._audience.live(seat)
        if peer is None:
            return
        actions = open_actions(self.ledger, seat)
        if actions:
            peer.send(
                options_message(
                    self.ledger, self.sealer, self.dealer, self._moment(), actions=actions, cut=self.cut()
                )
            )
        elif self._holder is not None:
            peer.send(self._waiting())

    def _waiting(self) -> Waiting:
        table, match, at, _, deadline_ms = self._moment()
        seats = holders_in_view(self.ledger)
        return Waiting(table=table, match=match, at=at, seats=seats, deadline_ms=deadline_ms)

    def _tell_watchers(self) -> None:
        if self._holder is not None and self.shown == self.ledger.k:
            self._audience.show_watchers(broadcast_frame(self._waiting()))

    def _show_cards(self, seat: int) -> None:
        hand = self.ledger.hand
        if hand is not None and self.ledger.match is not None and not is_blind(self.ledger.match):
            self._show_hand(seat, of=None)

    def _show_partner(self, share: Share) -> None:
        self._show_hand(share.receiver, of=share.giver)

    def _show_hand(self, seat: int, *, of: int | None) -> None:
        """Send a guest without a box its own cards, or those of a partner, in clear."""
        peer, hand = self._audience.live(seat), self.ledger.hand
        if peer is None or hand is None or box_public(self.ledger, seat) is not None:
            return
        pack_names = self.setup.terms.variant.pack
        openings = self.dealer.openings(self.ledger, seat if of is None else of)
        cards = tuple(pack_names[card] for card, _ in openings)
        newest, k = hand.deals[-1], self._deal_at
        peer.send(
            OwnCards(table=self._table, match=self.mid, k=k, j=newest.j, d=newest.d, cards=cards, of=of)
        )

    def present(self, seat: int) -> None:
        """Send a seat that has caught up its cards, those it was shown, and what it may do now."""
        self._show_cards(seat)
        for share in self.ledger.hand.shares if self.ledger.hand is not None else ():
            if share.receiver == seat:
                self._show_partner(share)
        self._ask(seat)

    def restore(self, rows: Sequence[AddRecord]) -> None:
        """Take records that are in the store already.

        Raises:
            CheckError: They do not follow.
            RebuildError: The match's secrets do not give the deal that was committed to.
        """
        for row in rows:
            record = Record(row.signer, row.body, row.sig)
            body = parse(record)
            if isinstance(body, Deal) and self.dealer.next_record(self.ledger) != record:
                raise RebuildError(f"record {row.k}: the secrets stored give another deal")
            before = self.ledger
            self.ledger = self.dealer.take(before, record)
            self._clocks = Clocks.from_bytes(row.clocks)
            self._note(row.k, body, moves=_moves(body))
            self.tail.add(Item(row.k, record, record_frame(self._table, row), 0))
            if isinstance(body, Close):
                self.tail.close_hand(0)
            if self.setup.terms.opts.spectators <= LIVE or self.ledger.hand is None:
                self.shown = self.ledger.k


def record_frame(table: str, row: AddRecord) -> bytes:
    """Return the frame of a stored record: the same bytes for everybody, and again after a restart."""
    return _record_frame(table, row, unpack(row.means)["means"])


def _record_frame(table: str, row: AddRecord, facts: Sequence[Fact]) -> bytes:
    return broadcast_frame(
        MatchRecord(
            table=table,
            match=row.mid,
            k=row.k,
            signer=row.signer,
            body=row.body,
            sig=row.sig,
            means=tuple(facts),
        )
    )


def _moves(body: AnyBody) -> bool:
    """Tell whether a record opens another decision than the one before it."""
    match body:
        case Share() | Rule(ruling="pause" | "resume"):
            return False
        case Act(kind=kind) | Proxy(kind=kind) if kind in _BESIDE_DECISIONS:
            return False
        case _:
            return True

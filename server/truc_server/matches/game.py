"""A match being played: what follows from one record after another, and what the server must add.

It decides and answers with values: a `Turn` is everything that follows from a record. Nothing is sent, stored or timed
here; the table does that with each turn (tables/table.py). Acts are judged in acceptance.py before they come here. The newest
records are kept as they were sent; those before them are read from the store. A match counts for the ratings if it has a winner,
however it was won, at a public table where every seat was taken with a key, and the host rates matches. It counts for those who began
it: a player who leaves a match to a substitute gets the result, the substitute gets none. The host's bots are players like any other.
Invariants: `take` changes nothing, `note` cannot fail; only the newest turn is noted, and only after its rows are in the
journal, so that a ledger never has a record that no batch has; what is dropped from the recent records is durable, so that
they and the store together have no hole; secrets are sealed, and stored before anything made from them leaves.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final

import trio
from msgspec import Raw, Struct

from truc_protocol.bodies import AnyBody, Close, Deal, End, Release, SeatTaken, Share, Sub
from truc_protocol.codec import enc_trusted, unpack
from truc_protocol.crypto.keys import fingerprint, seal_at_rest
from truc_protocol.dealer import BoxSealer, Dealer
from truc_protocol.dealing import DealtCards
from truc_protocol.errors import Code
from truc_protocol.ledger import (
    Due,
    FoldedRecord,
    Ledger,
    PlacedRecord,
    check_place,
    due,
    fold,
    seats_owing,
    start_ledger,
    take,
)
from truc_protocol.ledger.facts import means
from truc_protocol.match_secrets import MatchSecrets, new_root
from truc_protocol.messages import Away, MatchRecord
from truc_protocol.records import BLIND, Phase, Record, parse, parse_own
from truc_protocol.setup import MatchSetup
from truc_protocol.wire.connection import broadcast_frame
from truc_protocol.wire.encoding import LENGTH_BYTES
from truc_server.matches.auto_rulings import (
    UnrecordedState,
    desertion,
    ruling_claimed,
    ruling_due,
)
from truc_server.matches.blind_hands import HeldKeys, StepsInTurn, opened_hand, with_untold_events
from truc_server.matches.choices import (
    Answerers,
    Position,
    SeatFrames,
    SeatQuestions,
    Window,
    position,
    window,
)
from truc_server.matches.deadlines import Clocks, MatchClock, Wait, opens_decision, owes_chain, vacant
from truc_server.matches.presence import AwayNews, MatchPresence
from truc_server.matches.restore_hold import RestoreHold
from truc_server.net.peer import LoggedInPlayer, RefusedRequestError
from truc_server.settings.in_force import CurrentValue
from truc_server.settings.settings import Settings
from truc_server.storage import AddRecord, EndMatch, RatedPlayer, RateMatch, SaveSecrets, Write
from truc_server.table_data.board import Blueprint, Lineup
from truc_server.timing.clock import now_ms

TakenChoice = tuple[int, str, int | None]
"""A guest's choice: its position, its move line, and where it cuts."""

_BETWEEN, _OVER, _ENDED = Phase.BETWEEN, Phase.OVER, Phase.ENDED  # a lookup in an Enum is slow

# The map that is stored, without its list of facts: the list is packed once, for the store and for the frame.
MEANS: Final = enc_trusted({"means": ()})[:-1]
_FACTS_AT: Final = len(MEANS)


class RebuildError(Exception):
    """Stored records do not give the match they should."""


class SentRecord(Struct, frozen=True):
    """A record as sent, with its position and the batch that makes it durable."""

    k: int
    frame: bytes
    gate: int

    @property
    def record(self) -> Record:
        """The record, read again from the frame, which has all of it: hardly any is asked for."""
        return record_of(self.frame)


class RecentRecords:
    """The records since the hand before the present one.

    Attributes:
        first: the position of the first record held, or of the next one.
    """

    def __init__(self, first: int = 0) -> None:
        self.first = first
        self._items: list[SentRecord] = []
        self._keep_from = first

    @property
    def end(self) -> int:
        """The position of the next record to be made."""
        return self.first + len(self._items)

    def add(self, item: SentRecord) -> None:
        """Append the next record."""
        self._items.append(item)

    def close_hand(self, durable: int) -> None:
        """Drop the hand before the one that has just been closed, as far as it is durable."""
        # The hand just closed stays: the record `close` is shown after this, with all of its hand to those
        # who watch hand by hand; and whoever sends one of its records again is answered from here. What is
        # not durable can be read nowhere else.
        kept = next(
            (i for i, item in enumerate(self._items) if item.k >= self._keep_from or item.gate > durable),
            len(self._items),
        )
        del self._items[:kept]
        self.first += kept
        self._keep_from = self.end

    def since(self, k: int) -> Iterator[SentRecord]:
        """Yield the records from position `k` on."""
        yield from self._items[max(0, k - self.first) :]

    def at(self, k: int) -> SentRecord | None:
        """Return the record at position `k`, if it is held."""
        i = k - self.first
        return self._items[i] if 0 <= i < len(self._items) else None

    def find(self, record: Record, *, since: int) -> int | None:
        """Return where this signer's body stands, not before position `since`, if it is held.

        A body can have more than one valid signature.
        """
        for item in self.since(since):
            # looking for the bytes costs a fiftieth of reading the frame
            if record.body in item.frame and item.record[:2] == record[:2]:
                return item.k
        return None


def record_of(frame: bytes) -> Record:
    """Return the record in a frame."""
    sent = unpack(frame[LENGTH_BYTES:])
    return Record(sent["signer"], sent["body"], sent["sig"])


def record_frame(table: str, row: AddRecord) -> bytes:
    """Return the frame that carries a record to everybody: the same bytes for all, and again after a restart."""
    facts: Any = Raw(row.means[_FACTS_AT:])  # packed once, to be stored and to be sent
    return broadcast_frame(
        MatchRecord(
            table=table, match=row.mid, k=row.k, signer=row.signer, body=row.body, sig=row.sig, means=facts
        )
    )


class Turn(Struct, frozen=True):
    """What follows from one record, all of it decided and none of it done.

    Attributes:
        k: the position of the record.
        body: what it says.
        opens: whether it opens a new decision.
        here: where the match stands after it: the ledger, who is to act, and what each seat may do.
        window: the window that it opens, if it opens one.
        clocks: what each seat has left after it.
        taken_at: the moment of Trio's clock from which time is counted.
        at_ms: when it was made, Unix time in milliseconds.
        rows: what is stored, all of it together.
        frame: the record as it goes to everybody.
        to_seats: what goes to one seat alone, after the record.
    """

    k: int
    body: AnyBody
    opens: bool
    here: Position
    window: Window | None
    clocks: Clocks
    taken_at: float
    at_ms: int
    rows: tuple[Write, ...]
    frame: bytes
    to_seats: tuple[tuple[int, bytes], ...]


class Game:
    """One match at a table.

    Attributes:
        mid: the match id.
        ledger: the match as its records say.
        recent: the newest records, as sent.
        guest_choices: each guest's last choice that was taken.
        is_blind: whether the seats deal among themselves, and the server sees no card.
        keys: in mode blind, keys that have come before those of every seat.
        hold: whether the match is held, after a backup was restored.
        awaited: the seats that may not know yet that the table has changed hands.
        signers_ahead: the signers of bodies for a position not reached yet; only the first of each is looked at.
        players: the ids of all who have a seat in this match, or have had one.
        questions: what its seats are asked.
        sealer: seals what is for one seat alone.
        clock: what it waits for, and how long.
        presence: who is there.
        is_calm: whether nobody is away, has missed anything or is taken for gone, and everybody has been told so: most
            records are made while it is, and change nothing of all that.
    """

    def __init__(
        self,
        blueprint: Blueprint,
        lineup: Lineup,
        dealer: Dealer,
        settings: CurrentValue[Settings],
        *,
        epoch: int,
        at_rest: bytes,
    ) -> None:
        self.setup = lineup.setup
        self.mid = self.setup.mid
        self.ledger: Ledger = start_ledger(self.setup)
        self.recent = RecentRecords()
        self.guest_choices: dict[int, TakenChoice] = {}
        self.dealer = dealer
        self.is_calm = False
        self.signers_ahead: tuple[int, ...] = ()
        self.is_blind = self.setup.terms.table.mode == BLIND
        self.keys = HeldKeys()
        self.hold = RestoreHold(blueprint.code, self.mid)
        self.sealer = BoxSealer(dealer, epoch)
        self.questions = SeatQuestions(blueprint.code, dealer, self.sealer)
        self._guests = lineup.guests
        keys = [seat.pk for seat in self.setup.seats if type(seat) is SeatTaken]
        self.players = frozenset([*lineup.guests.values(), *keys])
        # the clock itself is asked: `trio.current_time` makes two calls more for each record
        self._trio_clock = trio.lowlevel.current_clock()
        self._no_streaks = (0,) * self.ledger.seats
        self._settings = settings
        self._at_rest = at_rest
        self._table = blueprint.code
        self.clock = MatchClock(position(self.ledger), between_ms=settings.now.tables.between_hands_ms)
        # play.md, "A seat whose player is gone": without a clock for decisions, a seat may keep the others
        # waiting for as long as a table may stand unused.
        self.presence = MatchPresence(blueprint.code, self.clock, alone_s=settings.now.tables.expiry_s)
        # an absent seat forfeits only when its opponents ask for it
        self._is_claimed = blueprint.chosen.claim == "opponents"
        self._is_public = not blueprint.private
        self._is_deserted = False
        self._window: Window | None = None
        self._noted: tuple[object, ...] | None = None
        self.awaited: frozenset[int] = frozenset()

    @property
    def is_over(self) -> bool:
        """Whether the match has ended; acks may still come."""
        return self.ledger.phase is _ENDED

    @cached_property
    def blind_steps(self) -> StepsInTurn:
        """In mode blind, what waits to be checked; elsewhere it would be a 40th of what a table takes."""
        return StepsInTurn()

    def is_of(self, seat: int, player: LoggedInPlayer) -> bool:
        """Tell whether a player is the one this match has at a seat now, or had when it ended."""
        contributor = self.ledger.contributors[seat + 1]
        return player.id == (self._guests.get(seat) if contributor is None else contributor.public)

    def add(self, record: Record, *also: Write, after: Turn | None = None) -> Turn:
        """Return what follows from a record of the server's own; `also` is stored with it, and before it."""
        return self.take(check_place(self.ledger, record, parse_own(record)), *also, after=after)

    def take(
        self,
        placed: PlacedRecord,
        *also: Write,
        after: Turn | None = None,
        folded: FoldedRecord | None = None,
        came: float | None = None,
    ) -> Turn:
        """Return what follows from a record in its place; `also` is stored with it, and before it.

        It is made now, or when it `came`, or, where it follows at once, at the moment of the turn it comes `after`. `folded` is
        what the ledger makes of it, if that is known already.

        Raises:
            CheckError: It does not follow.
        """
        before, record, body = placed.ledger, placed.record, placed.body
        if after is None:
            now, at_ms = self._trio_clock.current_time() if came is None else came, now_ms()
        else:
            now, at_ms = after.taken_at, after.at_ms
        folded = take(placed) if folded is None else folded
        opened: DealtCards | None = None
        rows: tuple[Write, ...] = ()
        to_seats: tuple[tuple[int, bytes], ...] = ()
        match body:  # patterns, as `isinstance` is a call
            # decision 3: a deal is folded with unknown cards, and the dealer, who knows them, says so
            case Deal() if before.blind_hand is None:
                folded = self._dealt(folded)
                to_seats = self._cards(folded.ledger)
            case Share():
                to_seats = self.questions.cards(folded.ledger, body.receiver, of=body.giver)
            # specification.md, "When cards open": this link opens the whole hand, so all its cards are told
            case Close(link=bytes()):
                opened = self._opened()
            case Close() if before.blind_hand is not None:
                opened = opened_hand(before)
            case Release() if before.blind_hand is not None:
                folded = with_untold_events(before, folded)
            case End():
                is_rated = self._is_public and self._settings.now.ratings
                rows = ending(self.setup, body, is_rated=is_rated)
            case _:
                pass
        opens = opens_decision(body)
        # decision 11: while seats may have a flor to say, everybody is told what the open cards alone give;
        # what happened besides is told with the next record
        shown = window(before, record, body, folded)
        clocks = self.clock.clocks_after(folded.ledger, body, now, opens=opens)
        here = position(folded.ledger)
        untold = () if self._window is None else self._window.later
        told = shown or folded
        # the fact `state` never names a seat for which only hidden cards make the hand wait
        in_view = here.in_view if shown is None and here.deciding is not None else None
        facts = means(body, told.ledger, untold + told.events, opened, in_view)
        row = AddRecord(self.mid, before.k, *record, MEANS + enc_trusted(facts), at_ms, enc_trusted(clocks))
        return Turn(
            k=before.k,
            body=body,
            opens=opens,
            here=here,
            window=shown,
            clocks=clocks,
            taken_at=now,
            at_ms=at_ms,
            rows=(*also, row, *rows),
            frame=record_frame(self._table, row),
            to_seats=to_seats,
        )

    def _dealt(self, folded: FoldedRecord) -> FoldedRecord:
        """Return what follows from a deal as the dealer, who knows the cards, sees it."""
        return FoldedRecord(self.dealer.learn_deal(folded.ledger), folded.events)

    def _opened(self) -> DealtCards:
        """Return the cards of the hand that the next record lays open."""
        seats = range(self.ledger.seats)
        return DealtCards(tuple(self.dealer.openings(self.ledger, seat) for seat in seats), (), 0)

    def _cards(self, ledger: Ledger) -> tuple[tuple[int, bytes], ...]:
        """Return the cards that a deal gives to guests who have no box."""
        return tuple(cards for seat in range(ledger.seats) for cards in self.questions.cards(ledger, seat))

    def note(self, turn: Turn, *, gate: int) -> None:
        """Go on from a turn whose rows are in the batch `gate` of the journal."""
        body, ledger = turn.body, turn.here.ledger
        self.ledger, self._window = ledger, turn.window
        window_ms = None if turn.window is None else self._settings.now.tables.window_ms
        self.clock.note(turn.here, body, turn.clocks, turn.taken_at, opens=turn.opens, window_ms=window_ms)
        # docs/architecture.md, "The way of an act": while everybody is there and has missed nothing, a
        # record changes nothing in who is there, and most acts end here
        if not self.is_calm or ledger.silent or ledger.streaks != self._no_streaks:
            self.presence.note(body)
            self._noted, self.is_calm = None, False
        if type(body) is Sub:
            self.players |= {body.pk}
        self.recent.add(SentRecord(turn.k, turn.frame, gate))

    def due(self, after: Turn | None = None, *, is_draining: bool) -> Turn | None:
        """Return what follows from the next record of the server's own; None if there is none to make now.

        It is of the moment of the turn it comes `after`, where it follows at once.
        """
        ledger = self.ledger
        # specification.md, "New chains": the server rekeys its own exhausted chain at once, and holds no call
        # for it
        if ledger.phase is _BETWEEN and owes_chain(ledger):
            # the secrets of the new chain are stored with the record, and before it
            record = self.dealer.rekey(ledger, new_root())
            secrets = save_secrets(self._at_rest, self.setup.terms.th, self.dealer.secrets)
            return self.add(record, secrets, after=after)
        # No ruling follows unless one of these is so: cheaper to look at with every record than the rulings.
        ruling = None
        if (
            ledger.voids
            or ledger.pause.asked
            or self.clock.is_over
            or self._is_deserted
            or ledger.streaks != self._no_streaks
            or ledger.blind_hand is not None
        ):
            ruling = self._ruling(ledger)
        ends = self._is_deserted and ledger.phase is _OVER  # nobody may be there to open the hand
        if ruling is None and self.clock.wait is not None and not ends:
            return None
        # decision 18: a hand under way is played to its end, and the next call is left to the next start
        if ruling is None and is_draining and due(ledger) is Due.CALL:
            return None
        record_due = ruling or self.dealer.next_record(ledger)
        return None if record_due is None else self.add(record_due, after=after)

    def _ruling(self, ledger: Ledger) -> Record | None:
        """Return the ruling that is due now, if any."""
        last = desertion(self.dealer, ledger) if self._is_deserted else None
        return last or ruling_due(self.dealer, ledger, self._unrecorded())

    def _unrecorded(self) -> UnrecordedState:
        sides, returned = self.presence.attendance.sides, self.clock.returned
        return UnrecordedState(self.clock.is_over, sides, returned, self._is_claimed)

    def note_online(self, online: tuple[int, ...]) -> None:
        """Note which seats are connected; while none is, one is awaited, or the match is held, no seat's time runs."""
        # looked at before every act, and nearly always as it was
        noted = (online, self.ledger.streaks, self.hold.unheard, self.awaited)
        if noted == self._noted:
            return
        self._noted, self.is_calm = noted, False
        self.presence.note_online(online)
        self.clock.note_returned(self.presence.attendance.returned(self.ledger.streaks))
        if self.awaited:
            self.awaited = self.awaited.difference(online)
        # decision 14: one seat that is connected is enough, or a player about to lose would stop the clock
        # by leaving. A seat is awaited after its node has died: its player may still hang on a dead
        # connection.
        if online and not self.hold.unheard and not self.awaited:
            self.clock.go_on()
        else:
            self.clock.halt()

    def news(self, *, is_hushed: bool) -> AwayNews:
        """Return what is to be told, once, of who is away; watchers who are hushed are told another time."""
        news = self.presence.news(is_hushed=is_hushed)
        self.is_calm = self.presence.is_calm and not self.ledger.silent
        return news

    def ask(self, seats: Answerers) -> SeatFrames:
        """Return what seats that have all records are sent at this position."""
        clock = self.clock
        opened = self._window if clock.is_window else None
        return self.questions.ask(clock.here, clock.notice(self._table), clock.offer, opened, seats)

    def time_out(self) -> Turn | None:
        """Return what follows from a record that is made because the time is over; None if the wait ends without one."""
        ledger = self.ledger
        match self.clock.wait:
            case Wait("pause"):
                record = self.dealer.resume(ledger)
            case Wait("release"):
                record = self.dealer.void(ledger)
            # before all locks are on nobody knows a card, so the deal can be voided; later, silence is ruled
            # on (blind.md, "Rulings"). `points`: what came failed C43 to C46.
            case Wait("mask" | "lock") if not seats_owing(ledger):
                record = self.dealer.void(ledger, "points" if self.clock.has_failed else "silent")
            # nobody owes a key of its own: what is missing are cards to be lent, without which a side decides
            case Wait("keys") if not seats_owing(ledger):
                record = self.dealer.move(ledger)
            case Wait("decision"):
                record = self.dealer.move(ledger)
            case Wait("rekey") if self.clock.is_over:
                # `gone` is wait: no forfeit can stand, and the longest pause is over (play.md, "New chains")
                record = self.dealer.abandon(ledger, "server")
            case _:
                self.clock.end_wait()
                return None
        return self.add(record)

    def desert(self) -> None:
        """Let the match end, as nobody may go on with it: without a winner, unless it is won already."""
        self.clock.end_wait()  # nobody is given more time to show cards
        self._is_deserted = True

    def claim(self, seat: int, online: tuple[int, ...]) -> Turn:
        """Return what follows from the end that a seat asks for because the other side is away.

        Raises:
            RefusedError: It is not away, or not for long enough, or a ruling cannot stand now.
        """
        self.note_online(online)
        others = range(1 - seat % 2, self.ledger.seats, 2)
        # play.md, "What follows": not while a seat is offered or the match waits for the claimant's side
        is_kept = bool(vacant(self.ledger, self.clock.returned)) or self.clock.awaits(seat)
        alone = () if is_kept else self.presence.alone(others)
        record = ruling_claimed(self.dealer, self.ledger, seat, self._unrecorded(), alone)
        if record is None:
            wait_ms = self.presence.claimable_in_ms(others)
            message = "expected the other side to be away for longer, and no deal to be under way"
            raise RefusedRequestError(Code.NOT_NOW, message, wait_ms=wait_ms)
        return self.add(record)

    def away(self) -> tuple[Away, ...]:
        """Return who is away, for a follower that has been sent every record."""
        return self.presence.away()

    def replay(self, row: AddRecord, *, is_known: bool = False) -> Turn:
        """Take the next record that is already in the store; return what followed from it.

        `is_known` says that it is of a hand in mode blind that was closed, and exposed nobody.

        Raises:
            CheckError: It does not follow.
            RebuildError: The match's secrets do not give what was committed to.
        """
        record = Record(row.signer, row.body, row.sig)
        body = parse(record)
        # signing on with other secrets than it was dealt with would make a second history of the match
        if not self.dealer.reproduces(self.ledger, record, body):
            raise RebuildError(f"record {row.k}: the secrets stored give another")
        folded = fold(self.ledger, record, body, is_known=is_known)
        if isinstance(body, Deal) and self.ledger.blind_hand is None:
            folded = self._dealt(folded)
        turn = Turn(
            k=row.k,
            body=body,
            opens=opens_decision(body),
            here=position(folded.ledger),
            window=window(self.ledger, record, body, folded),
            # play.md, "Who is there, and time": what was used of a decision since this record is given back
            clocks=Clocks.from_bytes(row.clocks),
            taken_at=trio.current_time(),
            at_ms=row.at_ms,
            rows=(),
            frame=record_frame(self._table, row),
            to_seats=(),
        )
        self.note(turn, gate=0)
        if isinstance(body, Close):
            self.recent.close_hand(0)
        return turn


def ending(setup: MatchSetup, end: End, *, is_rated: bool) -> tuple[EndMatch | RateMatch, ...]:
    """Return what is stored beside the last record."""
    result = _result(setup, end) if is_rated else ()
    return (EndMatch(setup.mid, end.reason, now_ms()), *result)


def _result(setup: MatchSetup, end: End) -> tuple[RateMatch, ...]:
    """Return for whom a match counts; nobody if it has no winner, or a guest began it."""
    # the seats of the setup, not those of the end: whoever leaves a match to a substitute gets the result
    players = tuple(_players(setup))
    if end.winner is None or len(players) < len(setup.seats):
        return ()
    sides = players[end.winner :: 2], players[1 - end.winner :: 2]
    return (RateMatch(setup.mid, setup.terms.variant.name, len(players), *sides),)


def _players(setup: MatchSetup) -> Iterator[RatedPlayer]:
    for seat in setup.seats:
        if isinstance(seat, SeatTaken):
            yield RatedPlayer(seat.pk, fingerprint(seat.pk), seat.name.decode())


def save_secrets(at_rest: bytes, th: bytes, secrets: MatchSecrets) -> SaveSecrets:
    """Return what is stored of the secrets of a match under the terms `th`, sealed with the key `at_rest`."""
    return SaveSecrets(th, seal_at_rest(at_rest, secrets.to_bytes(), th))

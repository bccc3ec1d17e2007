"""One match as a seat or a watcher follows it: messages in; happenings, and what to send, out; no socket.

A record is first checked and kept, then reported; then what it requires of the seat is signed and stored. While records
are being replayed nothing is sent. Invariant: nothing is sent for a seat that is not, or no longer, played from here.
"""

from typing import assert_never

from truc_client.errors import CheckFailedError, ChoiceError, ClientError
from truc_client.happenings import (
    CardsDealt,
    Choice,
    Happening,
    MatchEnded,
    MatchStarted,
    PartnerCards,
    RecordSeen,
    Signed,
    Substituted,
    Waiting,
)
from truc_client.home.store import Statement
from truc_client.matches.choosing import Choosing, Sendable
from truc_client.matches.live_audit import Witness
from truc_client.matches.offers import ClearReader, OfferReader
from truc_client.matches.resting import Rest
from truc_client.matches.signer import Signer
from truc_client.matches.standing import Standing, Wish, check_standing
from truc_client.matches.telling import cards_told, match_started, told_again
from truc_protocol.audit import Finding
from truc_protocol.bodies import Ack, AnyBody, Close, End, Proxy, Rekey, Sub
from truc_protocol.boxes import BoxError
from truc_protocol.codec import dec
from truc_protocol.crypto.keys import box_key
from truc_protocol.errors import Code
from truc_protocol.facts import counts_least, means
from truc_protocol.ledger import Ledger
from truc_protocol.messages import (
    BoxedOptions,
    BoxedSignSeen,
    MatchRecord,
    OpenOptions,
    OpenSignSeen,
    OwnCards,
    Refusal,
)
from truc_protocol.messages import Waiting as WaitingNotice
from truc_protocol.records import Phase, Record, parse, tag_of
from truc_protocol.talk import addressee, check_seen
from truc_words import Sentence

_TAG = "truc/1/"
Notice = OwnCards | WaitingNotice | BoxedSignSeen | OpenSignSeen


class SeatMatch:
    """One match in progress."""

    def __init__(
        self,
        witness: Witness,
        seat: int | None,
        signer: Signer | None = None,
        reader: OfferReader | None = None,
    ) -> None:
        self.witness = witness
        self.seat = seat
        self._signer = signer
        self._reader = reader
        self._choosing = Choosing(witness, seat, signer, reader)
        self.is_live = False
        self.is_yielded = False
        self._sent: set[bytes] = set()
        self.is_finished = False

    @property
    def mid(self) -> bytes:
        """The match id."""
        return self.witness.ledger.setup.mid

    @property
    def ledger(self) -> Ledger:
        """The match so far."""
        return self.witness.ledger

    @property
    def is_over(self) -> bool:
        """Whether the end has come."""
        return self.ledger.phase is Phase.ENDED

    @property
    def is_settled(self) -> bool:
        """Whether the end has come, and this seat's ack of it if the seat owes one."""
        return self.is_over and (not self._holds or self.seat in self.ledger.acks)

    @property
    def _holds(self) -> bool:
        return self._signer is not None and self._signer.chain(self.ledger) is not None

    @property
    def wish(self) -> Wish:
        """How far this player would go for the seat while it does not hold it."""
        return Wish.LOOK_ON if self._signer is None else self._signer.wish

    @wish.setter
    def wish(self, wish: Wish) -> None:
        if self._signer is not None:
            self._signer.wish = wish

    @property
    def standing(self) -> Standing:
        """What this player is to the seat; a player without a key just follows."""
        return Standing.HOLDS if self._signer is None else self._signer.standing(self.ledger)

    def check_standing(self) -> None:
        """Check that the seat is played from here, now that no record is missing; once it is, the wish for it ends.

        Raises:
            NotPlayedError: The seat was never this player's.
            ClientError: It is played from elsewhere, or its secrets are lost.
        """
        standing, signer = self.standing, self._signer
        if signer is None or (self.is_over and standing is Standing.LOST):
            return  # the secrets are dropped at the end
        has_held = signer.has_held(self.ledger)
        try:
            check_standing(standing, signer.wish, has_held=has_held)
        except ClientError:
            if has_held:
                signer.drop_secrets()
            raise
        if standing is Standing.HOLDS:
            signer.wish = Wish.LOOK_ON

    def ask_again(self) -> None:
        """Note that what may be lost is asked for again: only what is new will be told."""
        self._choosing.ask_again()

    @property
    def next(self) -> int:
        """The position of the next record."""
        return self.ledger.k

    def pause_sending(self) -> None:
        """Note that records are being replayed."""
        self.is_live = False

    def interrupted(self) -> None:
        """Note that the connection is gone, and with it perhaps what was sent or asked for."""
        self.pause_sending()
        self._sent.clear()
        self._choosing.interrupted()

    def yield_seat(self) -> None:
        """Note that another connection has the seat: until it is taken back, nothing is signed or sent for it here."""
        self.is_yielded, self.wish = True, Wish.LOOK_ON

    def take_back(self) -> None:
        """Note that the seat is taken back; the missing records come first."""
        self.is_yielded = False
        self.interrupted()

    def reached(self, k: int | None) -> None:
        """Note that the server has sent everything, up to `k` by its own word.

        Raises:
            UnboundError: It has not, or had shown more before.
        """
        self._check_end()
        self.witness.check_reached(k)
        self.is_live = True

    def _check_end(self) -> None:
        """Check that the end leaves room for what was accepted before: after it each seat has only an ack."""
        if self._signer is None or not self.is_over or not self._signer.is_behind(self.ledger):
            return
        end, mark = self.ledger.parallel[0], self._signer.mark
        message = f"the match ends at {end}, but was accepted up to {mark}"
        if end + len(self.ledger.setup.seats) < mark:
            self.witness.fail("C33", message, "server")
        self.witness.doubt("C33", message)

    def go_on(self) -> None:
        """Note that nothing is left to replay."""
        self.is_live = True

    def take_record(self, message: MatchRecord) -> list[Happening]:
        """Take the next record; one that is kept already is compared.

        Raises:
            CheckFailedError: It fails a check, and somebody is to blame.
            UnboundError: It fails one, and nobody has signed it.
        """
        record = Record(message.signer, message.body, message.sig)
        if message.k < self.next:
            self.witness.repeat(message.k, record)
            return []
        return self._told(self._take(record))

    def take_past(self, record: Record) -> None:
        """Take the next record without reporting it: one from before a watcher came.

        Raises:
            CheckFailedError: It fails a check, and somebody is to blame.
            UnboundError: It fails one, and nobody has signed it.
        """
        self._take(record)

    def _take(self, record: Record) -> Finding:
        finding = self.witness.take(record)
        self._choosing.note(finding)
        self._note_chain(finding.body)
        if self.is_live and self._signer is not None and isinstance(finding.body, Close):
            self._signer.keep_place(self.ledger)
        return finding

    def _note_chain(self, body: AnyBody) -> None:
        """Let hands be opened with a key of this client once it has come into force."""
        held = None if self._signer is None else self._signer.chain(self.ledger)
        if held is not None and isinstance(body, Rekey | Sub):
            self.witness.add_box_key(box_key(held.secret))

    def is_ahead(self, message: MatchRecord) -> bool:
        """Tell whether records are missing before this one."""
        return message.k > self.next

    def _told(self, finding: Finding) -> list[Happening]:
        body, k = finding.body, finding.k
        opened = self.witness.opened if isinstance(body, Close) else None
        facts = means(body, self.ledger, finding.events, opened)
        kind = tag_of(body).removeprefix(_TAG)
        seen = RecordSeen(-1 if k is None else k, kind, tuple(facts), counts_least(self.ledger))
        told: list[Happening] = [seen]
        told += cards_told(self.witness, self.seat, body)
        if isinstance(body, Sub):
            told.append(Substituted(body.seat, body.name.decode()))
        if self.is_live and self._is_last(body):
            told.append(self.finish())
        return told

    def _is_last(self, body: AnyBody) -> bool:
        """Tell whether this client needs no more of the match: the end is in and, if it holds a seat, its own ack."""
        if not self._holds:
            return isinstance(body, End)
        return isinstance(body, Ack) and body.seat == self.seat

    def started(self, *, resumed: bool) -> MatchStarted:
        """Return the report that the match has begun, or goes on."""
        return match_started(self.witness, self.seat, resumed=resumed)

    def begun_again(self) -> list[Happening]:
        """Return the report that a match kept in part goes on: how it stands, and the cards of the open hand."""
        return told_again(self.witness, self.seat)

    def finish(self) -> MatchEnded:
        """Conclude a match that goes no further; once its end has come, the secrets are dropped.

        Raises:
            CheckFailedError: C33, it ends before what was accepted earlier.
            UnboundError: Acks that were accepted before are missing.
        """
        self._check_end()
        self.is_finished = True
        self.witness.file.sync()  # before the store: what it marks must not be lost with the file
        if self._signer is not None and self.is_over:
            self._signer.end(self.ledger)
        return MatchEnded(self.witness.verdict(), self.witness.file.path)

    def owed(self) -> Sendable | None:
        """Return what this seat must send now, once per connection: what is due, or a decision made before.

        Raises:
            CheckFailedError: The server asks for a release again under another head.
        """
        if self._signer is None or not self.is_live or self.is_yielded:
            return None
        if self.is_over and not self.is_settled:
            self.witness.file.sync()  # before the store: what it marks must not be lost with the file
        try:
            statement = self._signer.owed(self.ledger)
        except CheckFailedError as error:
            self.witness.fail(error.check, error.message, "server")
        statement = statement or self._choosing.kept()
        if statement is None or statement.body in self._sent:
            return None
        self._sent.add(statement.body)
        return statement

    def take_notice(self, message: Notice) -> list[Happening]:
        """Take what only this seat is told: a guest's cards or its partner's, whom the hand waits for, a sign.

        Raises:
            UnboundError: A sign is not in the box it must be in, or is no word of the game.
        """
        match message:
            case OwnCards(of=partner, cards=cards):
                return [CardsDealt(cards) if partner is None else PartnerCards(partner, cards)]
            case WaitingNotice():
                told = Waiting(message.seats, message.deadline_ms, message.what)
                return [told] if message.at == self.next else []
            case BoxedSignSeen() | OpenSignSeen():
                return self._seen_sign(message)
            case _:
                assert_never(message)

    def _seen_sign(self, message: BoxedSignSeen | OpenSignSeen) -> list[Happening]:
        if message.at != self.next or message.sender == self.seat:
            return []  # lapsed, as another record has come; or one that this seat should not be told
        try:
            word = (self._reader or ClearReader()).read_sign(message, self.ledger)
            check_seen(self.ledger, message.sender, word)
        except BoxError as error:
            self.witness.doubt("C9", f"sign at {message.at}: {error}")
        return [Signed(message.sender, word)]

    def sign(self, word: str) -> tuple[int, bytes | None]:
        """Return to whom a sign of this seat goes now, and its box; a guest's has none.

        Raises:
            ChoiceError: Nobody sees a sign of this seat.
        """
        to = None if self.seat is None else addressee(self.ledger, self.seat)
        if to is None or self._reader is None:
            raise ChoiceError(Sentence("failures.sign_unseen"))
        return to, self._reader.seal_sign(self.ledger, to, word)

    def take_options(self, message: BoxedOptions | OpenOptions) -> tuple[list[Happening], Sendable | None]:
        """Take what may be chosen now; a choice that still stands is repeated instead of asked for.

        Raises:
            UnboundError: The options are not what this seat can sign.
        """
        if message.at != self.next or self.is_yielded:
            return [], None  # options for a position that is over or not reached, or for another connection
        told, again = self._choosing.take(message)
        self._note_sent(again)
        return [] if told is None else [told], again

    def choose(self, choice: Choice, place: int | None = None) -> Sendable | None:
        """Sign and store a choice; `place` is where to cut. None if its position is over: it comes too late.

        Raises:
            ChoiceError: It is none of the newest options, or another was signed for this position.
        """
        return self._note_sent(self._choosing.choose(choice, place))

    def resign(self) -> Sendable:
        """Sign that this side gives the match up.

        Raises:
            ChoiceError: Something was already signed for this position, or this seat may sign nothing now.
        """
        resigned = self._choosing.resign()
        self._note_sent(resigned)
        return resigned

    def ask_rest(self, kind: Rest) -> Sendable:
        """Sign that this seat asks for a pause, or for its end.

        Raises:
            ChoiceError: It may not ask now, or has already; or something was already signed for this position.
        """
        asked = self._choosing.ask_rest(kind)
        self._note_sent(asked)
        return asked

    def has_taken(self, at: int, sent: Sendable) -> bool:
        """Tell whether the record at a position is what this seat sent for it."""
        if at >= self.next:
            return False
        record = self.witness.file.records[at - self.next]
        if isinstance(sent, Statement):
            return record.body == sent.body
        body = parse(record)
        return isinstance(body, Proxy) and (body.seat, body.kind) == (self.seat, sent.line)

    def _note_sent(self, sendable: Sendable | None) -> Sendable | None:
        if self.is_live and isinstance(sendable, Statement):
            self._sent.add(sendable.body)  # otherwise `owed` returns it once the connection is back
        return sendable

    def refused(self, at: int, sent: Sendable, refusal: Refusal) -> None:
        """Keep a signed refusal of what was sent, so that another choice may be signed for that position."""
        if refusal.code != Code.STALE_POSITION:
            self._choosing.drop()
        if begins_chain(sent) and isinstance(sent, Statement):
            self._sent.discard(sent.body)  # no player waits for its answer: it may go out again
        if self._signer is not None and isinstance(sent, Statement) and refusal.refuse is not None:
            spk = self.ledger.setup.terms.table.spk
            self._signer.refused(spk, at, sent, Record(*refusal.refuse))

    def close(self) -> None:
        """Close the transcript; nothing is signed or sent any more."""
        self.pause_sending()
        self.witness.file.close()


def begins_chain(sendable: Sendable) -> bool:
    """Tell whether what is sent begins a new chain, for one's own seat or for one taken over."""
    return isinstance(sendable, Statement) and dec(sendable.body)[0] in (tag_of(Rekey), tag_of(Sub))

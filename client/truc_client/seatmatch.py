"""One match as one seat, or a watcher, follows it: messages in, happenings and things to send out; no socket.

The order is: a record is checked and kept, then told, then what it asks of the seat is signed and stored. While records
are being replayed nothing is sent. Invariant: a choice is signed only for the position and head that stand now.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, assert_never

from truc_client.errors import CheckFailedError, ChoiceError, SignedBeforeError
from truc_client.happenings import (
    CardsDealt,
    Choice,
    Happening,
    MatchEnded,
    MatchStarted,
    PartnerCards,
    RecordSeen,
    Signed,
    Waiting,
    YourTurn,
)
from truc_client.offers import ClearReader, Offered, OfferReader, same_decision
from truc_client.signer import Signer
from truc_client.store import Statement
from truc_client.telling import cards_told, match_started, told_again
from truc_client.witness import Witness
from truc_protocol.audit import Finding
from truc_protocol.bodies import Ack, Act, AnyBody, Close, End, Proxy
from truc_protocol.boxes import BoxError
from truc_protocol.dealing import DealtCards
from truc_protocol.errors import Code
from truc_protocol.ledger import Ledger
from truc_protocol.meaning import means
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
from truc_protocol.records import Phase, Record, tag_of
from truc_protocol.talk import addressee, check_seen

_CUT = "cut"
_TAG = "truc/1/"


class GuestChoice(NamedTuple):
    """A guest's choice, which the server writes down."""

    at: int
    line: str
    place: int | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What was chosen last, and from which options."""

    at: int
    offer: int
    choice: Choice
    place: int | None


Sendable = Statement | GuestChoice
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
        self.is_live = False
        self._sent: set[bytes] = set()
        self._offered: Offered | None = None
        self._decision: Decision | None = None
        self._overtaken = False
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
        """Whether the end has come and this seat's ack of it, where it owes one."""
        return self.is_over and (self._signer is None or self.seat in self.ledger.acks)

    @property
    def next(self) -> int:
        """The position of the next record."""
        return self.ledger.k

    def pause_sending(self) -> None:
        """Note that the connection is gone, or records are being replayed."""
        self.is_live = False
        self._sent.clear()

    def reached(self, k: int | None) -> None:
        """Note that the server has sent everything, which is up to `k` as it says.

        Raises:
            CheckFailedError: It did not, or had shown more before.
        """
        self.witness.check_reached(k)
        self.is_live = True

    def go_on(self) -> None:
        """Note that nothing has to be replayed: the match has just begun."""
        self.is_live = True

    def take_record(self, message: MatchRecord) -> list[Happening]:
        """Take the next record; one that is known already is compared.

        Raises:
            CheckFailedError: It fails a check.
        """
        record = Record(message.signer, message.body, message.sig)
        if message.k < self.next:
            self.witness.repeat(message.k, record)
            return []
        finding = self.witness.take(record)
        self._note_overtaken(finding)
        self._offered = None
        if self._signer is not None and isinstance(finding.body, Close):
            self._signer.keep_place(self.ledger)
        return self._told(finding)

    def is_ahead(self, message: MatchRecord) -> bool:
        """Tell whether records are missing before this one."""
        return message.k > self.next

    def _note_overtaken(self, finding: Finding) -> None:
        own = self.seat is not None and _author(finding.body) == self.seat
        if self._decision is not None and finding.k is not None and finding.k >= self._decision.at:
            self._overtaken = not own
            if own:
                self._decision = None

    def _told(self, finding: Finding) -> list[Happening]:
        body, k = finding.body, finding.k
        facts = means(body, self.ledger, finding.events, self._just_opened(body))
        kind = tag_of(body).removeprefix(_TAG)
        told: list[Happening] = [RecordSeen(-1 if k is None else k, kind, tuple(facts))]
        told += cards_told(self.witness, self.seat, body)
        if self._is_last(body):
            told.append(self.finish())
        return told

    def _is_last(self, body: AnyBody) -> bool:
        """Tell whether nothing of this match is left for this client: a keyed seat's own ack is in."""
        if self._signer is None:
            return isinstance(body, End)
        return isinstance(body, Ack) and body.seat == self.seat

    def _just_opened(self, body: AnyBody) -> DealtCards | None:
        return self.witness.opened if isinstance(body, Close) else None

    def started(self, *, resumed: bool) -> MatchStarted:
        """Tell that the match is there."""
        return match_started(self.witness, self.seat, resumed=resumed)

    def begun_again(self) -> list[Happening]:
        """Tell that a match of which a part was kept goes on, how it stands, and the cards of the hand that was open."""
        return told_again(self.witness, self.seat)

    def finish(self) -> MatchEnded:
        """Conclude a match that goes on no more; the secrets are dropped once its end has come."""
        self.is_finished = True
        if self._signer is not None and self.is_over:
            self._signer.end(self.ledger)
        self.witness.file.sync()
        return MatchEnded(self.witness.verdict(), self.witness.file.path)

    def owed(self) -> Sendable | None:
        """Return what this seat must send now, once on each connection: a release, an ack, or a decision made before.

        Raises:
            CheckFailedError: The server asks for a release again under another head.
        """
        if self._signer is None or not self.is_live:
            return None
        try:
            statement = self._signer.owed(self.ledger)
        except CheckFailedError as error:
            self.witness.fail(error.check, error.message, error.culprit)
        statement = statement or self._kept()
        if statement is None or statement.body in self._sent:
            return None
        self._sent.add(statement.body)
        return statement

    def _kept(self) -> Statement | None:
        if self._signer is None or self.ledger.phase not in (Phase.BETWEEN, Phase.HAND):
            return None
        return self._signer.kept(self.ledger)

    def take_notice(self, message: Notice) -> list[Happening]:
        """Take what this seat alone is told: a guest's cards or its partner's, whom the hand waits for, a sign.

        Raises:
            CheckFailedError: A sign is not in the box that it must be in, or is no word of the game.
        """
        match message:
            case OwnCards(of=partner, cards=cards):
                return [CardsDealt(cards) if partner is None else PartnerCards(partner, cards)]
            case WaitingNotice():
                return [Waiting(message.seats, message.deadline_ms)] if message.at == self.next else []
            case BoxedSignSeen() | OpenSignSeen():
                return self._seen_sign(message)
            case _:
                assert_never(message)

    def _seen_sign(self, message: BoxedSignSeen | OpenSignSeen) -> list[Happening]:
        if message.at != self.next or message.sender == self.seat:
            return []  # void: another record has come, or it is none that this seat would be told
        try:
            word = (self._reader or ClearReader()).read_sign(message, self.ledger)
            check_seen(self.ledger, message.sender, word)
        except BoxError as error:
            self.witness.fail("C9", f"sign at {message.at}: {error}", "server")
        self._keep_counter()
        return [Signed(message.sender, word)]

    def sign(self, word: str) -> tuple[int, bytes | None]:
        """Return to whom a sign of this seat goes now, and its box; None for the box of a guest.

        Raises:
            ChoiceError: Nobody sees a sign of this seat.
        """
        to = None if self.seat is None else addressee(self.ledger, self.seat)
        if to is None or self._reader is None:
            raise ChoiceError("nobody sees a sign of this seat")
        return to, self._reader.seal_sign(self.ledger, to, word)

    def take_options(self, message: BoxedOptions | OpenOptions) -> tuple[list[Happening], Sendable | None]:
        """Take what may be chosen now; a choice that still stands is made again instead of asked for.

        Raises:
            CheckFailedError: The options are not what this seat can sign.
        """
        if message.at != self.next or self._reader is None:
            return [], None  # options of a position that is over, or not reached
        try:
            offered = self._reader.read(message, self.ledger, self.witness.openings)
        except BoxError as error:
            self.witness.fail("C9", f"options at {message.at}: {error}", "server")
        self._keep_counter()
        self._offered = offered
        if self._kept() is not None:
            return [], None  # decided before a restart; `owed` sends those bytes
        again = self._repeated(offered)
        if again is not None:
            return [], again
        told = YourTurn(
            offered.at, offered.offer, offered.choices, message.must, message.deadline_ms, self._overtaken
        )
        self._decision, self._overtaken = None, False
        return [told], None

    def _keep_counter(self) -> None:
        if self._signer is not None and self._reader is not None:
            self._signer.counter = self._reader.counter

    def _repeated(self, offered: Offered) -> Sendable | None:
        decision = self._decision
        if decision is None or not self._overtaken:
            return None
        between = self.witness.file.records[decision.at - self.next :]
        if not same_decision(decision.choice, decision.offer, offered, between):
            return None
        return self._decided(offered, decision.choice, decision.place)

    def choose(self, choice: Choice, place: int | None = None) -> Sendable | None:
        """Sign a choice, stored; `place` is where to cut. None if its position is over: it comes too late.

        Raises:
            ChoiceError: It is none of the newest options, or another was signed for this position.
        """
        offered = self._offered
        if choice.at < self.next:
            return None
        if offered is None or choice not in offered.choices:
            raise ChoiceError(f"expected one of the newest options, got {choice.line!r}")
        return self._decided(offered, choice, place)

    def _decided(self, offered: Offered, choice: Choice, place: int | None) -> Sendable:
        self._decision = Decision(offered.at, offered.offer, choice, place)
        self._overtaken = False
        if self._signer is None:
            return GuestChoice(offered.at, choice.line, place if choice.kind == _CUT else None)
        return self._signed(choice, self._args(choice, place))

    def _args(self, choice: Choice, place: int | None) -> tuple[Any, ...]:
        if choice.kind == _CUT and place is not None:
            deck = self.ledger.setup.terms.table.deck
            if not 0 < place < deck:
                raise ChoiceError(f"expected a place from 1 to {deck - 1} to cut, got {place}")
            return (place,)
        return choice.args or ()

    def _signed(self, choice: Choice, args: tuple[Any, ...]) -> Statement:
        if self._signer is None:
            raise ValueError("a guest signs nothing")
        try:
            statement = self._signer.act(self.ledger, choice.kind, args)
        except SignedBeforeError as error:
            raise ChoiceError(str(error)) from error
        self._note_sent(statement)
        return statement

    def _note_sent(self, statement: Statement) -> None:
        if self.is_live:
            self._sent.add(statement.body)  # else `owed` gives it out once the connection is back

    def resign(self) -> Sendable:
        """Sign that this side gives the match up.

        Raises:
            ChoiceError: An act was signed for this position already.
        """
        if self._signer is None:
            return GuestChoice(self.next, "resign")
        try:
            statement = self._signer.resign(self.ledger)
        except SignedBeforeError as error:
            raise ChoiceError(str(error)) from error
        self._note_sent(statement)
        return statement

    def refused(self, at: int, sent: Sendable, refusal: Refusal) -> None:
        """Keep a signed refusal of what was sent, so that another choice may be signed for that position."""
        if refusal.code != Code.STALE_POSITION:
            self._decision = None  # it is not made again by itself
        if self._signer is not None and isinstance(sent, Statement) and refusal.refuse is not None:
            spk = self.ledger.setup.terms.table.spk
            self._signer.refused(spk, at, sent, Record(*refusal.refuse))

    def close(self) -> None:
        """Close the transcript; nothing is signed or sent any more."""
        self.pause_sending()
        self.witness.file.close()


def _author(body: AnyBody) -> int | None:
    return body.seat if isinstance(body, Act | Proxy) else None

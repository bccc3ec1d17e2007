"""One match as a seat or a watcher follows it: messages in; happenings, and what to send, out; no socket.

A record is first checked and kept, then reported; then what it requires of the seat is signed and stored. While records
are being replayed nothing is sent. Invariants: nothing is sent for a seat that is not, or no longer, played from here; a
choice is signed only for the current position and head.
"""

from typing import Any, Final, assert_never

from truc_client.errors import CheckFailedError, ChoiceError, ClientError, NotPlayedError, SignedBeforeError
from truc_client.happenings import (
    CardsDealt,
    Happening,
    MatchEnded,
    MatchWaits,
    MoveChoice,
    PartnerCards,
    SignMade,
    YourTurn,
)
from truc_client.home.store import Statement
from truc_client.matches.choosing import (
    Choosing,
    ChosenMove,
    GuestChoice,
    PauseRequest,
    Sendable,
    check_pause_request,
)
from truc_client.matches.live_audit import LiveAudit
from truc_client.matches.offers import ClearReader, FoundOptions, Offered, OfferReader
from truc_client.matches.pack_steps import PackSteps
from truc_client.matches.signer import Intent, Signer, Tenure, check_tenure
from truc_client.matches.telling import record_told, view_of
from truc_protocol import messages
from truc_protocol.audit import Finding
from truc_protocol.bodies import Ack, Act, AnyBody, Close, End, Proxy, Rekey, Sub
from truc_protocol.boxes import BoxError
from truc_protocol.crypto.keys import box_key
from truc_protocol.errors import Code
from truc_protocol.messages import (
    BoxedOptions,
    BoxedSignSeen,
    MatchRecord,
    OpenOptions,
    OpenSignSeen,
    OwnCards,
    Refusal,
)
from truc_protocol.records import Phase, Record, parse
from truc_protocol.signs import addressee, check_sign_seen
from truc_rules import IllegalActionError, RulesError, Seat, View, apply, parse_move
from truc_words import Sentence

_CUT: Final = "cut"
_OPEN: Final = (Phase.BETWEEN, Phase.HAND)
_BEHIND: Final = "failures.behind"
_LOST: Final = "failures.secrets_lost"
SeatNotice = OwnCards | messages.Waiting | BoxedSignSeen | OpenSignSeen


class SeatMatch:
    """One match in progress.

    Attributes:
        audit: the live audit, which has checked every record so far.
        mid: the match id.
        ledger: the match so far, as the seat sees it.
        seat: the seat it is followed from; None for a watcher.
        signer: signs for the seat; None for a watcher and a guest.
        is_live: whether no record is missing, so that the seat may speak.
        is_yielded: whether another connection has the seat.
        is_vacant: whether the seat's player is gone from the match, as the table was last shown.
        is_stepping_in: whether this client's own record is on the way to take the seat over.
        is_finished: whether nothing more is wanted of it.
        steps: what the seat does with the pack in mode blind; None in mode dealt, and for a watcher.
        is_dealerless: whether the seats deal among themselves (mode blind).
    """

    def __init__(
        self,
        audit: LiveAudit,
        seat: int | None,
        signer: Signer | None = None,
        reader: OfferReader | None = None,
    ) -> None:
        self.audit = audit
        self.ledger = audit.seen
        self.mid = self.ledger.setup.mid
        self.seat = seat
        self.signer = signer
        self.is_live = False
        self.is_yielded = False
        self.is_vacant = False
        self.is_stepping_in = False
        self.is_finished = False
        self.is_dealerless = self.ledger.is_dealerless
        self.steps: PackSteps | None = None
        if self.is_dealerless and signer is not None and seat is not None:
            self.steps = PackSteps(audit, seat, signer)
        self._reader = reader
        self._choosing = Choosing()
        self._finds_options = False
        self._sent: set[bytes] = set()
        self._has_stood_by = False

    @property
    def next(self) -> int:
        """The position of the next record."""
        return self.ledger.k

    @property
    def view(self) -> View | None:
        """What this seat, or a watcher, may see of the match as it stands; None before the first dealer is drawn."""
        return view_of(self.ledger, self.seat)

    def why_not(self, line: str) -> str | None:
        """Return the key of the rule that a move line of this seat breaks now; None if it breaks none, or is no move."""
        match = self.ledger.match
        if match is None or self.seat is None:
            return None
        try:
            apply(match, parse_move(match.variant, Seat(self.seat), line))
        except IllegalActionError as error:
            return error.broken_rule and error.broken_rule.rule
        except RulesError:
            return None
        return None

    @property
    def is_over(self) -> bool:
        """Whether the end has come."""
        return self.ledger.phase is Phase.ENDED

    @property
    def is_settled(self) -> bool:
        """Whether the end has come, and this seat's ack of it if the seat owes one."""
        return self.is_over and (not self._has_chain or self.seat in self.ledger.acks)

    @property
    def _has_chain(self) -> bool:
        return self.signer is not None and self.signer.chain is not None

    @property
    def tenure(self) -> Tenure:
        """What this player is to the seat; a player without a key just follows."""
        return Tenure.HOLDS if self.signer is None else self.signer.tenure

    @property
    def stands_by(self) -> bool:
        """Whether this client waits to step in for a player who is gone from the match."""
        return self.is_vacant and self.tenure is Tenure.ANOTHERS

    def take_record(self, message: MatchRecord) -> list[Happening]:
        """Take the next record, and return what it tells; one that is kept already is compared.

        Raises:
            CheckFailedError: It fails a check, and somebody is to blame.
            UnboundError: It fails one, and nobody has signed it.
        """
        record = Record(message.signer, message.body, message.sig)
        if message.k < self.next:
            self.audit.repeat(message.k, record)
            return []
        finding = self.take_past(record)
        told = record_told(self.audit, self.seat, finding)
        if self.is_live and self._is_last(finding.body):
            told.append(self.finish())
        return told

    def take_past(self, record: Record) -> Finding:
        """Take the next record without reporting it: one from before a watcher came.

        Raises:
            CheckFailedError: It fails a check, and somebody is to blame.
            UnboundError: It fails one, and nobody has signed it.
        """
        finding = self.audit.take(record)
        self.ledger, body = self.audit.seen, finding.body
        if finding.k is not None:
            is_own = isinstance(body, Act | Proxy) and body.seat == self.seat
            self._choosing.note(finding.k, is_own=is_own)
        if self.signer is not None:
            self._advance(self.signer, body)
        return finding

    def _advance(self, signer: Signer, body: AnyBody) -> None:
        signer.advance(self.ledger)
        if isinstance(body, Rekey | Sub) and signer.chain is not None:
            links = signer.links() if self.is_dealerless else None
            self.audit.auditor.add_box_key(
                box_key(signer.chain.secret), links
            )  # the next hand is sealed to it
        # the mark is kept at each close (specification.md, 13); in between it goes with what is signed
        if isinstance(body, Close) and self.is_live:
            signer.keep_place()

    def _is_last(self, body: AnyBody) -> bool:
        """Tell whether this client needs no more of the match: the end is in and, if it holds a seat, its own ack."""
        if not self._has_chain:
            return isinstance(body, End)
        return isinstance(body, Ack) and body.seat == self.seat

    def reached(self, k: int | None) -> None:
        """Note that the server has sent everything, up to `k` by its own word.

        Raises:
            UnboundError: It has not, or had shown more before.
        """
        self._check_end()
        self.audit.check_reached(k)
        self.is_live = True

    def _check_end(self) -> None:
        """Check that the end leaves room for what was accepted before: after it each seat has only an ack."""
        if self.signer is None or not self.is_over or not self.signer.is_behind:
            return
        # the mark may stand on an ack: each seat has at most
        # one behind the end, and nobody else has anything there
        end, mark = self.ledger.parallel[0], self.signer.mark
        message = f"the match ends at {end}, but was accepted up to {mark}"
        if end + len(self.ledger.setup.seats) < mark:
            self.audit.raise_check_failed("C33", message, "server")
        self.audit.raise_unbound("C33", message)

    def finish(self) -> MatchEnded:
        """Conclude a match that goes no further; once its end has come, the secrets are dropped.

        Raises:
            CheckFailedError: C33, it ends before what was accepted earlier.
            UnboundError: Acks that were accepted before are missing.
        """
        self._check_end()
        self.is_finished = True
        self.audit.file.sync()  # before the store: what it marks must not be lost with the file
        if self.signer is not None and self.is_over:
            self.signer.end()
        return MatchEnded(self.audit.verdict(), self.audit.file.path)

    def check_seat(self) -> None:
        """Check, if no record is missing, that the seat is played from here or this client stands by for it.

        Raises:
            NotPlayedError: The seat was never this player's, or this client stood by and is no longer wanted.
            UnboundError: Another seat of the match is played from here.
            ClientError: It is played from elsewhere, or its secrets are lost.
        """
        if not self.is_live or self.signer is None:
            return
        if self.signer.tenure is not Tenure.ANOTHERS:
            self._has_stood_by = self.is_stepping_in = False
            self._check_tenure(self.signer)
        elif self.is_vacant:
            self._has_stood_by = True
        elif not self.is_stepping_in:
            self.check_wanted()
            self._check_tenure(self.signer)

    def _check_tenure(self, signer: Signer) -> None:
        """Check that the seat is played from here; once it is, the wish for it ends."""
        if signer.tenure is Tenure.HOLDS:
            signer.intent = Intent.LOOK_ON
            return
        # there is nothing to sign any more, and nothing to warn of
        if signer.tenure is Tenure.LOST and self.is_over:
            return  # the secrets are dropped at the end
        # which seat it is nobody has signed: a wrong number must not cost the secrets of the right one
        if signer.has_another_seat:
            self.audit.raise_unbound("C9", "the seat said is not the one that is played from here")
        has_held = signer.has_held
        try:
            check_tenure(signer.tenure, signer.intent, has_held=has_held)
        except ClientError:
            if has_held:
                signer.drop_secrets()
            raise

    def check_wanted(self) -> None:
        """Check that this client is still wanted if it stands by, unless its own record is on the way.

        Raises:
            NotPlayedError: It is not.
        """
        is_waiting = self._has_stood_by and not self.is_stepping_in and self.tenure is Tenure.ANOTHERS
        if is_waiting and not self.is_vacant:
            raise NotPlayedError(Sentence("failures.no_longer_vacant"))

    def interrupted(self) -> None:
        """Note that the connection is gone, and with it perhaps what was sent or asked for."""
        self.is_live = self.is_stepping_in = False
        # on a new connection everything that is owed goes out again, byte for byte
        self._sent.clear()
        self._choosing.interrupted()

    def yield_seat(self) -> None:
        """Note that another connection has the seat: until it is taken back, nothing is signed or sent for it here."""
        self.is_yielded, self.is_stepping_in = True, False
        if self.signer is not None:
            self.signer.intent = Intent.LOOK_ON

    def take_back(self) -> None:
        """Note that the seat is taken back; the missing records come first."""
        self.is_yielded = False
        self.interrupted()

    def close(self) -> None:
        """Close the transcript; nothing is signed or sent any more."""
        self.is_live = False
        self.audit.file.close()

    def owed(self) -> Sendable | None:
        """Return what this seat must send now, once per connection: what is due, or a decision made before.

        Raises:
            CheckFailedError: The server asks for a release again under another head.
        """
        if self.signer is None or not self.is_live or self.is_yielded:
            return None
        if self.is_over and not self.is_settled:
            self.audit.file.sync()  # before the store: what it marks must not be lost with the file
        try:
            statement = self.signer.owed()
        except CheckFailedError as error:
            self.audit.raise_check_failed(error.check, error.message, "server")
        if self.steps is not None and statement is None:
            statement = self.steps.owed()
        statement = statement or self._kept()
        if statement is None or statement.body in self._sent:
            return None
        # once on each connection: the same bytes are answered
        # as a repeat, and asking again brings nothing new
        self._sent.add(statement.body)
        return statement

    def _kept(self) -> Statement | None:
        """Return what was already signed for the current position, if it may be sent."""
        if self.signer is None or self.ledger.phase not in _OPEN or not self.signer.may_decide:
            return None
        return self.signer.kept()

    def ask_again(self) -> None:
        """Note that what may be lost is asked for again: only what is new will be told."""
        self._choosing.ask_again()

    def find_options(self, message: messages.Waiting) -> YourTurn | Sendable | None:
        """Find out by the rules what may be chosen now, as everybody is told whom the match waits for."""
        self._finds_options = True
        if message.what != "decision" or self.audit.auditor.is_garbled:
            return None  # a seat whose hand is garbled says so, and makes no move
        must = self.seat in message.seats
        return self.take_options(FoundOptions(message.at, must, message.deadline_ms, message.seats))

    def take_options(self, message: BoxedOptions | OpenOptions | FoundOptions) -> YourTurn | Sendable | None:
        """Take what may be chosen now; return the turn to report, or a choice that still stands, to be repeated.

        Raises:
            UnboundError: The options are not what this seat can sign.
        """
        is_for_now = message.at == self.next and not self.is_yielded
        if (
            not is_for_now
            or self._reader is None
            or self.ledger.phase not in _OPEN
            or self.ledger.pause.active
        ):
            return None  # for a position that is over or not reached, or for another connection
        if self.signer is not None and self.signer.chain is None:
            return None  # they are for whoever holds the seat
        try:
            offered = self._reader.read(message, self.ledger, self.audit.auditor.openings)
            self._check_moves(offered)
        except BoxError as error:
            self.audit.raise_unbound("C9", f"options at {message.at}: {error}")
        if not self._may_decide or self._kept() is not None:
            return None  # not to be answered, or answered before a restart: those bytes are sent
        answer = self._choosing.take(offered, message, self.audit.file.records)
        if isinstance(answer, ChosenMove):
            return self._decided(answer.choice, answer.place)
        return answer

    def _check_moves(self, offered: Offered) -> None:
        """Check that what a guest is offered are moves of the game; whether they are allowed is the server's word.

        Raises:
            BoxError: One is none.
        """
        if self.signer is not None:
            return  # the lines of options that are signed have been made again
        variant, seat = self.ledger.setup.terms.variant, Seat(self.seat or 0)
        for choice in offered.choices:
            try:
                parse_move(variant, seat, choice.line)
            except RulesError as error:
                raise BoxError(f"option {choice.line!r}: {error}") from error

    @property
    def _may_decide(self) -> bool:
        return self.signer is None or self.signer.may_decide

    def choose(self, choice: MoveChoice, place: int | None = None) -> Sendable | None:
        """Sign and store a choice; `place` is where to cut. None if its position is over: it comes too late.

        Raises:
            ChoiceError: It is none of the newest options, or another was signed for this position.
        """
        # another record was quicker, which is nobody's mistake: newer options follow
        if choice.at < self.next:
            return None
        self._choosing.check(choice)
        return self._decided(choice, place)

    def _decided(self, choice: MoveChoice, place: int | None) -> Sendable:
        self._choosing.decided(choice, place)
        if choice.kind != _CUT:
            place = None
        if self.signer is None:
            return GuestChoice(self.next, choice.line, place)
        args = (choice.args or ()) if place is None else (self._checked(place),)
        return self._signed(choice.kind, args)

    def _checked(self, place: int) -> int:
        deck = self.ledger.setup.terms.table.deck
        if not 0 < place < deck:
            raise ChoiceError(Sentence("failures.place_expected", last=deck - 1, got=place))
        return place

    def resign(self) -> Sendable:
        """Sign that this side gives the match up.

        Raises:
            ChoiceError: Something was already signed for this position, or this seat may sign nothing now.
        """
        return self._sign_unoffered("resign")

    def sign_pause_request(self, kind: PauseRequest) -> Sendable:
        """Sign that this seat asks for a pause, or for its end.

        Raises:
            ChoiceError: It may not ask now, or has already; or something was already signed for this position.
        """
        if self.seat is None:
            raise ChoiceError(Sentence("failures.only_players_pause"))
        check_pause_request(self.ledger, self.seat, kind)
        return self._sign_unoffered(kind)

    def _sign_unoffered(self, kind: str) -> Sendable:
        """Sign what is never among the options."""
        if self.signer is None:
            return GuestChoice(self.next, kind)
        if not self.signer.may_decide:
            raise ChoiceError(Sentence(_BEHIND if self.signer.is_behind else _LOST))
        return self._signed(kind, ())

    def _signed(self, kind: str, args: tuple[Any, ...]) -> Statement:
        if self.signer is None:
            raise ValueError("a guest signs nothing")
        try:
            statement = self.signer.resign() if kind == "resign" else self.signer.act(kind, args)
        except SignedBeforeError as error:
            raise ChoiceError(str(error)) from error
        if self.is_live:
            self._sent.add(statement.body)  # otherwise `owed` returns it once the connection is back
        return statement

    def has_taken(self, at: int, sent: Sendable) -> bool:
        """Tell whether the record at a position is what this seat sent for it."""
        if at >= self.next:
            return False
        record = self.audit.file.records[at - self.next]
        if isinstance(sent, Statement):
            return record.body == sent.body
        body = parse(record)
        return isinstance(body, Proxy) and (body.seat, body.kind) == (self.seat, sent.line)

    def refused(self, at: int, sent: Sendable, refusal: Refusal) -> None:
        """Keep a signed refusal of what was sent; an honest server refuses no decision or new chain that the rules allow.

        Raises:
            CheckFailedError: C35, the server has refused such a one by signature.
        """
        # overtaken only, it may still stand when the options
        # come again; refused otherwise it would be refused again
        if refusal.code != Code.STALE_POSITION:
            self._choosing.forget()
        if self.signer is None or not isinstance(sent, Statement):
            return
        if begins_chain(sent):
            self._sent.discard(sent.body)  # no player waits for its answer: it may go out again
        elif not sent.is_decision:
            return  # a release or ack may be refused because it stands there already
        kept = None if refusal.refuse is None else self.signer.refused(at, sent, Record(*refusal.refuse))
        if kept is not None:
            self.audit.refused(at, sent, kept, was_offered=not self._finds_options)

    def take_notice(self, message: SeatNotice) -> list[Happening]:
        """Take what only this seat is told: a guest's cards or its partner's, whom the hand waits for, a sign.

        Raises:
            UnboundError: A sign is not in the box it must be in, or is no word of the game; or cards are none of the pack.
        """
        match message:
            case OwnCards():
                return self._told_cards(message)
            case messages.Waiting():
                seats = tuple(seat for seat in message.seats if seat < self.ledger.seats)
                told = MatchWaits(seats, message.deadline_ms, message.what)
                is_news = message.at == self.next and not (self._finds_options and self._choosing.has_any)
                return [told] if is_news else []
            case BoxedSignSeen() | OpenSignSeen():
                return self._seen_sign(message)
            case _:
                assert_never(message)

    def _told_cards(self, message: OwnCards) -> list[Happening]:
        # whoever has a key opens the boxes of the deals, which somebody has signed
        if self.seat is None or self.signer is not None:
            return []
        pack, partner = self.ledger.setup.terms.variant.pack, message.of
        if not set(message.cards) <= set(pack) or (partner or 0) >= self.ledger.seats:
            self.audit.raise_unbound(
                "C9", f"cards of the deal at {message.k}: expected cards of the pack, of a seat"
            )
        return [CardsDealt(message.cards) if partner is None else PartnerCards(partner, message.cards)]

    def _seen_sign(self, message: BoxedSignSeen | OpenSignSeen) -> list[Happening]:
        if message.at != self.next or message.sender == self.seat:
            return []  # lapsed, as another record has come; or one that this seat should not be told
        try:
            word = (self._reader or ClearReader()).read_sign(message, self.ledger)
            check_sign_seen(self.ledger, message.sender, word)
        except BoxError as error:
            self.audit.raise_unbound("C9", f"sign at {message.at}: {error}")
        return [SignMade(message.sender, word)]

    def sign(self, word: str) -> tuple[int, bytes | None]:
        """Return to whom a sign of this seat goes now, and its box; a guest's has none.

        Raises:
            ChoiceError: Nobody sees a sign of this seat.
        """
        to = None if self.seat is None else addressee(self.ledger, self.seat)
        if to is None or self._reader is None:
            raise ChoiceError(Sentence("failures.sign_unseen"))
        return to, self._reader.seal_sign(self.ledger, to, word)


def begins_chain(sendable: Sendable) -> bool:
    """Tell whether what is sent begins a new chain, for one's own seat or for one taken over."""
    return isinstance(sendable, Statement) and sendable.begins_chain

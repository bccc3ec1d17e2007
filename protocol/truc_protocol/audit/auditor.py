"""The auditor: feed it the records of a match as they come, and it checks everything that can be checked by then.

One auditor serves the live client, `truc verify` and a replay alike. The order of calls is: construct it with the rule
document, then `feed` every record, the setup's first. It raises at the first record that fails and takes nothing after
that. If a seat gives its own box key, its cards are opened and checked at every deal.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from truc_protocol.acts import HeldCard
from truc_protocol.audit.hands import ClosedHand, check_boxes, closed_hand, open_at_close, open_hand
from truc_protocol.audit.own_seat import (
    OwnSeat,
    open_deal,
    open_share,
    read_lent,
    read_sealed,
)
from truc_protocol.audit.verdict import Refutation, Result, UnsignedWord, Verdict, describe
from truc_protocol.bodies import (
    AnyBody,
    Call,
    Close,
    Deal,
    End,
    Guest,
    Keys,
    Lend,
    Proxy,
    Release,
    SeatTaken,
    Share,
    Sub,
    Void,
)
from truc_protocol.checks import CheckError, role_name
from truc_protocol.crypto import chains, keys
from truc_protocol.crypto.chains import Chain
from truc_protocol.crypto.keys import BoxKey, box_key
from truc_protocol.ledger import (
    ExposedSeat,
    FoldedRecord,
    Ledger,
    box_public,
    check_place,
    fold,
    learn,
    seats_unopened,
    start_ledger,
    untold,
)
from truc_protocol.records import SERVER, Phase, Record, claimed_place, parse, tag_of
from truc_protocol.setup import (
    MatchTerms,
    check_key,
    check_seats,
    check_signature,
    close_setup,
    open_terms,
    read_seat,
)
from truc_rules import CardError, Event, awaits_deal


class AuditError(Exception):
    """A record was refused: which one, by which check, and who is to blame if the record shows it."""

    def __init__(self, refutation: Refutation) -> None:
        super().__init__(str(refutation))
        self.refutation = refutation


class Finding(NamedTuple):
    """A record that passed: its position (None in the setup), its body, and what happened in the rules."""

    k: int | None
    body: AnyBody
    events: tuple[Event, ...] = ()


class _ClosedHands(NamedTuple):
    """A hand that is closed, and those before it: nothing is copied as they grow."""

    hand: ClosedHand
    before: "_ClosedHands | None"


class Auditor:
    """Check the records of one match, in order."""

    def __init__(self, document: bytes, own: OwnSeat | None = None) -> None:
        self._document = document
        self._own = own
        # of all keys that the seat has had: only the ledger tells which is in force
        self._own_keys = {} if own is None else {own.x.public: own.x}
        self._own_chains = {} if own is None else {own.x.public: own.chain}
        self._setup: tuple[Record, ...] = ()
        self._terms: MatchTerms | None = None
        self._seats: tuple[SeatTaken | Guest, ...] = ()
        self._ledger: Ledger | None = None
        # after the last signed record: a verdict leaves out what anybody could have added behind it
        self._signed: Ledger | None = None
        self._closed: _ClosedHands | None = None
        self._told: tuple[Event, ...] = ()  # of the open hand
        self._openings: tuple[HeldCard, ...] = ()
        self._partners: tuple[tuple[int, tuple[HeldCard, ...]], ...] = ()
        self._seen: Ledger | None = None  # in mode blind
        self._is_garbled = False
        self._words = UnsignedWord()
        # newcomers that the server has not signed after, and what follows them, which counts only once it has
        self._uncounted: tuple[tuple[Ledger, AnyBody], ...] = ()
        self._newcomers: frozenset[int] = frozenset()
        self._unopened: tuple[tuple[int, tuple[int, ...]], ...] = ()
        self._exposed: ExposedSeat | None = None
        self._failed: Refutation | None = None
        self._sound: frozenset[keys.SignatureToCheck] = frozenset()

    @property
    def ledger(self) -> Ledger | None:
        """The match so far; None as long as its setup is open."""
        return self._ledger

    @property
    def terms(self) -> MatchTerms | None:
        """The table record, once it has been checked."""
        return self._terms

    @property
    def seen(self) -> Ledger | None:
        """The match so far with the cards that the own seat sees.

        In mode dealt the audit itself knows them: a card that is there twice is the server's doing. In mode blind it may be
        any seat's, so what others do is judged by what everybody sees.
        """
        return self._ledger if self._seen is None else self._seen

    @property
    def is_garbled(self) -> bool:
        """Whether, in mode blind, the own seat's keys open no hand of cards, or one of them lies elsewhere too."""
        return self._is_garbled

    @property
    def openings(self) -> tuple[HeldCard, ...]:
        """The own seat's cards of the newest deal with what opens them, by slot."""
        return self._openings

    @property
    def partners(self) -> tuple[tuple[int, tuple[HeldCard, ...]], ...]:
        """The partners' cards of the newest deal that were shared with the own seat: seat, and openings by slot."""
        return self._partners

    @property
    def last_hand(self) -> ClosedHand | None:
        """The hand closed last; its `dealt` holds every card once the server's link is open."""
        return None if self._closed is None else self._closed.hand

    @property
    def hands(self) -> tuple[ClosedHand, ...]:
        """Every hand closed so far, the oldest first; their `dealt` holds the cards once they are open."""
        found, at = [], self._closed
        while at is not None:
            found.append(at.hand)
            at = at.before
        return tuple(reversed(found))

    def add_box_key(self, x: BoxKey, chain: Chain | None = None) -> None:
        """Let the auditor open boxes under a key the own seat rekeys to, or brings as a substitute, with its chain."""
        self._own_keys = {**self._own_keys, x.public: x}
        self._own_chains = {**self._own_chains, x.public: chain}

    def own_key(self) -> BoxKey | None:
        """Return the key that the seat's cards are sealed to now; None if it is not ours."""
        if self._own is None or self._ledger is None:
            return None
        public = box_public(self._ledger, self._own.seat)
        return None if public is None else self._own_keys.get(public)

    def expect(self, records: Sequence[Record], threads: int) -> None:
        """Check the signatures of the records that come next together, under the keys now in force.

        It judges nothing: `feed` looks once more at whatever is not found good under the key that is in force by then.
        """
        authors = () if self._ledger is None else self._ledger.contributors
        signed = [
            (author.public, record.body, record.sig)
            for record in records
            if record.sig and 0 <= record.signer < len(authors) and (author := authors[record.signer])
        ]
        self._sound = keys.verify_many(signed, threads)

    def feed(self, record: Record) -> Finding:
        """Check the next record.

        Raises:
            AuditError: It fails a check; the auditor takes nothing more.
        """
        if self._failed is not None:
            raise AuditError(self._failed)
        try:
            return self._feed(record)
        except CheckError as error:
            # anybody can bring a key: it is the seat's once the server has signed after it (decision 10)
            if record.signer in self._newcomers:
                error.culprit = None
            raise AuditError(self.refute(error)) from error

    def refute(self, error: CheckError) -> Refutation:
        """Fail the audit here; the reason may lie outside the records, such as a file that breaks off."""
        at = None if self._ledger is None else self._ledger.k
        self._failed = Refutation(error.check, error.message, error.culprit, at, len(self._setup))
        return self._failed

    def _feed(self, record: Record) -> Finding:
        if self._ledger is None:
            return Finding(None, self._feed_setup(record))
        before = self._ledger
        # C1 to C3 first, as specification.md 11 has them: nobody is blamed for what nobody has signed
        body = _parse(before, record)
        _check_author(before, record, body, self._sound)
        folded = self._close(before, record, body) if isinstance(body, Close) else fold(before, record, body)
        self._ledger = self._audit(before, folded.ledger, body)
        if self._own is not None and self._ledger.is_dealerless:
            self._see_own_cards(self._ledger, body)
        # with the last link the whole hand is played again: what was told as it happened is not told twice
        if before.blind_hand is not None and isinstance(body, Release):
            folded = FoldedRecord(folded.ledger, untold(folded.events, self._told))
        self._told = () if isinstance(body, Close) else self._told + folded.events
        self._count(before, record, body)
        # kept beyond its hand: a cheat is named also where the match ends otherwise than by its forfeit
        if self._ledger.blind_hand is not None and self._ledger.blind_hand.exposed is not None:
            self._exposed = self._ledger.blind_hand.exposed
        if before.blind_hand is not None and self._ledger.blind_hand is None and not isinstance(body, Void):
            # a void uses up a hand that nobody saw, and what was not dealt nobody may open
            seats = () if before.phase is Phase.CALLED else seats_unopened(before)
            self._unopened = (*self._unopened, *([(before.deal_index, seats)] if seats else []))
        return Finding(before.k, body, folded.events)

    def _count(self, before: Ledger, record: Record, body: AnyBody) -> None:
        """Count a record in the verdict: a proxy once a signature covers it, a newcomer's once the server has signed after it."""
        # nobody signs a proxy: it does not move the last signature on
        if isinstance(body, Proxy):
            self._words = self._words.with_record(before, body)
            return
        self._uncounted = (*self._uncounted, (before, body))
        if record.signer == SERVER:
            self._newcomers = frozenset()
        elif isinstance(body, Sub):
            self._newcomers |= {record.signer}
        if not self._newcomers:
            for ledger, passed in self._uncounted:
                self._words = self._words.with_record(ledger, passed)
            self._uncounted, self._signed = (), self._ledger

    def _feed_setup(self, record: Record) -> AnyBody:
        body = parse(record)
        if self._terms is None:
            self._terms = open_terms(self._document, record)
        elif len(self._seats) < self._terms.table.seats:
            seats = (*self._seats, read_seat(self._terms, record))
            check_seats(self._terms, seats)
            self._seats = seats
        else:
            setup = close_setup(self._terms, self._setup[1:], record)
            self._ledger = self._signed = start_ledger(setup)
        self._setup = (*self._setup, record)
        return body

    def _audit(self, before: Ledger, after: Ledger, body: AnyBody) -> Ledger:
        match body:
            case Deal() if not after.is_dealerless:
                return self._open_deal(after, body)
            case Share():
                return self._open_share(after, body)
            case End():
                self._end(before, body)
            case _:
                pass
        return after

    def _open_deal(self, ledger: Ledger, body: Deal) -> Ledger:
        self._partners = ()
        if self._own is None:
            return ledger
        ledger, self._openings = open_deal(ledger, body, self._own.seat, self._own_keys)
        return ledger

    def _open_share(self, ledger: Ledger, body: Share) -> Ledger:
        ledger, opened = open_share(ledger, body, self._own_keys)
        if opened:
            self._partners = (*self._partners, (body.giver, opened))
        return ledger

    def _see_own_cards(self, ledger: Ledger, body: AnyBody) -> None:
        """See in mode blind what the own seat sees: its hand once all keys are in, and what is lent to it."""
        own = self._own_now()
        match body:
            case Call():
                self._openings, self._partners, self._is_garbled = (), (), False
            case Keys() if (
                own is not None and ledger.blind_hand is not None and ledger.blind_hand.pack.is_keyed
            ):
                held = read_sealed(ledger, own)
                self._openings, self._partners = held or (), ()
                self._is_garbled = self._is_garbled or held is None
            case Lend() if own is not None and body.receiver == own.seat:
                lent = read_lent(ledger, body, own)
                self._partners = (*self._partners, (body.seat, lent or ()))
                self._is_garbled = self._is_garbled or lent is None
            case _:
                pass
        self._seen = self._with_own_cards(ledger)

    def _own_now(self) -> OwnSeat | None:
        """Return the own seat with the key and chain in force; None if they are not ours."""
        x = self.own_key()
        if x is None or self._own is None:
            return None
        return self._own._replace(x=x, chain=self._own_chains.get(x.public))

    def _with_own_cards(self, ledger: Ledger) -> Ledger:
        # while new cards are granted and not dealt the hand has no cards that could be learnt
        if self._own is None or ledger.hand is None or ledger.match is None or awaits_deal(ledger.match):
            return ledger
        seen = ledger
        try:
            for seat, held in ((self._own.seat, self._openings), *self._partners):
                seen = learn(seen, seat, [each.card for each in held])
        except CardError:
            self._is_garbled = True
            return ledger
        return seen

    def _close(self, before: Ledger, record: Record, body: Close) -> FoldedRecord:
        """Fold a close, with the cards that it opens recomputed.

        Its events are what has not been told yet, such as what became of a claim.
        """
        # the cards come before the fold, as they alone may tell that the hand is over; before them the
        # record's place, as the order of the checks has it
        check_place(before, record, body)
        if before.hand is None or before.match is None:
            return fold(before, record, body)
        opened, hand, happened = open_at_close(before, closed_hand(before, body))
        folded = fold(opened, record, body)
        self._closed = _ClosedHands(hand, self._closed)
        return FoldedRecord(folded.ledger, untold(happened + folded.events, self._told))

    def _end(self, before: Ledger, body: End) -> None:
        if before.is_dealerless:
            return  # the seats' links have opened each hand, and nothing is sealed by the server
        links = server_links(before, body)
        secret = box_key(body.xsec)
        # two rounds: every hand by its links and rules first, then every box (specification.md 11, end). What
        # a close has opened was judged there
        opened = [
            hand if hand.dealt else open_hand(before.setup, hand, links[hand.log.call.j + 1])
            for hand in self.hands
        ]
        closed = None
        for hand in opened:
            check_boxes(before.setup, hand, secret)
            closed = _ClosedHands(hand, closed)
        self._closed = closed

    def verdict(self) -> Verdict:
        """Say what the records fed so far prove.

        It leaves out what anybody could have written: guests' acts after the last signature, and a newcomer's record that
        the server has not signed after, with all that follows it.
        """
        if self._failed is not None:
            result = Result.REFUTED
        elif self._ledger is not None and self._ledger.phase is Phase.ENDED:
            result = Result.PROVEN
        else:
            result = Result.INCOMPLETE
        told = describe(result, self._failed, self._terms, self._signed, self._words)
        return told._replace(hands=len(self.hands), unopened=self._unopened, exposed=self._exposed)


Note = Callable[[Ledger | None, Record, Finding], None]
"""Is told every record that passed, with the ledger before it."""


def feed_all(
    auditor: Auditor,
    records: Iterable[Record],
    *notes: Note,
    note_failed: Callable[[Record], None] | None = None,
) -> None:
    """Feed records up to the first that fails; `notes` are told of each that passes, `note_failed` of that one."""
    for record in records:
        before = auditor.ledger
        try:
            finding = auditor.feed(record)
        except AuditError:
            if note_failed is not None:
                note_failed(record)
            return
        for note in notes:
            note(before, record, finding)


def _parse(ledger: Ledger, record: Record) -> AnyBody:
    """Decode a record; a senseless body blames its signer only if it is validly signed, and for this very place."""
    try:
        return parse(record)
    except CheckError as error:
        # anybody can take such a body from elsewhere: a refusal, a login, a record of another match
        here = ((ledger.setup.mid, ledger.k, ledger.head), (ledger.setup.mid, *ledger.parallel))
        known = 0 <= record.signer < len(ledger.contributors)
        author = ledger.contributors[record.signer] if known and claimed_place(record.body) in here else None
        if author is not None and keys.verify(author.public, record.body, record.sig):
            raise CheckError(error.check, error.message, role_name(record.signer)) from error
        raise


def _check_author(
    ledger: Ledger, record: Record, body: AnyBody, sound: frozenset[keys.SignatureToCheck]
) -> None:
    """Check the signature under the key in force, unless it is known to be good; a proxy has none."""
    match body:
        case Proxy():
            return
        # no role, or no key: the list names a signer who cannot be one, so nobody is to blame
        case _ if record.signer >= len(ledger.contributors):
            raise CheckError("C12", f"{tag_of(body)}: {role_name(record.signer)} is none of this table")
        # signed by the key that it brings, which nobody has checked yet
        case Sub():
            check_key(body.pk)
            check_signature(body.pk, record)
        case _:
            author = ledger.contributors[record.signer]
            if author is None:
                raise CheckError(
                    "C21", f"{tag_of(body)}: {role_name(record.signer)} has no key in this match"
                )
            if (author.public, record.body, record.sig) not in sound:
                check_signature(author.public, record)


def server_links(ledger: Ledger, body: End) -> dict[int, bytes]:
    """Return every link of the server, by number, from the ends of its chains down to their anchors."""
    table = ledger.setup.terms.table
    links: dict[int, bytes] = {}
    for first, newest in body.links:
        number = min(ledger.deal_index, first + table.links)
        under = chains.links_below(table.spk, table.tn, newest, highest=number, lowest=first)
        # the anchor, the last of them, opens no deal
        links.update(zip(range(number, first, -1), (newest, *under), strict=False))
    return links

"""The audit of one match while it is played: every record is checked, kept, and compared with what was kept before.

A record that fails a check under a valid signature of the culprit ends the match here for good: that is stored first,
then evidence is written, and nothing more is taken. So does anything the server has signed that contradicts what it has
signed before, whether or not it would pass in its place; and a refusal, by its signature, of what the rules allow or it
has taken. Invariant: what no signature binds anybody to leaves the match as it was.
"""

import reprlib
from contextlib import suppress
from copy import copy
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from truc_client.errors import CheckFailedError, HomeError, KeptEvidence, UnboundError
from truc_client.home.store import AcceptedPlace, HomeStore, Statement
from truc_client.home.transcripts import Evidence, TranscriptFile, keep_evidence, read_kept
from truc_protocol.audit import AuditError, Auditor, Finding, OwnSeat, Verdict, compare
from truc_protocol.audit.verified_prefix import servers_word
from truc_protocol.bodies import Close, End
from truc_protocol.checks import CheckError
from truc_protocol.dealing import DealtCards
from truc_protocol.errors import OVERTAKEN_CODES
from truc_protocol.evidence_file import Complaint, EvidenceItem, SignedRefusal, read_refusal
from truc_protocol.ledger import Ledger, fold
from truc_protocol.ledger.facts import means
from truc_protocol.records import SERVER, Record, body_hash, next_head, parse
from truc_protocol.transcript import Transcript

if TYPE_CHECKING:
    from truc_client.happenings import Fact

_GARBLED: Final = "C18"


class LiveAudit:
    """One match, checked as it comes; `aside` is its transcript that was set aside, to compare with.

    Attributes:
        file: the transcript.
        auditor: what has taken every record so far.
        recalled: what the replayed records mean, from the end of the last closed hand on.
    """

    def __init__(
        self,
        file: TranscriptFile,
        evidence: Path,
        store: HomeStore,
        own: OwnSeat | None = None,
        mark: AcceptedPlace | None = None,
        *,
        aside: Path | None = None,
    ) -> None:
        self.file = file
        self._evidence = evidence
        self._own = own
        self._mark = mark
        self._store = store
        self._aside = aside
        self._is_replaying = False
        self.auditor = Auditor(file.document, own)
        self.recalled: tuple[Fact, ...] = ()
        self._failing: dict[int, Record] = {}
        """What the server has signed for positions not reached yet, and what failed there without anybody to blame."""
        self._taken: SignedRefusal | None = None
        """The refusal of a body that has come as a record all the same, before the server has signed behind it."""

    @property
    def ledger(self) -> Ledger:
        """The match so far."""
        ledger = self.auditor.ledger
        if ledger is None:
            raise ValueError("the setup is not closed")
        return ledger

    @property
    def seen(self) -> Ledger:
        """The match so far as one's own seat sees it, with its cards; in mode blind nobody else's records are judged by them."""
        return self.auditor.seen or self.ledger

    @property
    def opened(self) -> DealtCards | None:
        """The cards of the hand closed last, if they are open; after a redeal, those of the newest deal."""
        hand = self.auditor.last_hand
        return hand.dealt[-1] if hand is not None and hand.dealt else None

    def has_head(self, k: int, head: bytes) -> bool:
        """Tell whether the match had this head before the record at a position that it has reached."""
        if not 0 <= k <= self.ledger.k:
            return False
        # positions count behind the setup, whose records stand first in the file
        own = self.file.records[len(self.file.records) - self.ledger.k :]
        return reduce(next_head, own[:k], self.ledger.setup.mid) == head

    def replay(self) -> int:
        """Check what the file holds already; return how many of its records follow the setup.

        Raises:
            UnboundError: The file fails a check: it is not what was kept.
        """
        self._is_replaying = True
        for record in self.file.records:
            self._recall(self._check(record))
        self._is_replaying = False
        return self.ledger.k

    def _recall(self, finding: Finding) -> None:
        if finding.k is None:
            return
        before = () if isinstance(finding.body, Close) else self.recalled
        self.recalled = (*before, *means(finding.body, self.ledger, finding.events))

    def begin(self, records: tuple[Record, ...]) -> None:
        """Take the setup's records."""
        for record in records:
            self.take(record)
        self.file.sync()

    def take(self, record: Record) -> Finding:
        """Check the next record and keep it.

        Raises:
            CheckFailedError: It fails a check, and somebody is to blame; evidence is kept.
            UnboundError: It fails one, and nobody has signed it; the match is as it was.
        """
        finding = self._check(record)
        self.file.append(record)
        if isinstance(finding.body, Close | End):
            self.file.sync()
        return finding

    def repeat(self, k: int, record: Record) -> None:
        """Compare a record that was sent again with the one kept for its position.

        Raises:
            CheckFailedError: Two histories were signed: C33, or C34 if a seat has signed both.
            UnboundError: They differ, but no two signatures contradict each other.
        """
        at = k - self.ledger.k + len(self.file.records)
        if self.file.records[at] == record:
            return
        own, second = tuple(self.file.records), (*self.file.records[:at], record)
        self._compare(own, second)
        self._compare(own, (*own, record))  # it may name another position
        evidence = Evidence(self.file.document, own, second)
        self._refuse(CheckError("C33", f"position {k} was sent again with another record"), evidence)

    def _compare(self, first: tuple[Record, ...], second: tuple[Record, ...]) -> None:
        """Check that two lists of records, of this match or of its table, do not contradict each other."""
        document = self.file.document
        found = compare(Transcript(document, first), Transcript(document, second))
        if found:
            failed = CheckError(found[0].check, found[0].message, found[0].culprit)
            self._stop(failed, Evidence(document, first, second))

    def check_reached(self, k: int | None) -> None:
        """Check that the server has sent all that it says there is, and all that it showed before.

        Raises:
            CheckFailedError: What was set aside and what came instead contradict each other, and both were signed.
            UnboundError: C33, the match is said to stand elsewhere, or ends earlier than what was accepted before.
        """
        own = self.ledger.k
        if k != own:
            self.raise_unbound("C33", f"the match is said to stand at {k}, but its records reach {own}")
        aside = None if self._aside is None else read_kept(self._aside)
        if aside is not None and aside.document == self.file.document:
            self._compare(tuple(self.file.records), aside.records)
        self._aside = None
        if self._mark is not None and own < self._mark.k:
            self.raise_unbound("C33", f"the match ends at {own}, but was accepted up to {self._mark.k}")

    def _check(self, record: Record) -> Finding:
        # what binds nobody may be the line's doing, and leaves the match as it was
        before = copy(self.auditor)
        try:
            return self._accept(record)
        except UnboundError:
            self.auditor = before
            raise

    def _accept(self, record: Record) -> Finding:
        try:
            finding = self.auditor.feed(record)
        except AuditError as error:
            refuted = error.refutation
            # what it signs twice convicts a server even if the second
            # fails a check that blames nobody (specification.md, 13)
            if refuted.culprit is None and self.file.records and not self._is_replaying:
                self._check_word(record)
            failed = CheckError(refuted.check, f"{refuted.where}: {refuted.message}", refuted.culprit)
            self._refuse(failed, self._with(record, *self._complaint(refuted.check)), is_record=True)
        ledger = self.auditor.ledger
        # nobody is blamed: the store holds no signature for the head, only that it was accepted
        if self._mark and ledger and ledger.k == self._mark.k and ledger.head != self._mark.head:
            message = f"another head at {ledger.k} than was accepted before"
            self._refuse(CheckError("C33", message), self._with(record), is_record=True)
        if self._failing and finding.k is not None and not self._is_replaying:
            self._check_failing(finding.k, record)
        if finding.k is not None and self._own is not None and record.signer == self._own.seat + 1:
            self._note_refused(record)
        # before the server has signed behind the body, whoever wrote
        # the list may have put it there (specification.md, 14)
        elif self._taken is not None and record.signer == SERVER and record.sig:
            self._fail_refused(self._taken, record)
        return finding

    def _check_word(self, record: Record) -> None:
        """Check that what fails with nobody to blame contradicts nothing the server has signed, if it has signed it.

        What it names a position with that is not reached is remembered, to be compared with what comes there.
        """
        word, own = servers_word(self.file.records[0], record), tuple(self.file.records)
        if word is None:
            return
        self._compare(own, (*own, record))
        ledger = self.auditor.ledger
        if word.k is not None and ledger is not None and getattr(word.body, "mid", None) == ledger.setup.mid:
            self._compare((*own, self._failing.setdefault(word.k, record)), (*own, record))

    def _check_failing(self, k: int, record: Record) -> None:
        earlier, own = self._failing.pop(k, record), tuple(self.file.records)
        if earlier != record:
            self._compare((*own, record), (*own, earlier))

    def _complaint(self, check: str) -> tuple[Complaint, ...]:
        """Return what shows others that a sealed hand was garbled: the X25519 secret. The match ends here with it."""
        key, ledger = self.auditor.own_key(), self.auditor.ledger
        if check != _GARBLED or self._own is None or key is None or ledger is None:
            return ()
        return (Complaint(ledger.setup.mid, ledger.k, self._own.seat, key.secret),)

    def refused(self, at: int, sent: Statement, refusal: SignedRefusal, *, was_offered: bool = True) -> None:
        """Keep the server's refusal of what one's own seat signed, as evidence; nobody else may have it.

        Raises:
            CheckFailedError: C35, the rules allow what it refused, for certain unless it was offered, and it does not say
                that it came late.
        """
        own = self.file.records[: at - self.ledger.k + len(self.file.records)]
        record = Record(0 if self._own is None else self._own.seat + 1, *sent)
        # kept though it convicts nobody yet: beside the body
        # it clears the seat of C34, and only this seat has it
        evidence = Evidence(self.file.document, (*own, record), items=(refusal,), name=f"refused-{at}")
        kept = self._keep(evidence)
        is_shown = kept is not None and kept.is_shown
        # certain is what the evidence shows, or what the server itself
        # has offered; another act may hang on cards that are closed
        if refusal.body.code in OVERTAKEN_CODES or not (
            is_shown or (was_offered and at == self.ledger.k and self._allows(record))
        ):
            return
        code = reprlib.repr(refusal.body.code)
        message = f"the server refused the body at position {at} ({code}) and the rules allow it there"
        self._stop(CheckError("C35", message, "server"), evidence)

    def _allows(self, record: Record) -> bool:
        try:
            fold(self.ledger, record, parse(record))
        except CheckError:
            return False
        return True

    def _note_refused(self, record: Record) -> None:
        """Note if the server had refused this record."""
        refusals = map(read_refusal, self._store.refusals(self.ledger.setup.mid))
        same = (each for each in refusals if each is not None and each.body.body == body_hash(record))
        self._taken = next(same, self._taken)

    def _fail_refused(self, refusal: SignedRefusal, record: Record) -> NoReturn:
        code = reprlib.repr(refusal.body.code)
        message = f"record {self.ledger.k - 1}: the server goes on with a body that it had refused ({code})"
        self._refuse(CheckError("C35", message, "server"), self._with(record, refusal), is_record=True)

    def _with(self, record: Record, *items: EvidenceItem) -> Evidence:
        return Evidence(self.file.document, (*self.file.records, record), items=items)

    def raise_check_failed(self, check: str, message: str, culprit: str) -> NoReturn:
        """Stop the match for good, for something that no record shows but that this client has seen signed.

        Raises:
            CheckFailedError: Always.
        """
        self._stop(CheckError(check, message, culprit), self._evidence_so_far())

    def raise_unbound(self, check: str, message: str) -> NoReturn:
        """Refuse something that nobody has signed.

        Raises:
            UnboundError: Always.
        """
        self._refuse(CheckError(check, message), self._evidence_so_far())

    def _evidence_so_far(self) -> Evidence:
        return Evidence(self.file.document, tuple(self.file.records))

    def _refuse(self, failed: CheckError, evidence: Evidence, *, is_record: bool = False) -> NoReturn:
        """Stop for good if somebody is to blame; a failure in the kept file means a change there, and blames nobody."""
        if failed.culprit is not None and not self._is_replaying:
            self._stop(failed, evidence)
        raise UnboundError(failed.check, failed.message, lambda: self._keep(evidence), is_record=is_record)

    def _stop(self, failed: CheckError, evidence: Evidence) -> NoReturn:
        why = f"{failed.check}: {failed.message}"
        # before anything else (specification.md, 13): after
        # a crash in between the match must still be stopped
        self._store.stop(body_hash(evidence.records[0]), why)
        if self.auditor.ledger is not None:
            self._store.stop(self.auditor.ledger.setup.mid, why)
        with suppress(HomeError):  # a full disk changes nothing
            self.file.sync()
        raise CheckFailedError(failed.check, failed.message, failed.culprit, self._keep(evidence))

    def _keep(self, evidence: Evidence) -> KeptEvidence | None:
        name = f"{self.file.path.stem}-{evidence.name or len(self.file.records)}"
        return keep_evidence(self._evidence, name, evidence)

    def verdict(self) -> Verdict:
        """Return what the records so far prove."""
        return self.auditor.verdict()

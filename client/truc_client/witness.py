"""The audit of one match while it is played: every record is checked, kept, and compared with what was kept before.

A record that fails ends the match here: it goes to a file of evidence, and nothing more is taken. So does a record sent a
second time as another one, and one that holds a body of the own seat which the server had refused.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

from truc_client.errors import CheckFailedError
from truc_client.happenings import Fact
from truc_client.transcripts import Evidence, TranscriptFile, keep_evidence
from truc_protocol.audit import AuditError, Auditor, Finding, OwnSeat, Verdict, compare
from truc_protocol.bodies import Close, End
from truc_protocol.dealing import DealtCards, Opening
from truc_protocol.evidence_file import Complaint, EvidenceItem, read_refusal
from truc_protocol.keys import BoxKey
from truc_protocol.ledger import Ledger
from truc_protocol.meaning import means
from truc_protocol.records import Record, body_hash
from truc_protocol.transcript import Transcript

_GARBLED: Final = "C18"

Refusals = Callable[[bytes], Sequence[Record]]
"""Returns what the server has refused by signature in a match."""


class Mark(NamedTuple):
    """A position and head accepted before a restart."""

    k: int
    head: bytes


class Broken(NamedTuple):
    """A check that failed, in which way, and who is to blame."""

    check: str
    message: str
    culprit: str | None


def _none_refused(_mid: bytes) -> Sequence[Record]:
    return ()


class Witness:
    """One match, checked as it comes."""

    def __init__(
        self,
        file: TranscriptFile,
        evidence: Path,
        own: OwnSeat | None = None,
        mark: Mark | None = None,
        refusals: Refusals = _none_refused,
    ) -> None:
        self.file = file
        self._evidence = evidence
        self._own = own
        self._mark = mark
        self._refusals = refusals
        self._auditor = Auditor(file.document, own)
        self._setup = 0
        self._recalled: tuple[Fact, ...] = ()

    @property
    def ledger(self) -> Ledger:
        """The match so far."""
        if self._auditor.ledger is None:
            raise ValueError("the setup is not closed")
        return self._auditor.ledger

    @property
    def openings(self) -> tuple[Opening, ...]:
        """The own seat's cards and salts of the newest deal, by slot."""
        return self._auditor.openings

    @property
    def partners(self) -> tuple[tuple[int, tuple[Opening, ...]], ...]:
        """The partners' cards of the newest deal that this seat was shown: seat, and openings by slot."""
        return self._auditor.partners

    @property
    def opened(self) -> DealtCards | None:
        """The cards of the hand closed last, if they are open; of a redeal the newest."""
        hand = self._auditor.last_hand
        return hand.dealt[-1] if hand is not None and hand.dealt else None

    @property
    def recalled(self) -> tuple[Fact, ...]:
        """What the records that were replayed mean, from the end of the hand before the last."""
        return self._recalled

    def add_box_key(self, x: BoxKey) -> None:
        """Let hands be opened under a key of the own seat that comes into force within the match."""
        self._auditor.add_box_key(x)

    def replay(self) -> int:
        """Check what the file holds already; returns how many records of it stand after the setup."""
        for record in self.file.records:
            self._recall(self._check(record))
        return self.ledger.k

    def _recall(self, finding: Finding) -> None:
        if finding.k is None:
            return
        before = () if isinstance(finding.body, Close) else self._recalled
        self._recalled = (*before, *means(finding.body, self.ledger, finding.events))

    def begin(self, records: tuple[Record, ...]) -> None:
        """Take the setup's records."""
        for record in records:
            self.take(record)
        self.file.sync()

    def take(self, record: Record) -> Finding:
        """Check the next record and keep it.

        Raises:
            CheckFailedError: A check failed; evidence is kept.
        """
        finding = self._check(record)
        self.file.append(record)
        if finding.k is None:
            self._setup += 1
        if isinstance(finding.body, Close | End):
            self.file.sync()
        return finding

    def repeat(self, k: int, record: Record) -> None:
        """Compare a record that was sent again with the one kept for its position.

        Raises:
            CheckFailedError: Two histories are shown: C33, or C34 where a seat has signed both.
        """
        at = k - self.ledger.k + len(self.file.records)
        if self.file.records[at] == record:
            return
        own = tuple(self.file.records)
        second = (*own[:at], record)
        document = self.file.document
        found = compare(Transcript(document, own), Transcript(document, second))
        message = f"position {k} was sent again with another record"
        shown = Broken(found[0].check, found[0].message, found[0].culprit) if found else None
        self._stop(shown or Broken("C33", message, "server"), Evidence(document, own, second))

    def check_reached(self, k: int | None) -> None:
        """Check that the server has sent all that it says there is, and all that it showed before.

        Raises:
            CheckFailedError: C33, its history is another or ends earlier than what was accepted before.
        """
        own = self.ledger.k
        if k != own:
            self.fail("C33", f"the match is said to stand at {k}, but its records reach {own}", "server")
        if self._mark is not None and own < self._mark.k:
            self.fail("C33", f"the match ends at {own}, but was accepted up to {self._mark.k}", "server")

    def _check(self, record: Record) -> Finding:
        try:
            finding = self._auditor.feed(record)
        except AuditError as error:
            refuted = error.refutation
            broken = Broken(refuted.check, f"{refuted.where}: {refuted.message}", refuted.culprit)
            self._stop(broken, self._with(record, *self._complaint(refuted.check)))
        ledger = self._auditor.ledger
        if self._mark and ledger and ledger.k == self._mark.k and ledger.head != self._mark.head:
            message = f"another head at {ledger.k} than was accepted before"
            self._stop(Broken("C33", message, "server"), self._with(record))
        if finding.k is not None and self._own is not None and record.signer == self._own.seat + 1:
            self._check_refused(record, finding.k)
        return finding

    def _complaint(self, check: str) -> tuple[Complaint, ...]:
        """Return what shows others that a sealed hand was garbled: the X25519 secret, which ends the match here."""
        key, ledger = self._auditor.own_key(), self._auditor.ledger
        if check != _GARBLED or self._own is None or key is None or ledger is None:
            return ()
        return (Complaint(ledger.setup.mid, ledger.k, self._own.seat, key.secret),)

    def _check_refused(self, record: Record, k: int) -> None:
        for kept in self._refusals(self.ledger.setup.mid):
            refusal = read_refusal(kept)
            if refusal is not None and refusal.body.body == body_hash(record):
                message = f"record {k}: the server had refused this body ({refusal.body.code})"
                self._stop(Broken("C35", message, "server"), self._with(record, refusal))

    def _with(self, record: Record, *items: EvidenceItem) -> Evidence:
        return Evidence(self.file.document, (*self.file.records, record), items=items)

    def fail(self, check: str, message: str, culprit: str | None) -> NoReturn:
        """Stop the match for something that is no record, and that no record shows.

        Raises:
            CheckFailedError: Always.
        """
        self._stop(Broken(check, message, culprit), Evidence(self.file.document, tuple(self.file.records)))

    def _stop(self, broken: Broken, evidence: Evidence) -> NoReturn:
        self.file.sync()
        name = f"{self.file.path.stem}-{len(self.file.records)}"
        raise CheckFailedError(*broken, keep_evidence(self._evidence, name, evidence))

    def verdict(self) -> Verdict:
        """Say what the records so far prove."""
        return self._auditor.verdict()

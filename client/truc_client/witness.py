"""The audit of one match while it is played: every record is checked, kept, and compared with what was kept before.

A record that fails ends the match here: it goes to a file of evidence, and nothing more is taken.
"""

from pathlib import Path
from typing import Final, NamedTuple, NoReturn

from truc_client.errors import CheckFailedError
from truc_client.happenings import Fact
from truc_client.transcripts import Evidence, TranscriptFile, keep_evidence
from truc_protocol.audit import AuditError, Auditor, Finding, OwnSeat, Refutation, Verdict
from truc_protocol.bodies import Close, End
from truc_protocol.codec import enc
from truc_protocol.dealing import DealtCards, Opening
from truc_protocol.ledger import Ledger
from truc_protocol.meaning import means
from truc_protocol.records import Record

_GARBLED: Final = "C18"
_COMPLAINT: Final = "truc/1/complaint"


class Mark(NamedTuple):
    """A position and head accepted before a restart."""

    k: int
    head: bytes


class Witness:
    """One match, checked as it comes."""

    def __init__(
        self, file: TranscriptFile, evidence: Path, own: OwnSeat | None = None, mark: Mark | None = None
    ) -> None:
        self.file = file
        self._evidence = evidence
        self._own = own
        self._mark = mark
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
            CheckFailedError: C33, the server shows two histories.
        """
        kept = self.file.records[k - self.ledger.k]
        if kept != record:
            self.fail(
                "C33", f"position {k} was sent again with another record", "server", ("second", record.body)
            )

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
            message = f"{refuted.where}: {refuted.message}"
            self._fail(refuted.check, message, refuted.culprit, record, self._complaint(refuted))
        ledger = self._auditor.ledger
        if self._mark and ledger and ledger.k == self._mark.k and ledger.head != self._mark.head:
            self._fail("C33", f"another head at {ledger.k} than was accepted before", "server", record)
        return finding

    def _complaint(self, refuted: Refutation) -> tuple[tuple[str, bytes], ...]:
        """Return what shows others that a sealed hand was garbled: this match's X25519 secret, which ends it here."""
        ledger = self._auditor.ledger
        if refuted.check != _GARBLED or self._own is None or ledger is None:
            return ()
        body = enc([_COMPLAINT, ledger.setup.mid, ledger.k, self._own.seat, self._own.x.secret])
        return (("complaint", body),)

    def fail(self, check: str, message: str, culprit: str | None, *other: tuple[str, bytes]) -> NoReturn:
        """Stop the match for something that is no record.

        Raises:
            CheckFailedError: Always.
        """
        self._fail(check, message, culprit, None, other)

    def _fail(
        self,
        check: str,
        message: str,
        culprit: str | None,
        record: Record | None,
        other: tuple[tuple[str, bytes], ...] = (),
    ) -> NoReturn:
        records = (*self.file.records, record) if record is not None else tuple(self.file.records)
        evidence = Evidence(check, message, culprit, self.file.document, records, other)
        self.file.sync()
        name = f"{self.file.path.stem}-{len(self.file.records)}"
        raise CheckFailedError(check, message, culprit, keep_evidence(self._evidence, name, evidence))

    def verdict(self) -> Verdict:
        """Say what the records so far prove."""
        return self._auditor.verdict()

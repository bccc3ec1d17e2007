"""A transcript as far as it passes, audited once: what evidence and comparison with other transcripts need of it.

Every record here has been checked by an auditor of its own list, so what is shown by it rests on valid signatures
under the keys in force. Ledgers are kept only for the deals and shares that somebody asks for, not for each record.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from truc_protocol.audit.auditor import AuditError, Auditor, Finding
from truc_protocol.bodies import AnyBody, Deal, Share
from truc_protocol.codec import sha256
from truc_protocol.evidence_file import Complaint, EvidenceItem
from truc_protocol.ledger import Ledger
from truc_protocol.records import Record
from truc_protocol.transcript import Transcript


class PassedRecord(NamedTuple):
    """A record that passed, with its body, its position (None in the setup) and the key it was signed under."""

    record: Record
    body: AnyBody
    k: int | None
    key: bytes | None


class Spot(NamedTuple):
    """A deal or a share, with the ledger before it, and what came since the first deal of its hand.

    Attributes:
        start: the ledger before that first deal.
        since: the records from it on, up to this one.
    """

    item: PassedRecord
    before: Ledger
    start: Ledger
    since: tuple[PassedRecord, ...]


class EvidenceWanted(NamedTuple):
    """What evidence asks of a transcript: deals and shares by match and position, bodies by their SHA-256."""

    places: frozenset[tuple[bytes, int]] = frozenset()
    bodies: frozenset[bytes] = frozenset()


def wanted(items: Sequence[EvidenceItem]) -> EvidenceWanted:
    """Return what items of evidence ask of transcripts."""
    complaints = [each for each in items if isinstance(each, Complaint)]
    refusals = [each.body.body for each in items if not isinstance(each, Complaint)]
    return EvidenceWanted(frozenset((each.mid, each.k) for each in complaints), frozenset(refusals))


class Passed(NamedTuple):
    """The records of a list that pass, in order, with the spots and bodies among them that were wanted."""

    items: tuple[PassedRecord, ...] = ()
    spots: Mapping[tuple[bytes, int], Spot] = {}
    bodies: Mapping[bytes, PassedRecord] = {}


class PassedNotes:
    """Notes what an auditor lets pass; call `note` with every record that has passed."""

    def __init__(self, asked: EvidenceWanted) -> None:
        self._asked = asked
        self._items: list[PassedRecord] = []
        self._spots: dict[tuple[bytes, int], Spot] = {}
        self._bodies: dict[bytes, PassedRecord] = {}
        self._start: tuple[Ledger, int] | None = None

    def note(self, before: Ledger | None, record: Record, finding: Finding) -> None:
        """Note a record that passed after `before`."""
        author = before.contributors[record.signer] if before is not None and record.sig else None
        item = PassedRecord(record, finding.body, finding.k, None if author is None else author.public)
        if before is not None and isinstance(item.body, Deal | Share):
            self._note_spot(before, item)
        self._items.append(item)
        if self._asked.bodies and (digest := sha256(record.body)) in self._asked.bodies:
            self._bodies[digest] = item

    def _note_spot(self, before: Ledger, item: PassedRecord) -> None:
        if self._start is None or (isinstance(item.body, Deal) and item.body.d == 0):
            self._start = before, len(self._items)
        place = before.setup.mid, before.k
        if place in self._asked.places:
            start, at = self._start
            self._spots[place] = Spot(item, before, start, tuple(self._items[at:]))

    def passed(self) -> Passed:
        """Return what was noted."""
        return Passed(tuple(self._items), self._spots, self._bodies)


def passed(transcript: Transcript, items: Sequence[EvidenceItem] = ()) -> Passed:
    """Audit a transcript as far as it passes, and keep what items of evidence ask of it."""
    auditor, watch = Auditor(transcript.document), PassedNotes(wanted(items))
    for record in transcript.records:
        before = auditor.ledger
        try:
            finding = auditor.feed(record)
        except AuditError:
            break
        watch.note(before, record, finding)
    return watch.passed()

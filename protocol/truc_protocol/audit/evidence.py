"""What an item of evidence comes to beside a transcript: a refusal (C35), or a complaint about a sealed hand (C18).

A complaint is judged from the box, the leaves and the disclosed secret alone. It convicts the server only where the
secret belongs to the key that the box was sealed to, so that nobody can accuse it with a key of their own.
"""

from enum import StrEnum
from typing import NamedTuple

from truc_protocol.audit.auditor import AuditError, Auditor
from truc_protocol.audit.equivocation import refused_records
from truc_protocol.audit.own import OwnSeat, open_deal, open_share
from truc_protocol.audit.verdict import Refutation
from truc_protocol.bodies import AnyBody, Deal, Share
from truc_protocol.checks import CheckError
from truc_protocol.evidence_file import Complaint, EvidenceItem, Refusal
from truc_protocol.keys import box_key
from truc_protocol.ledger import Ledger, box_public, fold
from truc_protocol.records import Record
from truc_protocol.transcript import Transcript


class Judgement(StrEnum):
    """What becomes of a complaint; only one that is upheld shows anything."""

    NO_COMPLAINT = "no complaint"
    DISMISSED = "dismissed"
    UPHELD = "upheld"


class Judged(NamedTuple):
    """A judgement and its ground."""

    judgement: Judgement
    message: str


class Weighed(NamedTuple):
    """What an item says, beside one transcript, and what it refutes there, if anything.

    Attributes:
        judgement: of a complaint.
        transcript: the transcript's number among the files; None if there is none of its match.
    """

    message: str
    refutation: Refutation | None = None
    judgement: Judgement | None = None
    transcript: int | None = None


class _Spot(NamedTuple):
    """A record of a list that passes, with the ledger before it."""

    before: Ledger
    record: Record
    body: AnyBody


def weigh(transcript: Transcript, each: EvidenceItem) -> Weighed:
    """Weigh an item against a transcript of its match."""
    match each:
        case Complaint():
            judged = judge(transcript, each)
            message = f"complaint of seat {each.seat} about record {each.k}: {judged.message}"
            upheld = judged.judgement is Judgement.UPHELD
            found = Refutation("C18", judged.message, "server", each.k, 0) if upheld else None
            return Weighed(message, found, judged.judgement)
        case Refusal():
            return _weigh_refusal(transcript, each)


def _weigh_refusal(transcript: Transcript, refusal: Refusal) -> Weighed:
    for found in refused_records(transcript, (refusal.record,)):
        refutation = Refutation(found.check, found.message, found.culprit, found.places[1], 0)
        return Weighed(f"refusal ({refusal.body.code}): {found.message}", refutation)
    return Weighed(f"refusal ({refusal.body.code}): it refuses no record that stands in the transcript")


def judge(transcript: Transcript, complaint: Complaint) -> Judged:
    """Judge a complaint: open the box it is about with the secret it discloses."""
    spot = _spot(transcript, complaint.k)
    if spot is None or spot.before.setup.mid != complaint.mid:
        return _none("the transcript has no sound record there")
    if not _is_sealed_to(spot.body, complaint.seat):
        return _none("the record holds no box for that seat")
    own = OwnSeat(complaint.seat, box_key(complaint.secret))
    if box_public(spot.before, own.seat) != own.x.public:
        return _none("the secret is not that of the key in force for that seat")
    try:
        _open(spot._replace(before=_known(transcript, own, spot)), own)
    except CheckError as error:
        return Judged(Judgement.UPHELD, f"upheld: {error.message}")
    return Judged(Judgement.DISMISSED, "dismissed: the box opens, and holds the cards committed to")


def _none(why: str) -> Judged:
    return Judged(Judgement.NO_COMPLAINT, f"no complaint: {why}")


def _spot(transcript: Transcript, k: int) -> _Spot | None:
    """Return the record at a position; None if a record up to it fails, or the list ends before."""
    auditor = Auditor(transcript.document)
    for record in transcript.records:
        before = auditor.ledger
        try:
            finding = auditor.feed(record)
        except AuditError:
            return None
        if before is not None and before.k == k:
            return _Spot(before, record, finding.body)
    return None


def _known(transcript: Transcript, own: OwnSeat, spot: _Spot) -> Ledger:
    """Return the ledger before a spot as its seat knows it; as all do, if a box before was garbled: another complaint."""
    auditor = Auditor(transcript.document, own)
    for record in transcript.records:
        if auditor.ledger is not None and auditor.ledger.k == spot.before.k:
            return auditor.ledger
        try:
            auditor.feed(record)
        except AuditError:
            break
    return spot.before


def _is_sealed_to(body: AnyBody, seat: int) -> bool:
    match body:
        case Deal():
            return seat < len(body.boxes) and bool(body.boxes[seat])
        case Share():
            return seat == body.receiver
        case _:
            return False


def _open(spot: _Spot, own: OwnSeat) -> None:
    """Open the box at a spot as its seat did.

    Raises:
        CheckError: C18.
    """
    after, keys = fold(spot.before, spot.record, spot.body).ledger, {own.x.public: own.x}
    match spot.body:
        case Deal():
            open_deal(after, spot.body, own.seat, keys)
        case Share() if spot.before.hand is not None:
            open_share(after, spot.body, spot.before.hand.deals[-1], keys)
        case _:
            raise ValueError("expected a deal or a share")

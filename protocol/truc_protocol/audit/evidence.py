"""What an item of evidence shows beside a transcript: a refusal (C35), or a complaint about sealed cards (C18).

A complaint is judged from the box, the leaves and the disclosed secret alone. It convicts the server only if the secret
belongs to the key that the box was sealed to, so that nobody can accuse it with a key of their own.
"""

import reprlib
from enum import StrEnum
from typing import NamedTuple

from truc_protocol.audit.equivocation import refused_record
from truc_protocol.audit.own_seat import read_deal, read_share
from truc_protocol.audit.verdict import Refutation
from truc_protocol.audit.verified_prefix import DealSpot, PassedRecords
from truc_protocol.bodies import AnyBody, Deal, Share
from truc_protocol.checks import CheckError
from truc_protocol.crypto.keys import box_key
from truc_protocol.evidence_file import Complaint, EvidenceItem, SignedRefusal
from truc_protocol.ledger import box_public


class Judgement(StrEnum):
    """What becomes of a complaint; only one that is upheld shows anything."""

    NO_COMPLAINT = "no complaint"
    DISMISSED = "dismissed"
    UPHELD = "upheld"


class WeighedItem(NamedTuple):
    """What an item says, beside one transcript, and what it refutes there, if anything.

    Attributes:
        judgement: of a complaint.
        transcript: the transcript's number among the files; None if there is none of its match.
    """

    message: str
    refutation: Refutation | None = None
    judgement: Judgement | None = None
    transcript: int | None = None


def weigh(transcript: PassedRecords, each: EvidenceItem) -> WeighedItem:
    """Weigh an item against a transcript of its match, whose audit kept what the item asks for."""
    match each:
        case Complaint():
            judgement, grounds = judge(transcript, each)
            said = f"{judgement}: {grounds}"
            message = f"complaint of seat {each.seat} about record {each.k}: {said}"
            is_upheld = judgement is Judgement.UPHELD
            found = Refutation("C18", said, "server", each.k, 0) if is_upheld else None
            return WeighedItem(message, found, judgement)
        case SignedRefusal():
            return _weigh_refusal(transcript, each)


def _weigh_refusal(transcript: PassedRecords, refusal: SignedRefusal) -> WeighedItem:
    found, code = refused_record(transcript, refusal), reprlib.repr(refusal.body.code)
    if found is None:
        return WeighedItem(
            f"refusal ({code}): it refuses no record of the transcript, or its server did not sign it"
        )
    refutation = Refutation(found.check, found.message, found.culprit, found.places[1], 0)
    return WeighedItem(f"refusal ({code}): {found.message}", refutation)


def judge(transcript: PassedRecords, complaint: Complaint) -> tuple[Judgement, str]:
    """Judge a complaint by a transcript whose audit kept what it asks for: open its box with the secret it discloses.

    With the judgement come its grounds.
    """
    # in the order of specification.md 14: what is no complaint, then upheld, else dismissed
    spot = transcript.spots.get((complaint.mid, complaint.k))
    if spot is None:
        return Judgement.NO_COMPLAINT, "the transcript has no sound record there that holds a box"
    if not _is_sealed_to(spot.item.body, complaint.seat):
        return Judgement.NO_COMPLAINT, "the record holds no box for that seat"
    key = box_key(complaint.secret)
    # with a secret of its own making a seat could accuse the server of any box
    if box_public(spot.before, complaint.seat) != key.public:
        return Judgement.NO_COMPLAINT, "the secret is not that of the key in force for that seat"
    shared = key.exchange(spot.before.setup.terms.table.x)
    try:
        _check_box(spot, shared, complaint.seat)
    except CheckError as error:
        return Judgement.UPHELD, error.message
    return Judgement.DISMISSED, "the box opens, and holds the cards committed to"


def _is_sealed_to(body: AnyBody, seat: int) -> bool:
    if isinstance(body, Deal):
        return seat < len(body.boxes) and bool(body.boxes[seat])
    return isinstance(body, Share) and seat == body.receiver


def _check_box(spot: DealSpot, shared: bytes, seat: int) -> None:
    """Check that a box opens, and holds cards of the pack that the seat can have, or be shown.

    Raises:
        CheckError: C18.
    """
    body, hand = spot.item.body, spot.before.hand
    deals = () if hand is None else hand.deals
    # not what partners have shown it: a complaint is about the seat's own cards (specification.md 14)
    known = {card for deal in deals for card in (*deal.up, *_dealt(shared, deal, seat))}
    match body:
        case Deal():
            known.update(body.up)
            opened = read_deal(shared, body, seat)
        case Share():
            opened = read_share(shared, deals[-1], body)
        case _:  # no other record is a spot
            return
    cards = {each.card for each in opened}
    if len(cards) < len(opened) or cards & known or max(cards) >= spot.before.setup.terms.table.deck:
        message = "expected cards of the pack, none of them twice or elsewhere in the hand, got others"
        raise CheckError("C18", message)


def _dealt(shared: bytes, deal: Deal, seat: int) -> tuple[int, ...]:
    """Return the cards that a seat was dealt, or none if that box is for another complaint."""
    try:
        return tuple(each.card for each in read_deal(shared, deal, seat))
    except CheckError:
        return ()

"""What no list of records shows: a hand that its seat alone cannot open (C18), and a body too long to be kept.

All other forgeries are kept with their verdicts in tests/vectors, where test_tampered_vectors.py replays them.
"""

import struct

import pytest
from protocol.forge import refutation, signed_bytes, until
from protocol.peers import Table, audit
from rows import each_row
from vectors.shape import kept_tests

from protocol import recomputing
from truc_protocol.audit import AuditError, OwnSeat
from truc_protocol.bodies import Call
from truc_protocol.crypto.keys import box_key
from truc_protocol.evidence_file import read_evidence
from truc_protocol.records import encode, parse


def test_body_that_no_file_can_hold_is_refused():
    table = Table()
    body = encode(parse(until(table, Call)))
    longer = body[:-4] + b"\xc6" + struct.pack(">I", 65_536) + bytes(65_536)
    refuted = refutation(table.audit(), signed_bytes(table, 0, longer))
    assert (refuted.check, refuted.culprit) == ("C1", None)


@each_row(
    "group, test", [pair for pair in kept_tests("evidence", "complaint") if pair[1]["result"] == "valid"]
)
def test_hand_that_its_seat_cannot_open_is_refused_at_once(group, test):
    """Everybody else takes the record, until the seat complains."""
    transcript = recomputing.transcript(group)
    (complaint,) = read_evidence(bytes.fromhex(test["file"]))
    with pytest.raises(AuditError) as caught:
        audit(*transcript, OwnSeat(complaint.seat, box_key(complaint.secret)))
    found = caught.value.refutation
    assert (found.check, found.k, found.culprit) == (test["check"], test["record"], test["culprit"])


def test_guest_with_a_box_key_sees_its_cards() -> None:
    table = Table(guests=(0,), boxed_guests=True).to("hand")
    auditor = table.audit(OwnSeat(0, table.guest_keys[0]))
    assert auditor.openings == table.dealer.openings(table.ledger, 0)

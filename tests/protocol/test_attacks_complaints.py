"""Complaints about a garbled hand: upheld against a server that garbled it, worth nothing against one that did not."""

import pytest
from protocol.forge import altered, small, until
from protocol.peers import Table, secret
from protocol.shared import sharing_table

from truc_protocol import boxes
from truc_protocol.audit.evidence import Judgement, judge
from truc_protocol.audit.verified_prefix import passed
from truc_protocol.bodies import Deal
from truc_protocol.codec import enc
from truc_protocol.crypto import keys
from truc_protocol.dealing import Opening
from truc_protocol.evidence_file import Complaint
from truc_protocol.records import parse
from truc_protocol.transcript import Transcript

SEAT = 1


def dealt(box_of=None) -> tuple[Table, int]:
    """A match up to its first deal, whose box for seat 1 is made by `box_of`; and the deal's position."""
    table = Table(small())
    record = until(table, Deal)
    k = table.ledger.k
    if box_of is not None:
        record = altered(table, record, boxes=(parse(record).boxes[0], box_of(table)))
    table.records.append(record)
    return table, k


def complaint(table: Table, k: int, **fields) -> Judgement:
    honest = Complaint(table.setup.mid, k, SEAT, table.players[SEAT].x.secret)
    asked = {name: getattr(honest, name) for name in ("mid", "k", "seat", "secret")} | fields
    of = Complaint(**asked)
    return judge(passed(Transcript(table.document, tuple(table.records)), (of,)), of).judgement


def box_key_of(table: Table) -> bytes:
    """The key of seat 1's box, from the exchange that only it and the server can make."""
    info = enc(["truc/1/box", table.ledger.deal_index, 0, SEAT])
    return keys.derive(table.dealer.shared(table.ledger, SEAT), table.setup.mid, info)


def sealed(table: Table, plaintext: bytes) -> bytes:
    return keys.seal(box_key_of(table), bytes(12), plaintext)


def flipped_tag(table: Table) -> bytes:
    box = parse(table.dealer.next_record(table.ledger)).boxes[SEAT]
    return box[:-1] + bytes([box[-1] ^ 1])


def no_canonical_bytes(table: Table) -> bytes:
    return sealed(table, b"\xc1")


def no_openings(table: Table) -> bytes:
    return sealed(table, enc(["as", "de", "bastos"]))


def a_card_too_few(table: Table) -> bytes:
    return sealed_hand(table, table.dealer._cards(table.ledger, 1)[0].hands[SEAT][:-1])


def another_card(table: Table) -> bytes:
    first, *others = table.dealer._cards(table.ledger, 1)[0].hands[SEAT]
    return sealed_hand(table, (Opening((first.card + 1) % table.terms.table.deck, first.salt), *others))


def sealed_hand(table: Table, hand) -> bytes:
    shared = table.dealer.shared(table.ledger, SEAT)
    return boxes.seal_hand(shared, table.setup.mid, j=table.ledger.deal_index, d=0, seat=SEAT, hand=hand)


@pytest.mark.parametrize(
    "box_of",
    [flipped_tag, no_canonical_bytes, no_openings, a_card_too_few, another_card],
    ids=lambda f: f.__name__,
)
def test_complaint_about_a_garbled_box_is_upheld(box_of):
    table, k = dealt(box_of)
    assert complaint(table, k) is Judgement.UPHELD


def test_complaint_about_an_honest_box_is_dismissed():
    table, k = dealt()
    assert complaint(table, k) is Judgement.DISMISSED


@pytest.mark.parametrize("box_of", [None, flipped_tag], ids=["an honest box", "a garbled box"])
def test_complaint_with_a_key_of_ones_own_making_is_none(box_of):
    table, k = dealt(box_of)
    assert complaint(table, k, secret=secret("bogus", 1)) is Judgement.NO_COMPLAINT


def test_complaint_with_the_key_of_another_seat_is_none():
    table, k = dealt()
    assert complaint(table, k, secret=table.players[0].x.secret) is Judgement.NO_COMPLAINT


def test_complaint_about_a_record_that_holds_no_box_is_none():
    table, k = dealt()
    assert complaint(table, k - 1) is Judgement.NO_COMPLAINT


def test_complaint_of_another_match_is_none():
    table, k = dealt(flipped_tag)
    assert complaint(table, k, mid=bytes(32)) is Judgement.NO_COMPLAINT


def test_complaint_about_a_box_in_a_forged_list_is_none():
    """Whoever complains may have garbled the box in its own copy: then the record is not the server's."""
    table, k = dealt(flipped_tag)
    forged = table.records[-1]
    table.records[-1] = forged._replace(sig=table.players[SEAT].key.sign(forged.body))
    assert complaint(table, k) is Judgement.NO_COMPLAINT


def test_complaint_about_a_garbled_share_is_upheld():
    table = sharing_table()
    record = table.next_record()
    body, k = parse(record), table.ledger.k
    table.records.append(altered(table, record, box=body.box[::-1]))
    seat = body.receiver
    own = table.players[seat].x.secret
    assert complaint(table, k, seat=seat, secret=own) is Judgement.UPHELD
    table.records[-1] = record
    assert complaint(table, k, seat=seat, secret=own) is Judgement.DISMISSED

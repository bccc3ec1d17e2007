"""Complaints about sealed hands: upheld, dismissed, or none; and nobody is convicted by a key that is not the seat's."""

import pytest
from protocol.forge import altered, cheat, leaves_of, until, with_card
from protocol.peers import Table, secret
from protocol.rewriting import forked
from protocol.shared import blind_table, sharing_table
from rows import each_row

from truc_protocol import boxes
from truc_protocol.audit import Judgement
from truc_protocol.audit.evidence import JudgedComplaint, judge
from truc_protocol.audit.verified_prefix import passed
from truc_protocol.bodies import Deal, Share
from truc_protocol.codec import enc
from truc_protocol.crypto.keys import hkdf, seal
from truc_protocol.dealing import Opening
from truc_protocol.evidence_file import Complaint
from truc_protocol.ledger import next_share
from truc_protocol.records import Record, parse
from truc_protocol.transcript import Transcript

NONCE = bytes(12)


def complaint(table: Table, seat: int = 0, k: int | None = None, **fields) -> Complaint:
    """Return a complaint of a seat, with the secret of its key in force, about the record that comes next."""
    given = {"mid": table.setup.mid, "secret": table.players[seat].x.secret, **fields}
    return Complaint(given["mid"], table.ledger.k if k is None else k, seat, given["secret"])


def judged(table: Table, of: Complaint, *more: Record) -> Judgement:
    return judged_in((*table.records, *more), table, of).judgement


def judged_in(records: tuple[Record, ...], table: Table, of: Complaint) -> JudgedComplaint:
    return judge(passed(Transcript(table.document, records), (of,)), of)


def at_deal() -> tuple[Table, Record]:
    table = Table().to("called")
    return table, until(table, Deal)


def sealed(table: Table, plaintext: bytes, seat: int = 0, *, j: int | None = None) -> bytes:
    """Seal any bytes as the server seals a hand."""
    shared = table.dealer.exchange(table.players[seat].x.public)
    index = table.ledger.deal_index if j is None else j
    return seal(hkdf(shared, table.setup.mid, enc(["truc/1/box", index, 0, seat])), NONCE, plaintext)


def with_box(table: Table, record: Record, box: bytes) -> Record:
    return altered(table, record, boxes=(box, *parse(record).boxes[1:]))


def hand(table: Table, seat: int = 0) -> tuple[Opening, ...]:
    return table.dealer._cards(table.ledger, 1)[0].hands[seat]


def plain(table: Table, *openings: Opening) -> bytes:
    return enc([list(each) for each in openings])


# upheld


def not_authentic(table: Table) -> bytes:
    box = sealed(table, plain(table, *hand(table)))
    return box[:-1] + bytes([box[-1] ^ 1])


def with_first(table: Table, **fields) -> bytes:
    """Seal the hand with its first opening changed."""
    first, *rest = hand(table)
    return sealed(table, plain(table, first._replace(**fields), *rest))


GARBLED = {
    "not authentic": not_authentic,
    "shorter than a tag": lambda table: b"x",
    "of another deal": lambda table: sealed(table, plain(table, *hand(table)), j=table.ledger.deal_index + 1),
    "of another seat": lambda table: sealed(table, plain(table, *hand(table)), seat=1),
    "not canonical": lambda table: sealed(table, b"\xc1"),
    "in a longer form": lambda table: sealed(table, b"\xdc\x00\x03" + plain(table, *hand(table))[1:]),
    "no array": lambda table: sealed(table, enc(7)),
    "of words": lambda table: sealed(table, enc(["as", "de", "bastos"])),
    "without salts": lambda table: sealed(table, enc([[opening.card] for opening in hand(table)])),
    "of two cards": lambda table: sealed(table, plain(table, *hand(table)[:2])),
    "of another card": lambda table: with_first(table, card=(hand(table)[0].card + 1) % 32),
    "of another salt": lambda table: with_first(table, salt=bytes(16)),
    "in another order": lambda table: sealed(table, plain(table, *reversed(hand(table)))),
}


@each_row("name", GARBLED)
def test_complaint_about_a_garbled_box_is_upheld(name):
    table, record = at_deal()
    assert judged(table, complaint(table), with_box(table, record, GARBLED[name](table))) is Judgement.UPHELD


def test_complaint_about_one_card_twice_under_fitting_leaves_is_upheld():
    table, record = at_deal()
    cards = table.dealer._cards(table.ledger, 1)[0]
    first = cards.hands[0][0]
    twice = with_card(cards, 0, 1, first)
    forged = altered(table, record, leaves=leaves_of(table, twice))
    forged = altered(
        table, forged, boxes=(sealed(table, plain(table, *twice.hands[0])), *parse(record).boxes[1:])
    )
    assert judged(table, complaint(table), forged) is Judgement.UPHELD


def test_complaint_about_a_card_that_the_seat_had_before_the_redeal_is_upheld():
    table = Table().to("hand")
    table.play("redeal")
    table.play("accept")
    old = table.dealer._cards(table.ledger, 1)[0].hands[0][0].card
    cheat(table, lambda cards: with_card(cards, 0, 0, cards.hands[0][0]._replace(card=old)))
    assert judged(table, complaint(table), until(table, Deal)) is Judgement.UPHELD


def test_complaint_about_a_redeal_is_judged_also_after_a_garbled_first_deal():
    table, record = at_deal()
    table.add(with_box(table, record, not_authentic(table)))
    table.play("redeal")
    table.play("accept")
    assert judged(table, complaint(table), until(table, Deal)) is Judgement.DISMISSED


def test_complaint_is_upheld_also_when_the_match_went_on():
    table, record = at_deal()
    of = complaint(table)
    table.add(with_box(table, record, not_authentic(table)))
    table.run(until=lambda ledger: ledger.phase == "between")
    assert judged(table, of) is Judgement.UPHELD


def test_complaint_about_a_share_of_a_card_that_the_seat_holds_itself_is_upheld():
    shared = sharing_table()
    giver, receiver = next_share(shared.ledger)
    table = forked(shared, shared.ledger.k - 1).careless()
    own = table.dealer._cards(table.ledger, 1)[0].hands[receiver][0]
    cheat(table, lambda cards: with_card(cards, giver, 0, cards.hands[giver][0]._replace(card=own.card)))
    table.step()
    assert judged(table, complaint(table, receiver), table.next_record()) is Judgement.UPHELD


def test_box_sealed_to_the_key_before_a_rekey_is_upheld():
    table = Table().to("between")
    old = table.players[0].x
    table.add(table.players[0].rekey(table.ledger))
    record = until(table, Deal)
    shared = table.dealer.exchange(old.public)
    key = hkdf(shared, table.setup.mid, enc(["truc/1/box", table.ledger.deal_index, 0, 0]))
    box = seal(key, NONCE, plain(table, *hand(table)))
    assert judged(table, complaint(table), with_box(table, record, box)) is Judgement.UPHELD


@pytest.mark.parametrize("box", [b"x", b"x" * 80], ids=["short", "long"])
def test_complaint_about_a_garbled_share_is_upheld(box):
    table = sharing_table()
    record = until(table, Share)
    of = complaint(table, parse(record).receiver)
    assert judged(table, of, altered(table, record, box=box)) is Judgement.UPHELD


def test_complaint_about_a_share_of_other_cards_is_upheld():
    table = sharing_table()
    record = until(table, Share)
    body = parse(record)
    place = {"j": body.j, "d": body.d, "giver": body.giver, "receiver": body.receiver}
    openings = table.dealer.openings(table.ledger, body.receiver)
    shared = table.dealer.shared(table.ledger, body.receiver)
    box = boxes.seal_share(shared, table.setup.mid, **place, hand=openings)
    of = complaint(table, body.receiver)
    assert judged(table, of, altered(table, record, box=box)) is Judgement.UPHELD


# dismissed


def test_complaint_about_an_honest_box_is_dismissed():
    table, record = at_deal()
    assert judged(table, complaint(table), record) is Judgement.DISMISSED


def test_complaint_about_an_honest_box_of_a_match_that_was_refuted_later_is_dismissed():
    table, record = at_deal()
    of = complaint(table)
    table.add(record)
    forged = table.rule("abandon", 0, "server")
    assert judged(table, of, forged) is Judgement.DISMISSED


def test_complaint_under_the_new_key_about_an_honest_box_is_dismissed():
    table = Table().to("between")
    table.add(table.players[0].rekey(table.ledger))
    record = until(table, Deal)
    assert judged(table, complaint(table), record) is Judgement.DISMISSED


def test_complaint_of_a_guest_with_a_key_about_an_honest_box_is_dismissed():
    table = Table(guests=(0,), boxed_guests=True).to("called")
    record = until(table, Deal)
    of = Complaint(table.setup.mid, table.ledger.k, 0, table.guest_keys[0].secret)
    assert judged(table, of, record) is Judgement.DISMISSED


# no complaint


def test_complaint_with_a_key_of_ones_own_making_is_none():
    table, record = at_deal()
    of = complaint(table, secret=secret("bogus", 1))
    assert judged(table, of, with_box(table, record, not_authentic(table))) is Judgement.NO_COMPLAINT


def test_complaint_with_the_key_of_another_seat_is_none():
    table, record = at_deal()
    of = complaint(table, secret=table.players[1].x.secret)
    assert judged(table, of, with_box(table, record, not_authentic(table))) is Judgement.NO_COMPLAINT


def test_key_before_a_rekey_is_no_complaint_about_a_later_deal():
    table = Table().to("between")
    old = table.players[0].x.secret
    table.add(table.players[0].rekey(table.ledger))
    record = until(table, Deal)
    assert judged(table, complaint(table, secret=old), record) is Judgement.NO_COMPLAINT


def test_complaint_of_the_giver_of_a_share_is_none():
    table = sharing_table()
    record = until(table, Share)
    of = complaint(table, parse(record).giver)
    assert judged(table, of, altered(table, record, box=b"x" * 80)) is Judgement.NO_COMPLAINT


def test_complaint_of_a_guest_without_a_key_is_none():
    table = Table(guests=(0,)).to("called")
    record = until(table, Deal)
    of = Complaint(table.setup.mid, table.ledger.k, 0, secret("bogus", 1))
    assert judged(table, of, record) is Judgement.NO_COMPLAINT


def test_complaint_about_a_blind_hand_is_none():
    table = blind_table(phase="called")
    record = until(table, Deal)
    assert judged(table, complaint(table), record) is Judgement.NO_COMPLAINT


def test_complaint_about_a_record_that_fails_by_itself_is_none():
    table, record = at_deal()
    assert judged(table, complaint(table), altered(table, record, cut=7)) is Judgement.NO_COMPLAINT


def test_complaint_about_a_box_in_a_forged_list_is_none():
    """Whoever complains may have garbled the box in its own copy: then the record is not the server's."""
    table, record = at_deal()
    forged = with_box(table, record, not_authentic(table))
    forged = forged._replace(sig=table.players[0].key.sign(forged.body))
    assert judged(table, complaint(table), forged) is Judgement.NO_COMPLAINT


def test_complaint_behind_a_record_that_fails_is_none():
    table, record = at_deal()
    broken = table.records[-1]._replace(sig=bytes(64))
    records = (*table.records[:-1], broken, with_box(table, record, not_authentic(table)))
    assert judged_in(records, table, complaint(table)).judgement is Judgement.NO_COMPLAINT


def test_judgement_says_its_ground():
    table, record = at_deal()
    found = judged_in((*table.records, record), table, complaint(table))
    assert found.message == "dismissed: the box opens, and holds the cards committed to"

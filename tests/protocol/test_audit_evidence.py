"""Complaints about sealed hands: upheld, dismissed, or none; and nobody is convicted by a key that is not the seat's."""

from dataclasses import replace

from protocol.forge import altered, cheat, garbled, until, with_card
from protocol.peers import Table, secret
from protocol.rewriting import forked
from protocol.shared import blind_table, sharing_table
from rows import each_row

from truc_protocol import boxes
from truc_protocol.audit import Judgement
from truc_protocol.audit.evidence import judge
from truc_protocol.audit.verified_prefix import passed
from truc_protocol.bodies import Deal, Share
from truc_protocol.evidence_file import Complaint
from truc_protocol.ledger import next_share
from truc_protocol.records import Record, parse
from truc_protocol.transcript import Transcript
from truc_rules import preset


def complaint(table: Table, seat: int = 0) -> Complaint:
    """Return a complaint of a seat, with the secret of its key in force, about the record that comes next."""
    return Complaint(table.setup.mid, table.ledger.k, seat, table.players[seat].x.secret)


def judged(table: Table, of: Complaint, *more: Record) -> Judgement:
    return judged_in((*table.records, *more), table, of)[0]


def judged_in(records: tuple[Record, ...], table: Table, of: Complaint) -> tuple[Judgement, str]:
    return judge(passed(Transcript(table.document, records), (of,)), of)


def at_deal() -> tuple[Table, Record]:
    table = Table().to("called")
    return table, until(table, Deal)


# upheld


def test_complaint_about_a_card_that_the_seat_had_before_the_redeal_is_upheld():
    table = Table().to("hand")
    table.play("redeal")
    table.play("accept")
    old = table.dealer._cards(table.ledger, 1)[0].hands[0][0].card
    cheat(table, lambda cards: with_card(cards, 0, 0, cards.hands[0][0]._replace(card=old)))
    assert judged(table, complaint(table), until(table, Deal)) is Judgement.UPHELD


def redealt(table: Table) -> Record:
    """Return the deal that follows once seats have agreed to new cards."""
    table.play("redeal")
    table.play("accept")
    return until(table, Deal)


def test_complaint_about_a_redeal_is_judged_also_after_a_garbled_first_deal():
    french = preset("truc-french")
    table, record = garbled(Table(replace(french, redeal=replace(french.redeal, max="pack"))))
    table.add(record)
    second = redealt(table)
    assert judged(table, complaint(table), second) is Judgement.DISMISSED
    table.add(second)
    old = table.dealer._cards(table.ledger, 2)[1].hands[0][0].card
    third = redealt(table)
    assert judged(table, complaint(table), third) is Judgement.DISMISSED
    cheat(table, lambda cards: with_card(cards, 0, 0, cards.hands[0][0]._replace(card=old)))
    assert judged(table, complaint(table), until(table, Deal)) is Judgement.UPHELD


def test_complaint_about_a_card_of_a_first_deal_that_had_one_twice_is_upheld():
    table = Table().to("called").careless()
    until(table, Deal)
    own = table.dealer._cards(table.ledger, 1)[0].hands[0][1].card
    cheat(table, lambda cards: with_card(cards, 0, 0, cards.hands[0][0]._replace(card=own)))
    table.step()
    redealt(table)
    cheat(table, lambda cards: with_card(cards, 0, 2, cards.hands[0][2]._replace(card=own)))
    assert judged(table, complaint(table), until(table, Deal)) is Judgement.UPHELD


def test_complaint_is_upheld_also_when_the_match_went_on_and_none_where_the_list_is_forged():
    table, record = garbled()
    of = complaint(table)
    # Whoever complains may have garbled the box in its own copy: then the record is not the server's.
    forged = record._replace(sig=table.players[0].key.sign(record.body))
    assert judged(table, of, forged) is Judgement.NO_COMPLAINT
    broken = table.records[-1]._replace(sig=bytes(64))
    behind, _ = judged_in((*table.records[:-1], broken, record), table, of)
    assert behind is Judgement.NO_COMPLAINT
    table.add(record)
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


def test_box_must_be_sealed_to_the_key_in_force_and_is_judged_by_that_alone():
    table = Table().to("between")
    old = table.players[0].x
    table.add(table.players[0].rekey(table.ledger))
    record = until(table, Deal)
    of = complaint(table)
    assert judged(table, of, record) is Judgement.DISMISSED
    assert judged(table, Complaint(of.mid, of.k, 0, old.secret), record) is Judgement.NO_COMPLAINT
    shared = table.dealer.exchange(old.public)
    hand = table.dealer._cards(table.ledger, 1)[0].hands[0]
    box = boxes.seal_hand(shared, table.setup.mid, j=table.ledger.deal_index, d=0, seat=0, hand=hand)
    record = altered(table, record, boxes=(box, *parse(record).boxes[1:]))
    assert judged(table, of, record) is Judgement.UPHELD


# dismissed


def test_complaint_about_an_honest_box_is_dismissed_also_when_the_match_was_refuted_later():
    table, record = at_deal()
    of = complaint(table)
    assert judged(table, of, altered(table, record, cut=7)) is Judgement.NO_COMPLAINT
    found = judged_in((*table.records, record), table, of)
    assert found == (Judgement.DISMISSED, "the box opens, and holds the cards committed to")
    table.add(record)
    forged = table.rule("abandon", 0, "server")
    assert judged(table, of, forged) is Judgement.DISMISSED


@each_row("has_key, judgement", [(True, Judgement.DISMISSED), (False, Judgement.NO_COMPLAINT)])
def test_complaint_of_a_guest_needs_a_key(has_key, judgement):
    table = Table(guests=(0,), boxed_guests=has_key).to("called")
    record = until(table, Deal)
    key = table.guest_keys[0].secret if has_key else secret("bogus", 1)
    assert judged(table, Complaint(table.setup.mid, table.ledger.k, 0, key), record) is judgement


# no complaint


def test_complaint_of_the_giver_of_a_share_is_none():
    table = sharing_table()
    record = until(table, Share)
    of = complaint(table, parse(record).giver)
    assert judged(table, of, altered(table, record, box=b"x" * 80)) is Judgement.NO_COMPLAINT


def test_complaint_about_a_blind_hand_is_none():
    table = blind_table(phase="called")
    record = until(table, Deal)
    assert judged(table, complaint(table), record) is Judgement.NO_COMPLAINT

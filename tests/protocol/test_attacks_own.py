"""Forgeries that no file can show: what one seat opens (C18), and a body too long to be kept.

All others are kept with their verdicts in tests/vectors, where test_tampered_vectors.py replays them.
"""

import struct

from protocol.forge import (
    SERVER,
    Case,
    Forgery,
    altered,
    as_seat,
    cheat,
    check_refused,
    forged,
    garbled,
    leaves_of,
    next_altered,
    refusals,
    signed_bytes,
    undealt_card,
    until,
    with_card,
)
from protocol.peers import Table
from protocol.shared import paulista, sharing_table
from rows import each_row

from truc_protocol import boxes
from truc_protocol.audit import OwnSeat
from truc_protocol.bodies import Call, Deal, SeatTaken
from truc_protocol.crypto import keys
from truc_protocol.dealing import Opening
from truc_protocol.records import Record, encode, parse


def body_too_long():
    table = Table()
    body = encode(parse(until(table, Call)))
    longer = body[:-4] + b"\xc6" + struct.pack(">I", 65_536) + bytes(65_536)
    return table, signed_bytes(table, 0, longer)


test_body_that_no_file_can_hold_is_refused = refusals(("C1", None, body_too_long))


@each_row("point", sorted(keys.SMALL_ORDER))
def test_small_order_key_takes_no_seat(point: bytes) -> None:
    table = Table()
    body = SeatTaken(table.terms.th, 0, point, bytes(32), table.players[0].x.public, b"x")
    weak = Record(1, encode(body), point + bytes(32))
    check_refused(Case("C4", None, lambda: Forgery(table.document, [table.records[0], weak])))


def test_guest_with_a_box_key_sees_its_cards() -> None:
    table = Table(guests=(0,), boxed_guests=True).to("hand")
    auditor = table.audit(OwnSeat(0, table.guest_keys[0]))
    assert auditor.openings == table.dealer.openings(table.ledger, 0)


def sealed_for(table: Table, seat: int, hand) -> bytes:
    shared = table.dealer.shared(table.ledger, seat)
    return boxes.seal_hand(shared, table.setup.mid, j=table.ledger.deal_index, d=0, seat=seat, hand=hand)


def own_box_garbled():
    return as_seat(*garbled())


def own_box_of_another_deal():
    table = Table().to("hand")
    old = parse(table.records[-1]).boxes
    table.step()
    record = until(table, Deal)
    return as_seat(table, altered(table, record, boxes=old))


def own_box_of_another_sub_deal():
    table = Table().to("hand")
    table.play("redeal")
    old = parse(table.records[-2]).boxes
    table.play("accept")
    record = until(table, Deal)
    return as_seat(table, altered(table, record, boxes=old))


def own_box_with_other_cards_than_committed():
    table = Table()
    record = until(table, Deal)
    cards = table.dealer._cards(table.ledger, 1)[0]
    lie = with_card(cards, 0, 1, Opening(undealt_card(table, cards), bytes(16)))
    return as_seat(table, altered(table, record, boxes=(sealed_for(table, 0, lie.hands[0]), b"x")))


def own_hand_of(card_of):
    table = Table()
    record = until(table, Deal)
    cards = table.dealer._cards(table.ledger, 1)[0]
    lie = with_card(cards, 0, 1, Opening(card_of(cards), bytes(16)))
    box = sealed_for(table, 0, lie.hands[0])
    return as_seat(table, altered(table, record, leaves=leaves_of(table, lie), boxes=(box, b"x")))


def own_share_that_does_not_open():
    table = sharing_table()
    record = table.next_record()
    return as_seat(table, altered(table, record, box=parse(record).box[::-1]), parse(record).receiver)


def own_share_with_other_cards():
    table = sharing_table()
    body = parse(table.next_record())
    shared = table.dealer.shared(table.ledger, body.receiver)
    hand = [Opening(opening.card, bytes(16)) for opening in table.dealer.openings(table.ledger, body.giver)]
    place = {"j": body.j, "d": 0, "giver": body.giver, "receiver": body.receiver}
    box = boxes.seal_share(shared, table.setup.mid, hand=hand, **place)
    return as_seat(table, altered(table, table.next_record(), box=box), body.receiver)


def card_turned_up_that_a_seat_holds():
    table = Table(paulista())
    until(table, Deal)
    held = table.dealer._cards(table.ledger, 1)[0].hands[0][1].card
    cheat(table, lambda cards: cards._replace(up=(held,)))
    return as_seat(table, table.next_record())


test_hand_that_its_seat_cannot_open_is_refused = refusals(
    ("C18", SERVER, own_box_garbled),
    ("C18", SERVER, own_box_of_another_deal),
    ("C18", SERVER, own_box_of_another_sub_deal),
    ("C18", SERVER, own_box_with_other_cards_than_committed),
    ("C18", SERVER, own_share_that_does_not_open),
    ("C18", SERVER, own_share_with_other_cards),
    ("C18", SERVER, card_turned_up_that_a_seat_holds),
    *forged(
        "C18",
        SERVER,
        own_box_of_another_seat=lambda: as_seat(*next_altered(Deal, boxes=lambda deal: deal.boxes[::-1])),
        own_card_outside_the_pack=lambda: own_hand_of(lambda cards: 32),
        own_card_twice=lambda: own_hand_of(lambda cards: cards.hands[0][0].card),
    ),
)

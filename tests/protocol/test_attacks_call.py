"""Forged calls, releases, draws and deals: C3, C13 to C18, C25."""

import msgspec
from protocol.forge import (
    LINK,
    SERVER,
    altered,
    as_seat,
    following,
    forged,
    leaves_of,
    next_altered,
    refusals,
    small,
    undealt_card,
    until,
    with_card,
)
from protocol.peers import Table, here

from truc_protocol import boxes
from truc_protocol.bodies import Call, Close, Deal, Draw, Release
from truc_protocol.dealing import Opening
from truc_protocol.ledger import next_call
from truc_protocol.records import Record, encode, parse


def call_over_an_open_cut():
    table = Table("truc-catalan").to("between")
    return table, table.sign(next_call(table.ledger))


def call_on_an_exhausted_chain():
    table = Table(links=2)
    table.run(until=lambda ledger: ledger.phase == "between" and ledger.deal_index == 2)
    return table, table.sign(next_call(table.ledger))


def call_on_an_exhausted_chain_of_a_seat():
    table = Table(links=2)
    table.run(until=lambda ledger: ledger.phase == "between" and ledger.deal_index == 2)
    table.step()
    return table, table.sign(next_call(table.ledger))


def release_of_a_later_link():
    table = Table()
    until(table, Release)
    return next_altered(Release, table, link=table.players[0].chain.link(2))


def release_of_an_old_link():
    table = Table().to("called", index=1)
    return next_altered(Release, table, link=table.players[0].chain.link(1))


def link_of_the_chain_before_the_rekey():
    table = Table().to("between")
    old = table.players[0].chain
    table.add(table.players[0].rekey(table.ledger))
    return next_altered(Release, table, link=old.link(2))


def deal_from_a_link_of_no_chain():
    """The server waits for every release, then picks the link whose cards it likes, and opens that one."""
    table = Table()
    until(table, Deal)
    table.dealer._link = lambda _ledger: LINK
    return table, until(table, Close)


def release_of_a_seat_rewritten_by_the_server():
    table = Table()
    body = encode(msgspec.structs.replace(parse(until(table, Release)), link=LINK))
    return table, Record(1, body, table.server.sign(body))


def early_opening_under_match():
    table = Table(small(reveal="match"))
    until(table, Close)
    return next_altered(Close, table, link=table.dealer._link(table.ledger))


def void_that_opens_under_match():
    table = Table(small(reveal="match")).to("called")
    return table, altered(table, table.dealer.void(table.ledger), link=table.dealer._link(table.ledger))


def one_release_short(kind: type, index: int):
    """What the server would sign if the last seat had released; signed one release too early."""
    table = Table().to("called", index=index)
    table.step()
    place = here(table.ledger)
    ahead = table.ledger, list(table.records)
    record = parse(until(table, kind))
    table.ledger, table.records = ahead
    return table, table.sign(record.__class__(*place, *fields_after_place(record)))


def fields_after_place(body):
    return [getattr(body, name) for name in body.__struct_fields__[3:]]


def second_release():
    table = Table().to("called")
    table.step()
    return table, table.records[-1]


def second_release_with_another_link():
    table = Table().to("called")
    table.step()
    return table, altered(table, table.records[-1], link=LINK)


def second_draw():
    table = Table().to("called", index=1)
    until(table, Deal)
    link = table.dealer._link(table.ledger)
    return table, table.sign(Draw(*here(table.ledger), 1, link, 0))


def hand_before_the_draw():
    table = Table()
    until(table, Draw)
    return table, table.sign(Deal(*here(table.ledger), 0, 0, 0, 0, 0, (), ((), ()), (b"", b"")))


def deal_of_a_deck_cut_elsewhere():
    """The deal repeats its call, but its cards come from the deck cut one card lower."""
    table = Table()
    until(table.to("called", index=1), Deal)
    table.dealer._cards(table.ledger, 1)
    shuffled = table.dealer._shuffled
    order = (*shuffled.order[1:], shuffled.order[0])
    table.dealer._shuffled = shuffled._replace(order=order, deals=())
    return table, until(table, Close)


def redeal_that_was_not_granted():
    table = Table().to("hand")
    deal = parse(table.records[-1])
    return table, table.sign(
        Deal(*here(table.ledger), *fields_after_place(deal)[:1], 1, *fields_after_place(deal)[2:])
    )


def sealed_for(table: Table, seat: int, hand) -> bytes:
    shared = table.dealer.shared(table.ledger, seat)
    return boxes.seal_hand(shared, table.setup.mid, j=table.ledger.deal_index, d=0, seat=seat, hand=hand)


def own_box_garbled():
    table = Table()
    record = until(table, Deal)
    mine, other = parse(record).boxes
    return as_seat(table, altered(table, record, boxes=(mine[:-1] + bytes([mine[-1] ^ 1]), other)))


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


test_forged_deal_is_refused = refusals(
    ("C13", SERVER, call_on_an_exhausted_chain),
    ("C13", SERVER, call_on_an_exhausted_chain_of_a_seat),
    ("C14", "seat 0", release_of_a_later_link),
    ("C14", "seat 0", release_of_an_old_link),
    ("C14", "seat 0", link_of_the_chain_before_the_rekey),
    ("C14", SERVER, deal_from_a_link_of_no_chain),
    ("C3", None, release_of_a_seat_rewritten_by_the_server),
    ("C14", SERVER, early_opening_under_match),
    ("C15", None, second_release),
    ("C15", "seat 0", second_release_with_another_link),
    ("C16", SERVER, second_draw),
    ("C16", SERVER, hand_before_the_draw),
    ("C25", SERVER, deal_of_a_deck_cut_elsewhere),
    ("C17", SERVER, redeal_that_was_not_granted),
    ("C18", SERVER, own_box_garbled),
    ("C18", SERVER, own_box_of_another_deal),
    ("C18", SERVER, own_box_of_another_sub_deal),
    ("C18", SERVER, own_box_with_other_cards_than_committed),
    ("C13", SERVER, call_over_an_open_cut),
    ("C14", SERVER, void_that_opens_under_match),
    *forged(
        "C13",
        SERVER,
        call_for_another_dealer=lambda: next_altered(
            Call, Table().to("between"), dealer=lambda call: 1 - call.dealer
        ),
        call_for_other_cards=lambda: next_altered(Call, Table().to("between"), ncards=1),
        call_with_another_cut=lambda: next_altered(Call, Table().to("between"), cut=5),
        call_without_a_contributor=lambda: next_altered(Call, roles=(0, 1)),
    ),
    *forged(
        "C14",
        SERVER,
        draw_with_a_link_off_the_chain=lambda: next_altered(Draw, link=LINK),
        close_with_a_link_off_the_chain=lambda: next_altered(Close, link=LINK),
        close_without_a_link=lambda: next_altered(Close, link=None),
    ),
    *forged("C14", "seat 0", release_of_fresh_entropy=lambda: next_altered(Release, link=LINK)),
    *forged(
        "C15",
        SERVER,
        draw_without_one_release=lambda: one_release_short(Draw, 0),
        deal_without_one_release=lambda: one_release_short(Deal, 1),
    ),
    *forged(
        "C17",
        SERVER,
        deal_for_another_dealer=lambda: next_altered(Deal, dealer=lambda body: 1 - body.dealer),
        deal_with_a_seat_too_many=lambda: next_altered(Deal, leaves=lambda body: body.leaves * 2),
        deal_without_a_box=lambda: next_altered(Deal, boxes=lambda body: (body.boxes[0], b"")),
        deal_with_a_box_too_many=lambda: next_altered(Deal, boxes=lambda body: (*body.boxes, b"x")),
        deal_with_a_leaf_too_few=lambda: next_altered(
            Deal, leaves=lambda deal: (deal.leaves[0], deal.leaves[1][:-1])
        ),
        deal_with_another_cut=lambda: next_altered(Deal, cut=7),
        deal_of_other_cards_each=lambda: next_altered(Deal, ncards=1),
        deal_that_skips_a_sub_deal=lambda: next_altered(Deal, d=1),
        box_for_a_guest_without_a_key=lambda: next_altered(Deal, Table(guests=(0, 1)), boxes=(b"x", b"")),
        card_turned_up_where_none_is=lambda: next_altered(Deal, up=(3,)),
    ),
    *forged(
        "C18",
        SERVER,
        own_box_of_another_seat=lambda: as_seat(*next_altered(Deal, boxes=lambda deal: deal.boxes[::-1])),
        own_card_outside_the_pack=lambda: own_hand_of(lambda cards: 32),
        own_card_twice=lambda: own_hand_of(lambda cards: cards.hands[0][0].card),
    ),
    *following(
        lambda: Table().to("called"),
        "C14",
        SERVER,
        void_with_a_link_off_the_chain=lambda table: altered(
            table, table.dealer.void(table.ledger), link=LINK
        ),
        void_without_a_link=lambda table: altered(table, table.dealer.void(table.ledger), link=None),
    ),
    *forged(
        "C16",
        SERVER,
        draw_of_another_dealer=lambda: next_altered(Draw, first=lambda body: 1 - body.first),
    ),
)

"""Forged decks, voids, new chains, shares and ends: C7, C13, C18, C25 to C27, C30, C31."""

from protocol.forge import (
    LINK,
    SERVER,
    altered,
    as_seat,
    cheat,
    forged,
    next_altered,
    place,
    refusals,
    resigned,
    small,
    undealt_card,
    until,
    voided,
    with_card,
)
from protocol.peers import Table, here, secret
from protocol.shared import sharing_table

from truc_protocol import boxes
from truc_protocol.bodies import Call, Close, Deal, Draw, End, Void
from truc_protocol.crypto import keys
from truc_protocol.crypto.chains import Chain
from truc_protocol.dealing import Opening
from truc_protocol.ledger import next_call
from truc_protocol.records import parse
from truc_protocol.setup import Opts


def dealt_otherwise(change, variant="truc-french", index: int = 1):
    """A server that deals other cards than the shuffle gives, all else consistent; up to the record that opens."""
    table = Table(variant)
    until(table, Call)
    table.to("called", index=index)
    until(table, Deal)
    cheat(table, lambda cards: change(table, cards))
    return table


def better_card(table, cards):
    salt = cards.hands[0][0].salt
    return with_card(cards, 0, 0, Opening(undealt_card(table, cards), salt))


def other_salt(table, cards):
    return with_card(cards, 0, 0, Opening(cards.hands[0][0].card, bytes(16)))


def committed_card_that_is_not_the_decks():
    table = dealt_otherwise(better_card)
    return table, until(table, Close)


def salt_that_is_not_the_seeds():
    table = dealt_otherwise(other_salt)
    return table, until(table, Close)


def substituted_card_under_match():
    table = dealt_otherwise(better_card, small(reveal="match", redeals=0))
    return table, until(table, End)


def redeal_not_from_the_remainder():
    table = Table().to("hand")
    table.play("redeal")
    table.play("accept")
    undealt = table.dealer._shuffled.order[-1]
    cheat(table, lambda cards: with_card(cards, 0, 0, Opening(undealt, cards.hands[0][0].salt)))
    table.step()
    return table, until(table, Close)


def cards_in_another_seats_order():
    table = dealt_otherwise(lambda _table, cards: cards._replace(hands=cards.hands[::-1]))
    return table, until(table, Close)


def void_with_nobody_missing():
    table = Table()
    until(table, Draw)
    link = table.dealer._link(table.ledger)
    return table, table.sign(Void(*here(table.ledger), 0, "silent", (), link))


def void_that_names_a_seat_that_released():
    table = Table().to("called")
    table.step()
    return table, altered(table, table.dealer.void(table.ledger), seats=(0, 1))


def void_that_spares_a_silent_seat():
    table = Table().to("called")
    return table, altered(table, table.dealer.void(table.ledger), seats=(0,))


def void_for_another_reason():
    table = Table().to("called")
    return table, altered(table, table.dealer.void(table.ledger), reason="bored")


def call_after_a_void_that_forfeits():
    table = voided(gone=0)
    return table, table.sign(next_call(table.ledger))


def call_before_the_substitute():
    table = voided(gone=1)
    return table, table.sign(next_call(table.ledger))


def call_beyond_the_voids_allowed():
    table = voided(gone=2, voids=0)
    return table, table.sign(next_call(table.ledger))


def resign_beyond_the_voids_allowed():
    table = voided(gone=2, voids=0)
    return table, table.players[1].resign(table.ledger)


def another_dealer_after_a_void():
    table = voided(gone=2)
    call = next_call(table.ledger)
    return table, altered(table, table.sign(call), dealer=1 - call.dealer)


def another_cut_after_a_void():
    table = Table("truc-catalan", opts=Opts(gone=2)).to("called", index=1)
    table.silent = frozenset({0})
    table.run(until=lambda ledger: ledger.phase == "between")
    call = next_call(table.ledger)
    return table, altered(table, table.sign(call), cut=call.cut + 1)


def rekeyed(seat: int = 0, table: Table | None = None, **fields):
    table = (table or Table()).to("between")
    return table, altered(table, table.players[seat].rekey(table.ledger), **fields)


def rekey_with_an_anchor_that_a_colluder_copied():
    """The server keeps an honest rekey back, and lets another seat bring the same anchor first."""
    table = Table().to("between")
    honest = parse(table.players[0].rekey(table.ledger))
    copy = altered(table, table.players[1].rekey(table.ledger), anchor=honest.anchor)
    table.add(copy)
    return table, resigned(table, place(table, honest))


def rekey_too_many():
    table = Table(opts=Opts(rekeys=1)).to("between")
    table.add(table.players[0].rekey(table.ledger))
    return rekeyed(table=table)


def server_rekey_too_early():
    table = Table().to("between")
    return table, table.dealer.rekey(table.ledger, secret("early", 1))


def server_rekey_with_a_box_key():
    table = Table(links=2)
    table.run(until=lambda ledger: ledger.phase == "between" and ledger.deal_index == 2)
    return table, altered(table, table.next_record(), x=LINK)


def server_rekey_with_the_old_anchor():
    table = Table(links=2)
    table.run(until=lambda ledger: ledger.phase == "between" and ledger.deal_index == 2)
    return table, altered(table, table.next_record(), anchor=table.terms.table.anchor)


def end_with_the_link_before():
    table = Table(small())
    record = until(table, End)
    return table, altered(table, record, links=((0, table.dealer._chains[0].link(1)),))


def end_without_a_chain():
    table = Table(small(), links=2)
    record = until(table, End)
    assert len(parse(record).links) > 1
    return table, altered(table, record, links=parse(record).links[1:])


def end_with_a_chain_too_many():
    table = Table(small(), links=2)
    record = until(table, End)
    strange = Chain(table.server.public, table.terms.table.tn, secret("strange", 1), first=9, count=2)
    return table, altered(table, record, links=(*parse(record).links, (9, strange.link(10))))


def box_that_was_not_checked_by_its_seat():
    table = Table(small())
    record = until(table, Deal)
    first, second = parse(record).boxes
    table.add(altered(table, record, boxes=(first, second[::-1])))
    return table, until(table, End)


def box_with_true_cards_sealed_otherwise():
    table = Table(small())
    record = until(table, Deal)
    hand = table.dealer._cards(table.ledger, 1)[0].hands[1]
    key = keys.derive(table.dealer.shared(table.ledger, 1), table.setup.mid, b"other")
    sealed = keys.seal(key, bytes(12), bytes(len(hand)))
    table.add(altered(table, record, boxes=(parse(record).boxes[0], sealed)))
    return table, until(table, End)


def share_with_other_cards():
    table = sharing_table()
    record = table.next_record()
    table.add(altered(table, record, box=parse(record).box[::-1]))
    return table, until(table, End)


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


test_forged_course_of_a_match_is_refused = refusals(
    ("C13", SERVER, another_dealer_after_a_void),
    ("C13", SERVER, another_cut_after_a_void),
    ("C18", SERVER, own_share_that_does_not_open),
    ("C18", SERVER, own_share_with_other_cards),
    ("C25", SERVER, committed_card_that_is_not_the_decks),
    ("C25", SERVER, salt_that_is_not_the_seeds),
    ("C25", SERVER, substituted_card_under_match),
    ("C25", SERVER, redeal_not_from_the_remainder),
    ("C25", SERVER, cards_in_another_seats_order),
    ("C26", SERVER, void_with_nobody_missing),
    ("C26", SERVER, void_that_names_a_seat_that_released),
    ("C7", None, rekey_with_an_anchor_that_a_colluder_copied),
    ("C27", "seat 0", rekey_too_many),
    ("C27", SERVER, server_rekey_with_a_box_key),
    ("C7", None, server_rekey_with_the_old_anchor),
    ("C30", SERVER, end_with_the_link_before),
    ("C30", SERVER, end_without_a_chain),
    ("C30", SERVER, end_with_a_chain_too_many),
    ("C31", SERVER, box_that_was_not_checked_by_its_seat),
    ("C31", SERVER, box_with_true_cards_sealed_otherwise),
    ("C31", SERVER, share_with_other_cards),
    ("C26", SERVER, void_that_spares_a_silent_seat),
    ("C26", SERVER, void_for_another_reason),
    ("C26", SERVER, call_after_a_void_that_forfeits),
    ("C26", SERVER, call_before_the_substitute),
    ("C26", SERVER, call_beyond_the_voids_allowed),
    ("C26", None, resign_beyond_the_voids_allowed),
    ("C27", SERVER, server_rekey_too_early),
    *forged(
        "C27",
        "seat 0",
        rekey_from_another_index=lambda: rekeyed(first=2),
        rekey_without_a_box_key=lambda: rekeyed(x=None),
    ),
    *forged(
        "C7",
        None,
        rekey_with_the_old_box_key=lambda: rekeyed(x=Table().players[0].x.public),
        rekey_with_the_old_anchor=lambda: rekeyed(anchor=Table().players[0].chain.anchor),
        rekey_with_a_low_order_box_key=lambda: rekeyed(x=bytes(32)),
    ),
    *forged(
        "C30",
        SERVER,
        end_with_a_wrong_link=lambda: next_altered(End, Table(small()), links=((0, LINK),)),
        end_at_another_index=lambda: next_altered(End, Table(small(), links=2), next_index=9),
    ),
    *forged(
        "C31",
        SERVER,
        end_with_another_box_secret=lambda: next_altered(
            End, Table(small(), links=2), xsec=secret("another", 1)
        ),
    ),
)

"""Forged setups: C4 to C9, C11, each built with every key the forger holds."""

import msgspec
from protocol.forge import (
    SERVER,
    Case,
    Forgery,
    altered,
    check_refused,
    forged,
    plus_torsion,
    refusals,
    signed_for,
    small,
)
from protocol.peers import Puppet, Table, secret
from rows import each_row

from truc_protocol.audit import Accepted, Auditor, OwnSeat
from truc_protocol.bodies import Guest, SeatTaken
from truc_protocol.codec import dec, enc, sha256
from truc_protocol.crypto import keys
from truc_protocol.crypto.curve import FIELD
from truc_protocol.records import Record, body_hash, encode, parse
from truc_protocol.setup import Opts

GUEST = Opts(guests=1)


def table_with(document: bytes | None = None, **fields) -> Forgery:
    table = Table(opts=GUEST)
    return Forgery(document or table.document, [altered(table, table.records[0], **fields)])


def document_that_is_none():
    document = enc(["truc/1/rules", 1, "x"])
    return table_with(document, rules=sha256(document))


def document_with_truth_for_the_engine():
    items = dec(Table().document)
    document = enc([items[0], True, *items[2:]])
    return table_with(document, rules=sha256(document))


def document_with_a_group_in_another_order():
    *items, fields = dec(Table().document)
    groups = [[name, value[::-1] if name == "scoring" else value] for name, value in fields]
    document = enc([*items, groups])
    return table_with(document, rules=sha256(document))


def document_with_cards_whose_numbers_take_two_bytes():
    """A box of such a pack is the longer, the more high cards it holds."""
    ranks = [str(rank) for rank in range(129)]
    *items, _, fields = dec(Table().document)
    params = [[name, ranks if name == "order" else value] for name, value in fields]
    document = enc([*items, [f"{rank}s" for rank in ranks], params])
    return table_with(document, rules=sha256(document), deck=len(ranks))


def low_order_table_box_key_with_another_document():
    forgery = table_with(x=bytes(32))
    return forgery._replace(document=Table(small()).document)


def seat_with(index: int = 1, *, guests: tuple[int, ...] = (), **fields) -> Forgery:
    """A seat record (records[index + 1]) changed and signed again."""
    table = Table(guests=guests)
    records = table.records[: index + 2]
    return Forgery(table.document, [*records[:-1], altered(table, records[-1], **fields)])


def weak_seat_key():
    table = Table()
    body = msgspec.structs.replace(parse(table.records[1]), pk=b"\x01" + bytes(31))
    weak = Record(1, encode(body), b"\x01" + bytes(63))  # S = 0 verifies under this key for every message
    return Forgery(table.document, [table.records[0], weak])


def mixed_order_seat_key():
    """A key plus a point of order 8: libraries take what it signs; about one signature in eight fits."""
    table = Table()
    player = table.players[0].key
    mixed = plus_torsion(player.public)
    for attempt in range(64):
        body = encode(msgspec.structs.replace(parse(table.records[1]), pk=mixed, name=b"%d" % attempt))
        sig = signed_for(player, mixed, body)
        if keys.verify(mixed, body, sig):
            return Forgery(table.document, [table.records[0], Record(1, body, sig)])
    raise AssertionError("no signature fits the mixed key")


def seat_of_another_table():
    table, other = Table(), Table(seed=2)
    return Forgery(table.document, [table.records[0], other.records[1]])


def seats_in_another_order():
    table = Table()
    return Forgery(table.document, [table.records[0], table.records[2]])


def seat_beyond_the_table():
    table = Table()
    stranger = Puppet(2, 1)
    return Forgery(table.document, [table.records[0], stranger.join(table.terms)])


def guest_beyond_the_table():
    table = Table(guests=(0, 1))
    guest = table.dealer.guest_record(Guest(table.terms.th, 2, None, b"guest"))
    return Forgery(table.document, [*table.records[:2], guest])


def guest_in_the_place_of_another():
    table = Table(guests=(0, 1))
    return Forgery(table.document, [table.records[0], table.records[2]])


def guest_too_many():
    table = Table()
    guest = table.dealer.guest_record(Guest(table.terms.th, 0, None, b"guest"))
    return Forgery(table.document, [table.records[0], guest])


def terms_changed_after_seats_signed():
    table = Table()
    return Forgery(table.document, [altered(table, table.records[0], opts=(1,)), table.records[1]])


def one_key_on_two_seats():
    table = Table()
    body = msgspec.structs.replace(parse(table.records[2]), pk=table.players[0].key.public)
    twice = Record(2, encode(body), table.players[0].key.sign(encode(body)))
    return Forgery(table.document, [*table.records[:2], twice])


def box_key_of_low_order_in_another_order():
    table = Table()
    later = altered(table, table.records[2], x=bytes(32))
    return Forgery(table.document, [table.records[0], later])


def low_order_box_key_of_a_guest_too_many():
    table = Table()
    guest = table.dealer.guest_record(Guest(table.terms.th, 0, bytes(32), b"guest"))
    return Forgery(table.document, [table.records[0], guest])


def guests_with_one_box_key():
    table = Table("truc-catalan", seats=4, guests=(0, 1), boxed_guests=True)
    copy = altered(table, table.records[2], x=table.guest_keys[0].public)
    return Forgery(table.document, [*table.records[:2], copy])


def match_with(**fields) -> Forgery:
    table = Table()
    return Forgery(table.document, [*table.records[:-1], altered(table, table.records[-1], **fields)])


def match_before_every_seat():
    table = Table()
    return Forgery(table.document, [*table.records[:2], table.records[-1]])


def seat_in_place_of_the_table():
    table = Table()
    return Forgery(table.document, [table.records[1]])


def table_in_place_of_the_match():
    table = Table()
    return Forgery(table.document, [*table.records[:3], table.records[0]])


test_forged_setup_is_refused = refusals(
    ("C4", None, weak_seat_key),
    ("C4", None, mixed_order_seat_key),
    ("C5", SERVER, document_that_is_none),
    ("C5", SERVER, document_with_truth_for_the_engine),
    ("C5", SERVER, document_with_a_group_in_another_order),
    ("C5", SERVER, document_with_cards_whose_numbers_take_two_bytes),
    ("C5", None, low_order_table_box_key_with_another_document),
    ("C6", None, seat_of_another_table),
    ("C6", None, seats_in_another_order),
    ("C6", None, seat_beyond_the_table),
    ("C6", None, guest_in_the_place_of_another),
    ("C6", SERVER, guest_beyond_the_table),
    ("C6", SERVER, guest_too_many),
    ("C6", None, box_key_of_low_order_in_another_order),
    ("C6", SERVER, low_order_box_key_of_a_guest_too_many),
    ("C6", None, terms_changed_after_seats_signed),
    ("C7", None, one_key_on_two_seats),
    ("C7", None, guests_with_one_box_key),
    ("C11", None, match_before_every_seat),
    ("C11", None, seat_in_place_of_the_table),
    ("C11", None, table_in_place_of_the_match),
    *forged("C4", None, weak_server_key=lambda: table_with(spk=bytes(32))),
    *forged(
        "C5", None, document_of_other_rules=lambda: Forgery(Table(small()).document, Table().records[:1])
    ),
    *forged(
        "C5",
        SERVER,
        deck_of_another_size=lambda: table_with(deck=31),
        seats_the_rules_refuse=lambda: table_with(seats=4),
        chains_without_links=lambda: table_with(links=0),
        chains_too_long=lambda: table_with(links=4097),
        policy_against_the_rules=lambda: table_with(policy="match"),
        mode_not_known=lambda: table_with(mode="open"),
        eleven_opts=lambda: table_with(opts=(0,) * 11),
        unknown_consequence=lambda: table_with(opts=tuple(Opts(gone=3))),
        more_guests_than_seats=lambda: table_with(opts=tuple(Opts(guests=3))),
        rekeys_beyond_the_limit=lambda: table_with(opts=tuple(Opts(rekeys=101))),
        table_name_that_is_no_text=lambda: table_with(name=b"\xff"),
        low_order_table_box_key_beside_other_terms=lambda: table_with(x=bytes(32), links=0),
    ),
    *forged(
        "C7",
        SERVER,
        low_order_table_box_key=lambda: table_with(x=bytes(32)),
        low_order_guest_box_key=lambda: seat_with(guests=(1,), x=bytes(32)),
        guest_box_key_copied_from_the_server=lambda: seat_with(guests=(1,), x=Table().terms.table.x),
    ),
    *forged(
        "C6",
        None,
        seat_name_that_is_no_text=lambda: seat_with(name=b"\xc3"),
        box_key_of_low_order_at_another_table=lambda: seat_with(x=bytes(32), th=bytes(32)),
    ),
    *forged(
        "C7",
        None,
        anchor_copied_from_a_seat=lambda: seat_with(anchor=parse(Table().records[1]).anchor),
        anchor_copied_from_the_server=lambda: seat_with(anchor=Table().terms.table.anchor),
        box_key_copied_from_the_server=lambda: seat_with(x=Table().terms.table.x),
        box_key_copied_from_a_seat=lambda: seat_with(x=Table().players[0].x.public),
        box_key_of_low_order=lambda: seat_with(x=b"\x01" + bytes(31)),
        box_key_not_canonical=lambda: seat_with(x=(FIELD + 9).to_bytes(32, "little")),
        box_key_with_the_top_bit=lambda: seat_with(x=bytes(31) + b"\x80"),
    ),
    *forged(
        "C8",
        None,
        match_that_lists_another_seat=lambda: match_with(seats=(bytes(32), body_hash(Table().records[2]))),
        match_of_another_table=lambda: match_with(th=bytes(32)),
    ),
)


def accepting(table: Table, **fields) -> Accepted:
    honest = Accepted(table.terms.table.spk, table.terms.th, level="A", seat_hash=body_hash(table.records[1]))
    return honest._replace(**fields)


def as_seat_0(table: Table, count: int, **fields) -> Forgery:
    own = OwnSeat(0, table.players[0].x)
    return Forgery(table.document, table.records[:count], own, accepting(table, **fields))


def own_seat_with_another_box_key():
    table = Table()
    own = OwnSeat(0, keys.box_key(secret("other", 1)))
    return Forgery(table.document, table.records[:4], own, accepting(table, seat_hash=None))


test_match_that_was_not_accepted_is_refused = refusals(
    ("C9", SERVER, own_seat_with_another_box_key),
    *forged("C9", None, unpinned_server_key=lambda: as_seat_0(Table(), 1, spk=bytes(32))),
    *forged(
        "C9",
        SERVER,
        other_terms_than_accepted=lambda: as_seat_0(Table(), 1, th=bytes(32)),
        table_that_served_before=lambda: as_seat_0(Table(), 1, seen=frozenset({Table().terms.th})),
        nonce_that_served_before=lambda: as_seat_0(Table(), 1, seen=frozenset({Table().terms.table.tn})),
        guest_where_none_was_accepted=lambda: as_seat_0(Table(guests=(1,)), 4),
        own_seat_with_another_record=lambda: as_seat_0(Table(), 4, seat_hash=bytes(32)),
    ),
)


@each_row("point", sorted(keys.SMALL_ORDER))
def test_small_order_key_takes_no_seat(point: bytes) -> None:
    table = Table()
    body = SeatTaken(table.terms.th, 0, point, bytes(32), table.players[0].x.public, b"x")
    forged = Record(1, encode(body), point + bytes(32))
    check_refused(Case("C4", None, lambda: Forgery(table.document, [table.records[0], forged])))


def test_match_as_accepted_passes() -> None:
    table = Table(guests=(1,)).run()
    auditor = Auditor(table.document, OwnSeat(0, table.players[0].x), accepted=accepting(table, level="B"))
    for record in table.records:
        auditor.feed(record)
    assert auditor.verdict().result == "proven"


def test_guest_with_a_box_key_accepts_a_match_in_which_it_has_signed_nothing() -> None:
    table = Table(guests=(0,), boxed_guests=True).to("hand")
    accepted = accepting(table, level="B", seat_hash=None)
    auditor = Auditor(table.document, OwnSeat(0, table.guest_keys[0]), accepted=accepted)
    for record in table.records:
        auditor.feed(record)
    assert auditor.openings == table.dealer.openings(table.ledger, 0)


def test_spectator_accepts_a_match_without_a_seat_of_its_own() -> None:
    table = Table()
    auditor = Auditor(table.document, accepted=accepting(table, seat_hash=None))
    for record in table.records:
        auditor.feed(record)
    assert auditor.ledger is not None

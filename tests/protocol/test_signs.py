"""Signs and phrases on the wire: their forms, to whom they go, and what a client takes for one."""

from types import SimpleNamespace

import pytest
from rows import each_row

from truc_docs.protocol.examples import example_of
from truc_protocol.boxes import BoxError
from truc_protocol.codec import pack, unpack
from truc_protocol.errors import Code
from truc_protocol.messages import BoxedSignSeen, Direction, OpenSignSeen
from truc_protocol.signs import addressee, all_see_signs, check_sign_seen, sign_comes_boxed
from truc_protocol.wire.encoding import MessageError, decode, encode
from truc_rules import Seat, new_match, preset, with_options

TO_SERVER, TO_CLIENT = Direction.TO_SERVER, Direction.TO_CLIENT
HERE = {"table": "A", "match": bytes(32), "at": 8}


def ledger(variant="truc-catalan", *, seats=4, keyed=(0, 1, 2, 3), **options):
    """Return as much of a ledger as signs ask for."""
    rules = with_options(preset(variant), options)
    contributors = (None, *(SimpleNamespace(x=bytes(32)) if seat in keyed else None for seat in range(seats)))
    setup = SimpleNamespace(
        terms=SimpleNamespace(variant=rules), seats=tuple(SimpleNamespace() for _ in range(seats))
    )
    match = new_match(rules, seats=seats, dealer=Seat(seats - 1))
    return SimpleNamespace(setup=setup, match=match, seats=seats, contributors=contributors)


@each_row("form", [BoxedSignSeen, OpenSignSeen])
def test_sender_of_a_sign_stands_under_from(form):
    assert unpack(encode(example_of(TO_CLIENT, form)))["from"] == 0


def test_word_has_a_bound():
    with pytest.raises(MessageError) as caught:
        decode(pack({"t": "sign", "id": 1, **HERE, "word": "x" * 65}), TO_SERVER)
    assert (caught.value.code, caught.value.field) == (Code.BAD_MESSAGE, "word")


@each_row(
    "table, seat, to",
    [
        (ledger(), 1, 3),
        (ledger("truco-argentino", seats=6), 4, 0),
        (ledger("truc-partnership"), 1, 3),  # the governor
        (ledger("truc-partnership"), 3, None),
    ],
)
def test_sign_goes_to_the_first_partner_or_the_governor_who_signs_to_nobody(table, seat, to):
    assert addressee(table, seat) == to
    undrawn = SimpleNamespace(**vars(table) | {"match": None})
    assert addressee(undrawn, seat) is None


@each_row("options, for_all", [({}, False), ({"signals": "table"}, True), ({"signals": "partner"}, False)])
def test_signs_are_for_all_where_the_table_sees_them(options, for_all):
    assert all_see_signs(ledger(**options)) is for_all
    assert not all_see_signs(ledger("truc-french", seats=2))


@each_row("options, is_boxed", [({}, True), ({"signals": "table"}, False), ({"keyed": (0, 1, 3)}, False)])
def test_sign_comes_boxed_to_a_seat_with_a_key_unless_it_is_for_all(options, is_boxed):
    assert sign_comes_boxed(ledger(**options), 2) is is_boxed


@each_row(
    "variant, seats, sender, word",
    [("truc-catalan", 4, 2, "hunter2"), ("truc-catalan", 4, 4, "three"), ("truc-french", 2, 1, "three")],
)
def test_sign_that_nobody_can_make_is_not_taken(variant, seats, sender, word):
    with pytest.raises(BoxError, match="expected a word that the rules let a seat sign") as caught:
        check_sign_seen(ledger(variant, seats=seats), sender, word)
    assert word not in str(caught.value)
    check_sign_seen(ledger(), 2, "three")

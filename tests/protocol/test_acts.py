from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from protocol.peers import Table
from rows import each_row

from truc_protocol.acts import Move, SlotOpening, read_act, write_args
from truc_protocol.checks import CheckError
from truc_rules import Action, CardError, Kind, Seat

SALT = bytes(range(16))
OPENED = [2, 17, SALT]


@each_row("args, value", [([*OPENED, None], None), ([*OPENED, 3], 3), ([*OPENED, "trut"], "trut")])
def test_play_names_the_card_it_opens_and_what_is_asked_with_it(args, value):
    move = read_act(1, "play", args, deck=40)
    assert move == Move(Action(Seat(1), Kind.PLAY, (17,), value), (SlotOpening(*OPENED),))


def test_show_opens_its_slots_in_order():
    move = read_act(1, "show", [[[0, 5, SALT], OPENED]], deck=40)
    assert (move.action.cards, [opening.slot for opening in move.openings]) == ((5, 17), [0, 2])


def test_cut_leaves_its_place_to_the_deal():
    assert read_act(1, "cut", [12], deck=40) == Move(Action(Seat(1), Kind.CUT), (), 12)


@each_row(
    "kind, args",
    [
        ("bluff", []),
        ("play", [2, 17, SALT, "much"]),
        ("show", [[OPENED, 1]]),
        ("show", [[OPENED, [3]]]),
        ("cut", [None]),
        ("deal", [26]),
        ("deal", [2]),
    ],
)
def test_args_of_another_shape_are_refused(kind, args):
    with pytest.raises(CheckError, match="C2"):
        read_act(1, kind, args, deck=40)


def test_shape_is_blamed_on_nobody_but_who_signed_it():
    with pytest.raises(CheckError) as unsigned:
        read_act(1, "bluff", [], deck=40)
    with pytest.raises(CheckError) as signed:
        read_act(1, "bluff", [], deck=40, culprit="seat 1")
    assert (unsigned.value.culprit, signed.value.culprit) == (None, "seat 1")


NESTED = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.binary(max_size=17),
    lambda children: st.lists(children, max_size=4),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.sampled_from([*Kind, "", "bluff"]), st.lists(NESTED, max_size=4))
def test_anything_is_read_or_refused(kind, args):
    with suppress(CheckError):
        assert read_act(0, str(kind), args, deck=32).action.kind == kind


@each_row("name", ["truc-french", "truc-catalan"])
def test_what_is_written_is_read_back(name):
    table = Table(name)
    while table.ledger.phase != "over":
        record = table.next_record()
        if b"truc/1/act" in record.body[:16]:
            before = table.ledger.match
            table.add(record)
            assert table.ledger.match != before
        else:
            table.add(record)


def hand() -> tuple[Table, list]:
    table = Table().to("hand")
    seat = 1 - table.ledger.match.dealer
    return table, table.dealer.openings(table.ledger, seat)


def eldest(table: Table) -> Seat:
    return Seat(1 - table.ledger.match.dealer)


def test_show_is_written_by_ascending_slot_and_a_covered_card_as_its_slot():
    table, openings = hand()
    shown = Action(eldest(table), Kind.SHOW, (openings[2].card, openings[0].card))
    assert write_args(shown, openings) == ([(0, *openings[0]), (2, *openings[2])],)
    covered, unknown_here = (openings[1].card,), ()
    assert write_args(Action(eldest(table), Kind.COVER, covered), openings) == (1,)
    assert write_args(Action(eldest(table), Kind.COVER, unknown_here, 2), openings) == (2,)


@each_row("kind, value", [(Kind.RAISE, "rest"), (Kind.BLIND, 0), (Kind.CLAIM, 3), (Kind.ORDER, "7")])
def test_value_is_the_only_arg_of_a_kind_that_has_one(kind, value):
    table, openings = hand()
    assert write_args(Action(eldest(table), kind, (), value), openings) == (value,)


def test_card_that_its_seat_does_not_hold_is_not_written():
    table, openings = hand()
    held = {opening.card for opening in openings}
    other = next(card for card in range(40) if card not in held)
    with pytest.raises(CardError, match="expected a card that seat"):
        write_args(Action(eldest(table), Kind.PLAY, (other,)), openings)

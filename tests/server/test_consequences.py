"""What is ruled because the records show it: a function of the ledger."""

import pytest
from msgspec.structs import replace
from protocol.peers import Table
from rows import each_row

from truc_protocol.ledger import Due, Ledger, due, seats_missing
from truc_protocol.records import Phase, parse
from truc_protocol.setup import Opts
from truc_server.matches.auto_rulings import UnrecordedState, absent, ruling_due


def silent_at_a_hand(*, seats: int, gone: int = 0, voids: int = 1, releasing=()) -> Table:
    """Return a match in which only some seats have released for the first hand, and its void."""
    variant = "truc-french" if seats == 2 else "truc-lanes"
    table = Table(variant, seats=seats, opts=Opts(gone=gone, voids=voids))
    table.run(until=lambda ledger: ledger.match is not None and ledger.phase is Phase.CALLED)
    for seat in releasing:
        table.add(table.players[seat].release(table.ledger))
    table.add(table.dealer.void(table.ledger))
    return table


def ruling(table: Table, **beside) -> tuple | None:
    record = ruling_due(table.dealer, table.ledger, UnrecordedState(**beside))
    if record is None:
        return None
    body = parse(record)
    return body.ruling, body.seat, body.kind


FORFEIT, EMPTY = ("forfeit", 1, "silent"), ("abandon", None, "empty")


@each_row(
    "seats, releasing, terms, is_held_out, ruled",
    [
        (2, (0,), {}, False, FORFEIT),
        (2, (), {}, False, EMPTY),
        (4, (0, 2), {}, False, FORFEIT),  # once for both partners
        (2, (0,), {"gone": 2}, False, None),  # the terms say wait
        (2, (0,), {"gone": 2, "voids": 0}, False, FORFEIT),  # but this was a void too many
        (2, (0,), {"gone": 1}, False, None),  # a substitute may come while the call is held
        (2, (0,), {"gone": 1}, True, FORFEIT),
        (4, (0, 3), {"gone": 1}, True, EMPTY),
    ],
)
def test_silent_seats_forfeit_or_nobody_wins(seats, releasing, terms, is_held_out, ruled):
    table = silent_at_a_hand(seats=seats, releasing=releasing, **terms)
    assert ruling(table, is_held_out=is_held_out) == ruled


def test_nothing_is_ruled_while_a_hand_is_played_nor_for_vacant_seats_while_the_match_rests():
    assert ruling(Table("truc-french").run(until=lambda ledger: ledger.phase is Phase.HAND)) is None
    resting = silent_at_a_hand(seats=2, gone=1, releasing=(0,)).rest()
    assert ruling(resting, is_held_out=True) is None


@pytest.mark.parametrize("releasing", [(0,), ()])
def test_what_is_ruled_after_a_void_is_taken_by_the_ledger(releasing):
    table = silent_at_a_hand(seats=2, releasing=releasing)
    after: Ledger = table.add(ruling_due(table.dealer, table.ledger, UnrecordedState()))
    assert (after.phase, seats_missing(after), due(after).value) == (Phase.OVER, (), "end")


def test_where_one_of_two_silent_seats_is_taken_over_the_other_forfeits():
    table = silent_at_a_hand(seats=4, gone=1, releasing=(0, 3))
    table.add(table.newcomer(1))
    assert ruling(table, is_held_out=True) == ("forfeit", 2, "silent")


@pytest.mark.parametrize("is_held_out", [False, True])
def test_pause_that_every_seat_has_asked_for_is_granted_while_the_call_is_held(is_held_out):
    table = silent_at_a_hand(seats=2, gone=1, releasing=(0,))
    for seat in range(2):
        table.add(table.act(seat, "pause"))
    assert ruling(table, is_held_out=is_held_out) == ("pause", None, None)


def exhausted(**opts) -> Table:
    """Return a match whose seats have no link for the next call; the server has begun another chain."""
    table = Table("truc-french", links=1, opts=Opts(**opts))
    table.run(until=lambda ledger: due(ledger) is Due.REKEY)
    table.add(table.dealer.rekey(table.ledger, bytes(32)))
    return table


@each_row(
    "terms, has_rekeyed, beside, ruled",
    [
        ({}, True, {}, ("forfeit", 1, "absent")),
        ({"gone": 1}, True, {}, ("forfeit", 1, "absent")),
        ({}, True, {"is_claimed": True}, ("forfeit", 1, "absent")),  # also where opponents claim
        ({}, True, {"sides": (1,)}, None),  # nobody of the other side is connected
        ({}, False, {}, ("abandon", None, "server")),
        ({"gone": 2}, False, {}, None),  # the terms say wait
    ],
)
def test_seat_that_has_not_rekeyed_in_time_forfeits(terms, has_rekeyed, beside, ruled):
    table = exhausted(**terms)
    if has_rekeyed:
        table.add(table.players[0].rekey(table.ledger))
    assert ruling(table, is_held_out=True, **beside) == ruled


def test_seat_that_has_come_back_and_rekeyed_wins_by_one_that_has_not_rekeyed():
    table = exhausted(gone_after=3)
    table.add(table.players[1].rekey(table.ledger))
    table.ledger = replace(table.ledger, streaks=(0, 3))
    assert ruling(table, is_held_out=True, returned=(1,)) == ("forfeit", 0, "absent")


def missed(*streaks: int, **opts) -> Table:
    """Return a hand in which the seats have missed so many decisions in a row."""
    table = Table("truc-french", opts=Opts(decision_ms=1000, gone_after=3, **opts))
    table.run(until=lambda ledger: ledger.phase is Phase.HAND)
    table.ledger = replace(table.ledger, streaks=streaks)
    return table


@each_row(
    "streaks, beside, ruled",
    [
        ((3, 0), {}, ("forfeit", 0, "absent")),
        ((2, 0), {}, None),
        ((3, 0), {"sides": (1,)}, ("forfeit", 0, "absent")),  # it needs nobody of the absent side
        ((3, 0), {"sides": ()}, None),  # but somebody of the other
        ((3, 0), {"sides": (0,)}, None),
        ((3, 0), {"returned": (0,)}, None),
        *(((4, 3), {"sides": sides}, EMPTY) for sides in ((), (0,), (0, 1))),
        ((3, 0), {"is_claimed": True}, None),  # before an opponent claims
        ((3, 0), {"is_claimed": True, "is_held_out": True}, None),
        ((3, 3), {"is_claimed": True}, EMPTY),
    ],
)
def test_seat_that_has_missed_too_many_decisions_forfeits(streaks, beside, ruled):
    assert ruling(missed(*streaks), **beside) == ruled


def test_those_are_absent_who_have_missed_as_many_where_the_terms_count_them():
    assert absent(missed(3, 2).ledger, ()) == (0,)
    assert absent(Table("truc-french", opts=Opts(gone_after=0)).ledger, ()) == ()
    assert ruling(missed(9, 0, gone=2)) is None


@pytest.mark.parametrize("owed", [Due.DEAL, Due.CLOSE, Due.END])
def test_nobody_forfeits_before_the_server_has_added_what_it_owes(owed):
    table = Table("truc-french", opts=Opts(gone_after=3)).run(until=lambda ledger: due(ledger) is owed)
    table.ledger = replace(table.ledger, streaks=(3, 0))
    assert ruling(table) is None

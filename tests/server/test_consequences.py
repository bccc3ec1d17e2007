"""What is ruled because the records show it: a function of the ledger."""

import pytest
from msgspec.structs import replace
from protocol.peers import Table

from truc_protocol.ledger import Due, Ledger, due, missing
from truc_protocol.records import Phase, parse
from truc_protocol.setup import Opts
from truc_server.matches.auto_rulings import Unrecorded, absent, consequence


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
    record = consequence(table.dealer, table.ledger, Unrecorded(**beside))
    if record is None:
        return None
    body = parse(record)
    return body.ruling, body.seat, body.kind


def test_one_silent_seat_forfeits():
    assert ruling(silent_at_a_hand(seats=2, releasing=(0,))) == ("forfeit", 1, "silent")


def test_silent_seats_of_both_sides_abandon_the_match():
    assert ruling(silent_at_a_hand(seats=2)) == ("abandon", None, "empty")


def test_silent_partners_forfeit_once():
    assert ruling(silent_at_a_hand(seats=4, releasing=(0, 2))) == ("forfeit", 1, "silent")


def test_where_the_terms_say_wait_nothing_is_ruled_for_a_silent_seat():
    assert ruling(silent_at_a_hand(seats=2, gone=2, releasing=(0,))) is None


def test_where_the_terms_say_wait_a_void_too_many_forfeits():
    assert ruling(silent_at_a_hand(seats=2, gone=2, voids=0, releasing=(0,))) == ("forfeit", 1, "silent")


@pytest.mark.parametrize("releasing", [(0,), ()])
def test_what_is_ruled_after_a_void_is_taken_by_the_ledger(releasing):
    table = silent_at_a_hand(seats=2, releasing=releasing)
    after: Ledger = table.add(consequence(table.dealer, table.ledger))
    assert (after.phase, missing(after), due(after).value) == (Phase.OVER, (), "end")


def test_nothing_is_ruled_while_a_hand_is_played():
    table = Table("truc-french").run(until=lambda ledger: ledger.phase is Phase.HAND)
    assert ruling(table) is None


def test_where_the_terms_say_substitute_nothing_is_ruled_while_the_call_is_held():
    assert ruling(silent_at_a_hand(seats=2, gone=1, releasing=(0,))) is None


def test_silent_seat_that_nobody_has_taken_over_forfeits():
    table = silent_at_a_hand(seats=2, gone=1, releasing=(0,))
    assert ruling(table, is_held_out=True) == ("forfeit", 1, "silent")


def test_silent_seats_of_both_sides_that_nobody_has_taken_over_abandon_the_match():
    table = silent_at_a_hand(seats=4, gone=1, releasing=(0, 3))
    assert ruling(table, is_held_out=True) == ("abandon", None, "empty")


def test_where_one_of_two_silent_seats_is_taken_over_the_other_forfeits():
    table = silent_at_a_hand(seats=4, gone=1, releasing=(0, 3))
    table.add(table.newcomer(1))
    assert ruling(table, is_held_out=True) == ("forfeit", 2, "silent")


def test_nothing_is_ruled_for_vacant_seats_while_the_match_rests():
    table = silent_at_a_hand(seats=2, gone=1, releasing=(0,)).rest()
    assert ruling(table, is_held_out=True) is None


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


@pytest.mark.parametrize("gone", [0, 1])
def test_seat_that_has_not_rekeyed_in_time_forfeits(gone):
    table = exhausted(gone=gone)
    table.add(table.players[0].rekey(table.ledger))
    assert ruling(table, is_held_out=True) == ("forfeit", 1, "absent")


def test_nobody_wins_where_neither_side_has_rekeyed_in_time():
    assert ruling(exhausted(), is_held_out=True) == ("abandon", None, "server")


def test_where_the_terms_say_wait_nothing_is_ruled_for_an_exhausted_chain():
    assert ruling(exhausted(gone=2), is_held_out=True) is None


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


def test_seat_that_has_missed_too_many_decisions_forfeits():
    assert ruling(missed(3, 0)) == ("forfeit", 0, "absent")


def test_nothing_is_ruled_against_a_seat_before_it_has_missed_as_many():
    assert ruling(missed(2, 0)) is None


def test_those_are_absent_who_have_missed_as_many_and_no_others():
    assert absent(missed(3, 2).ledger, ()) == (0,)


def test_nobody_is_absent_where_the_terms_say_that_nobody_is_gone():
    assert absent(Table("truc-french", opts=Opts(gone_after=0)).ledger, ()) == ()


@pytest.mark.parametrize("sides", [(), (0,)])
def test_nobody_forfeits_while_nobody_of_the_other_side_is_connected(sides):
    assert ruling(missed(3, 0), sides=sides) is None


def test_forfeit_needs_nobody_of_the_absent_side():
    assert ruling(missed(3, 0), sides=(1,)) == ("forfeit", 0, "absent")


@pytest.mark.parametrize("sides", [(), (0,), (0, 1)])
def test_nobody_wins_where_both_sides_have_missed_too_many(sides):
    assert ruling(missed(4, 3), sides=sides) == ("abandon", None, "empty")


@pytest.mark.parametrize("is_held_out", [False, True])
def test_where_opponents_claim_nobody_forfeits_without_a_claim(is_held_out):
    assert ruling(missed(3, 0), is_claimed=True, is_held_out=is_held_out) is None


def test_where_opponents_claim_nobody_wins_where_both_sides_are_gone():
    assert ruling(missed(3, 3), is_claimed=True) == ("abandon", None, "empty")


@pytest.mark.parametrize("owed", [Due.DEAL, Due.CLOSE, Due.END])
def test_nobody_forfeits_before_the_server_has_added_what_it_owes(owed):
    table = Table("truc-french", opts=Opts(gone_after=3)).run(until=lambda ledger: due(ledger) is owed)
    table.ledger = replace(table.ledger, streaks=(3, 0))
    assert ruling(table) is None


def test_seat_that_has_come_back_does_not_forfeit():
    assert ruling(missed(3, 0), returned=(0,)) is None


def test_where_the_terms_say_wait_nobody_forfeits_by_missed_decisions():
    assert ruling(missed(9, 0, gone=2)) is None


def test_seat_without_a_chain_does_not_forfeit_while_nobody_of_the_other_side_is_connected():
    table = exhausted()
    table.add(table.players[0].rekey(table.ledger))
    assert ruling(table, is_held_out=True, sides=(1,)) is None


def test_seat_without_a_chain_forfeits_also_where_opponents_claim():
    table = exhausted()
    table.add(table.players[0].rekey(table.ledger))
    assert ruling(table, is_held_out=True, is_claimed=True) == ("forfeit", 1, "absent")

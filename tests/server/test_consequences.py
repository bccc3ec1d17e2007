"""What is ruled because the records show it: a function of the ledger."""

import pytest
from protocol.peers import Table

from truc_protocol.ledger import Ledger, due, missing
from truc_protocol.records import Phase, parse
from truc_protocol.setup import Opts
from truc_server.consequences import consequence


def silent_at_a_hand(*, seats: int, gone: int = 0, voids: int = 1, releasing=()) -> Table:
    """Return a match in which only some seats have released for the first hand, and its void."""
    variant = "truc-french" if seats == 2 else "truc-lanes"
    table = Table(variant, seats=seats, opts=Opts(gone=gone, voids=voids))
    table.run(until=lambda ledger: ledger.match is not None and ledger.phase is Phase.CALLED)
    for seat in releasing:
        table.add(table.players[seat].release(table.ledger))
    table.add(table.dealer.void(table.ledger))
    return table


def ruling(table: Table) -> tuple | None:
    record = consequence(table.dealer, table.ledger)
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

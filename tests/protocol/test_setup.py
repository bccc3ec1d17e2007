import pytest
from protocol.forge import altered
from protocol.peers import Table
from rows import each_row

from truc_protocol.checks import CheckError
from truc_protocol.setup import Opts, check_seat, check_seats, close_setup, open_terms, read_opts

DEFAULTS = (30_000, 120_000, 60_000, 1, 0, 0, 3, 600_000, 1, 3)


def test_missing_opts_take_their_defaults():
    table = Table()
    terms = open_terms(table.document, altered(table, table.records[0], opts=(5, 6)))
    assert tuple(terms.opts) == (5, 6, *DEFAULTS[2:])


def test_first_seats_can_be_checked_before_the_others_come():
    table = Table()
    first = check_seat(table.terms, table.records[1])
    check_seats(table.terms, (first,))
    assert first.name == b"player 0"


def test_setup_with_a_seat_missing_is_refused():
    table = Table()
    with pytest.raises(CheckError, match="C6: expected 2 seats"):
        close_setup(table.terms, (table.records[1],), table.records[3])


@each_row("links", [1, 4096])
def test_chains_of_the_extreme_lengths_are_admitted(links):
    table = Table()
    terms = open_terms(table.document, altered(table, table.records[0], links=links))
    assert terms.table.links == links


@each_row("numbers, expected", [((), Opts()), ((5,), Opts(5)), (tuple(range(12)), Opts(*range(10)))])
def test_row_of_opts_takes_defaults_and_leaves_what_it_does_not_know(numbers, expected):
    assert read_opts(numbers) == expected

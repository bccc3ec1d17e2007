"""What the server must open, and what a hand that was cut short leaves closed."""

import pytest
from protocol.forge import small
from protocol.peers import Table, here

from truc_protocol.audit import Result
from truc_protocol.bodies import Open
from truc_protocol.checks import CheckError
from truc_protocol.ledger import next_open
from truc_protocol.ledger.opens import open_cards


def test_nothing_is_to_be_opened_where_no_hand_is_open():
    assert next_open(Table().ledger) is None


def test_no_card_can_be_opened_where_no_hand_is_open():
    ledger = Table().ledger
    with pytest.raises(CheckError, match="C23"):
        open_cards(ledger, Open(*here(ledger), 0, 0, 0, ()))


@pytest.mark.parametrize("reveal", ["hand", "match"])
def test_match_that_ends_between_two_deals_of_a_hand_is_proven(reveal):
    table = Table(small(reveal=reveal)).to("hand")
    table.play("redeal")
    table.play("accept")
    table.add(table.players[0].resign(table.ledger))
    assert table.run().audit().verdict().result is Result.PROVEN


def test_game_of_which_no_card_scores_by_being_held_shows_nothing():
    table = Table(small(reveal="match")).to("hand")
    table.play("concede")
    assert next_open(table.ledger) is None

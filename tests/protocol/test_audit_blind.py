"""A hand that nobody has seen: empty boxes, cards played by slot, each opened by the server at once."""

import pytest
from protocol.forge import opening, turn
from protocol.shared import blind_table

from truc_protocol.audit import OwnSeat, Result
from truc_protocol.bodies import Deal
from truc_protocol.ledger import Due, due
from truc_protocol.ledger.facts import means
from truc_protocol.records import parse


@pytest.mark.parametrize("reveal", ["hand", "match"])
@pytest.mark.parametrize("guests", [(), (1,), (0, 1)])
def test_blind_match_of_honest_parties_is_proven(reveal, guests):
    table = blind_table(reveal=reveal, guests=guests, boxed_guests=True).run()
    assert table.audit().verdict().result is Result.PROVEN


def test_blind_deal_seals_no_box_and_an_auditor_of_a_seat_sees_none_of_its_cards():
    table = blind_table()
    deal = [body for body in map(parse, table.records) if isinstance(body, Deal)][-1]
    assert deal.boxes == (b"", b"")
    assert table.audit(OwnSeat(0, table.players[0].x)).openings == ()


def test_card_played_unseen_is_opened_at_once_before_anybody_is_waited_for():
    table = blind_table()
    seat = turn(table)
    table.add(table.act(seat, "blind", (1,)))
    assert due(table.ledger) is Due.OPEN
    assert means(parse(table.records[-1]), table.ledger, ())[-1]["waiting"] == []
    table.step()
    assert table.ledger.match.hand.row.left[seat] == (0, 2)


def test_ruled_card_is_opened_at_once():
    table = blind_table()
    table.add(table.dealer.move(table.ledger))
    assert parse(table.step()).openings == (opening(table, parse(table.records[-1]).seat, 0),)

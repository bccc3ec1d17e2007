"""A hand that nobody has seen: empty boxes, cards played by slot, each opened by the server at once."""

import pytest
from protocol.forge import opening, turn
from protocol.peers import Table
from protocol.shared import blind_table

from truc_protocol.audit import OwnSeat, Result
from truc_protocol.bodies import Deal
from truc_protocol.ledger import Due, due
from truc_protocol.ledger.facts import means
from truc_protocol.ledger.play import played_unseen
from truc_protocol.ledger.state import LoggedMove
from truc_protocol.records import parse
from truc_rules import Action, Kind


def played(**options) -> Table:
    """A blind hand in which a card has been played and waits to be opened."""
    table = blind_table(**options)
    table.add(table.act(turn(table), "blind", (1,)))
    return table


@pytest.mark.parametrize("reveal", ["hand", "match"])
@pytest.mark.parametrize("guests", [(), (1,), (0, 1)])
def test_blind_match_of_honest_parties_is_proven(reveal, guests):
    table = blind_table(reveal=reveal, guests=guests, boxed_guests=True).run()
    assert table.audit().verdict().result is Result.PROVEN


def test_blind_deal_seals_no_box():
    deal = [body for body in map(parse, blind_table().records) if isinstance(body, Deal)][-1]
    assert deal.boxes == (b"", b"")


def test_auditor_of_a_seat_sees_none_of_its_cards():
    table = blind_table()
    assert table.audit(OwnSeat(0, table.players[0].x)).openings == ()


def test_open_of_a_card_played_unseen_is_due_at_once():
    assert due(played().ledger) is Due.OPEN


def test_card_played_unseen_is_played_when_it_is_opened():
    table = played()
    seat = turn(table)
    table.step()
    assert table.ledger.match.hand.row.left[seat] == (0, 2)


def test_nobody_is_waited_for_before_the_card_is_open():
    table = played()
    assert means(parse(table.records[-1]), table.ledger, ())[-1]["waiting"] == []


def test_ruled_card_is_opened_at_once():
    table = blind_table()
    table.add(table.dealer.move(table.ledger))
    assert parse(table.step()).openings == (opening(table, parse(table.records[-1]).seat, 0),)


def test_no_card_is_played_unseen_where_no_hand_is_open():
    with pytest.raises(ValueError, match="no hand"):
        played_unseen(Table().ledger, LoggedMove(Action(0, Kind.BLIND, (), 0), ruled=False))

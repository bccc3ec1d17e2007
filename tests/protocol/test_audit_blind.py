"""A hand that nobody has seen: empty boxes, cards played by slot, each opened by the server at once."""

import pytest
from protocol.forge import (
    SERVER,
    SIGNER,
    altered,
    following,
    open_record,
    opening,
    refusals,
    turn,
    until,
)
from protocol.peers import Table
from protocol.shared import blind_table

from truc_protocol.audit import Auditor, OwnSeat, Result
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
    auditor = Auditor(table.document, OwnSeat(0, table.players[0].x))
    for record in table.records:
        auditor.feed(record)
    assert auditor.openings == ()


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


def box_in_a_blind_hand():
    table = blind_table(phase="called")
    deal = until(table, Deal)
    return table, altered(table, deal, boxes=(b"box", b""))


def open_of_another_card():
    table = played()
    record = table.next_record()
    (slot, card, salt), *_ = parse(record).openings
    return table, altered(table, record, openings=((slot, (card + 1) % 40, salt),))


def open_of_a_card_already_open():
    table = played()
    table.step()
    return table, open_record(table, parse(table.records[-1]).seat, 1)


def open_of_a_card_nobody_played():
    table = blind_table()
    return table, open_record(table, turn(table), 0)


def slot_played_unseen_twice():
    table = played()
    seat = turn(table)
    table.step()
    while turn(table) != seat or table.ledger.hand.unseen is not None:
        table.step() if table.ledger.hand.unseen is not None else table.add(table.dealer.move(table.ledger))
    return table, table.act(seat, "blind", (1,))


def unseen_card_in_a_hand_that_is_seen():
    table = Table().to("hand")
    table.play("stand")
    return table, table.act(turn(table), "blind", (0,))


def ruling_of_another_slot():
    table = blind_table()
    return table, table.rule("move", turn(table), "blind", (1,))


test_forged_blind_play_is_refused = refusals(
    ("C17", SERVER, box_in_a_blind_hand),
    ("C19", SERVER, open_of_another_card),
    ("C23", SERVER, open_of_a_card_already_open),
    ("C20", SIGNER, slot_played_unseen_twice),
    ("C20", SIGNER, unseen_card_in_a_hand_that_is_seen),
    ("C23", SERVER, open_of_a_card_nobody_played),
    ("C22", SERVER, ruling_of_another_slot),
    *following(
        played,
        "C23",
        None,
        act_before_the_open=lambda table: table.act(1 - turn(table), "blind", (0,)),
        pause_before_the_open=lambda table: table.act(0, "pause"),
    ),
    *following(
        played,
        "C23",
        SERVER,
        ruling_before_the_open=lambda table: table.rule("abandon", None, "server"),
        open_of_another_slot=lambda table: open_record(table, turn(table), 0),
        open_of_another_seat=lambda table: open_record(table, 1 - turn(table), 1),
        open_of_two_cards=lambda table: open_record(table, turn(table), 1, 2),
        open_of_nothing=lambda table: open_record(table, turn(table)),
    ),
    *following(
        played,
        "C12",
        SERVER,
        open_of_another_sub_deal=lambda table: altered(table, table.next_record(), d=1),
        open_of_another_index=lambda table: altered(table, table.next_record(), j=7),
    ),
    *following(
        blind_table,
        "C20",
        SIGNER,
        slot_that_was_not_dealt=lambda table: table.act(turn(table), "blind", (3,)),
        unseen_card_out_of_turn=lambda table: table.act(1 - turn(table), "blind", (0,)),
        card_played_seen_in_a_blind_hand=lambda table: table.act(
            turn(table), "play", (*opening(table, turn(table), 0), None)
        ),
    ),
)

"""What hangs on cards a reader does not know: taken as it comes, and judged in full once the cards are open."""

import pytest
from protocol.forge import opening, turn
from protocol.peers import Table
from protocol.shared import covering_table, governed, paulista

from truc_protocol.audit import Result
from truc_protocol.records import parse
from truc_rules import CARDS_EACH, Kind, legal, lowest_slot, seat_after


def rank(table: Table, seat: int, slot: int) -> str:
    return table.variant.pack[opening(table, seat, slot)[1]][:-1]


def ordered(*, reveal: str = "hand") -> tuple[Table, int]:
    """A hand in which eldest has ordered its partner, who must play now, a rank that only its last slot holds."""
    for seed in range(50):
        table = governed(reveal=reveal, seed=seed)
        eldest = turn(table)
        partner = seat_after(eldest, 4, steps=2)
        ranks = [rank(table, partner, slot) for slot in range(CARDS_EACH)]
        if ranks.count(ranks[-1]) == 1:
            break
    for _ in range(2):
        table.add(table.dealer.move(table.ledger))
    table.add(table.act(eldest, "order", (ranks[-1],)))
    return table, partner


@pytest.mark.parametrize("reveal", ["hand", "match"])
def test_ruling_under_an_order_plays_the_lowest_slot_that_it_allows(reveal):
    table, partner = ordered(reveal=reveal)
    assert lowest_slot(table.ledger.match, partner) == CARDS_EACH - 1
    table.add(table.dealer.move(table.ledger))
    assert table.run().audit().verdict().result is Result.PROVEN


@pytest.mark.parametrize("reveal", ["hand", "match"])
def test_covered_card_is_named_by_its_slot_alone(reveal):
    table = covering_table(reveal=reveal)
    covers = [action for action in legal(table.ledger.match, turn(table)) if action.kind is Kind.COVER]
    record = table.record_of(covers[0])
    assert parse(record).args == (1,)
    table.add(record)
    assert table.run().audit().verdict().result is Result.PROVEN


def test_turned_up_card_is_told_to_the_rules():
    table = Table(paulista()).to("hand")
    assert table.audit().ledger.match.hand.dealt.up == table.dealer._cards(table.ledger, 1)[0].up


def test_disobedience_cannot_be_seen_before_the_cards_are_open():
    """The partner plays another card than it was ordered; nobody sees that it holds the one it was."""
    table, partner = ordered(reveal="match")
    table.careless().add(table.act(partner, "play", (*opening(table, partner, 0), None)))
    table.add(table.act(seat_after(table.ledger.match.dealer, 4), "concede"))
    assert table.audit().ledger.head == table.ledger.head

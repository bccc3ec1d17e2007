"""What hangs on cards a reader does not know: taken as it comes, and judged in full once the cards are open."""

from dataclasses import replace

import pytest
from protocol.forge import (
    SERVER,
    SIGNER,
    altered,
    as_seat,
    cheat,
    following,
    opening,
    refusals,
    turn,
    until,
    with_card,
)
from protocol.peers import Table
from protocol.shared import covering_table, governed, paulista

from truc_protocol.audit import Result
from truc_protocol.bodies import Close, Deal
from truc_protocol.dealing import Opening
from truc_protocol.records import parse
from truc_rules import CARDS_EACH, Kind, legal, lowest_slot, preset, seat_after


def rank(table: Table, seat: int, slot: int) -> str:
    return table.variant.pack[opening(table, seat, slot)[1]][:-1]


def ordered(*, reveal: str = "hand", alike: int = 1) -> tuple[Table, int]:
    """A hand in which eldest has ordered its partner, who must play now, a rank that only its last slots hold."""
    for seed in range(50):
        table = governed(reveal=reveal, seed=seed)
        eldest = turn(table)
        partner = seat_after(eldest, 4, steps=2)
        ranks = [rank(table, partner, slot) for slot in range(CARDS_EACH)]
        if [slot for slot, held in enumerate(ranks) if held == ranks[-1]] == [*range(CARDS_EACH)][-alike:]:
            break
    for _ in range(2):
        table.add(table.dealer.move(table.ledger))
    table.add(table.act(eldest, "order", (ranks[-1],)))
    return table, partner


def disobeyed(*, reveal: str = "hand") -> Table:
    """The partner plays another card than it was ordered; nobody sees that it holds the one it was."""
    table, partner = ordered(reveal=reveal)
    table.careless().add(table.act(partner, "play", (*opening(table, partner, 0), None)))
    return conceded(table)


def conceded(table: Table) -> Table:
    eldest = seat_after(table.ledger.match.dealer, 4)
    table.add(table.act(eldest, "concede"))
    return table


def card_played_against_an_order():
    table = disobeyed()
    return table, table.dealer._close(table.ledger)


def card_played_against_an_order_that_the_end_opens():
    table = disobeyed(reveal="match")
    table.add(table.dealer._close(table.ledger))
    table.add(table.players[0].resign(table.ledger))
    return table, table.dealer._end(table.ledger)


def ruling_against_an_order():
    table, partner = ordered()
    table.careless().add(table.rule("move", partner, "play", (*opening(table, partner, 0), None)))
    conceded(table)
    return table, table.dealer._close(table.ledger)


def ruled_slot_that_is_not_the_lowest_the_order_allows():
    table, partner = ordered(alike=2)
    table.careless().add(table.rule("move", partner, "play", (*opening(table, partner, 2), None)))
    conceded(table)
    return table, table.dealer._close(table.ledger)


def ruled_slot_that_is_not_the_lowest_without_an_order():
    table = governed()
    return table, table.rule("move", turn(table), "play", (*opening(table, turn(table), 1), None))


def ruled_card_with_an_ask_under_an_order():
    table, partner = ordered()
    return table, table.rule("move", partner, "play", (*opening(table, partner, 2), 2))


def ruled_slot_that_was_played_under_an_order():
    table, partner = ordered()
    table.add(table.act(partner, "play", (*opening(table, partner, 2), None)))
    while turn(table) != partner:
        table.add(table.dealer.move(table.ledger))
    table.add(table.act(seat_after(table.ledger.match.dealer, 4), "order", ("low",)))
    return table, table.rule("move", partner, "play", (*opening(table, partner, 2), None))


def covered_card_in_the_first_trick():
    table = Table(paulista(cover_from_trick=2, target=30)).to("hand")
    return table, table.act(turn(table), "cover", (0,))


def covered_card_before_the_deal():
    table = Table(paulista(cover_from_trick=2, target=30)).to("between")
    return table, table.act(0, "cover", (0,))


def card_covered_and_then_played():
    table = covering_table()
    seat = turn(table)
    table.add(table.act(seat, "cover", (1,)))
    return table, table.act(seat, "play", (*opening(table, seat, 1), None))


def card_covered_against_an_order():
    variant = replace(preset("truc-partnership"), name="covered", cover_from_trick=2)
    for seed in range(50):
        table = Table(variant, seats=4, seed=seed).to("hand")
        table.play("stand")
        eldest = turn(table)
        partner = seat_after(eldest, 4, steps=2)
        if rank(table, partner, 1) != rank(table, partner, 2):
            break
    while len(table.ledger.match.hand.row.tricks) == 0 or turn(table) != partner:
        table.add(table.dealer.move(table.ledger))
    table.add(table.act(eldest, "order", (rank(table, partner, 2),)))
    table.careless().add(table.act(partner, "cover", (1,)))
    conceded(table)
    return table, table.dealer._close(table.ledger)


def no_card_turned_up():
    table = Table(paulista())
    deal = until(table, Deal)
    return table, altered(table, deal, up=())


def two_cards_turned_up():
    table = Table(paulista())
    deal = until(table, Deal)
    return table, altered(table, deal, up=(0, 1))


def card_turned_up_that_is_none():
    table = Table(paulista())
    deal = until(table, Deal)
    return table, altered(table, deal, up=(40,))


def turned(table: Table, up: tuple[int, ...]) -> Table:
    until(table, Deal)
    cheat(table, lambda cards: cards._replace(up=up))
    return table


def another_card_turned_up():
    table = Table(paulista(target=30))
    until(table, Deal)
    last = table.dealer._cards(table.ledger, 1)[0].next_card
    turned(table, (table.dealer._shuffled.order[last],))
    return table, until(table, Close)


def card_turned_up_that_a_seat_holds():
    table = Table(paulista())
    until(table, Deal)
    held = table.dealer._cards(table.ledger, 1)[0].hands[0][1].card
    turned(table, (held,))
    return as_seat(table, table.next_record())


def turned_up_and_dealt() -> Table:
    """A hand in which eldest's first card is also the one turned up."""
    table = Table(paulista(target=30))
    until(table, Deal)
    up = table.dealer._cards(table.ledger, 1)[0].up[0]
    seat = seat_after(table.ledger.match.dealer, 2)
    cheat(table, lambda cards: with_card(cards, seat, 0, Opening(up, cards.hands[seat][0].salt)))
    table.careless().add(table.next_record())
    return table


def card_turned_up_that_a_seat_plays():
    table = turned_up_and_dealt()
    seat = turn(table)
    return table, table.act(seat, "play", (*opening(table, seat, 0), None))


def card_turned_up_that_a_ruling_plays():
    table = turned_up_and_dealt()
    seat = turn(table)
    return table, table.rule("move", seat, "play", (*opening(table, seat, 0), None))


def card_of_another_seat_that_a_ruling_plays():
    table = Table(paulista(target=30))
    until(table, Deal)
    dealer = table.ledger.match.dealer
    first = table.dealer._cards(table.ledger, 1)[0].hands[seat_after(dealer, 2)][0]
    cheat(table, lambda cards: with_card(cards, dealer, 0, Opening(first.card, cards.hands[dealer][0].salt)))
    table.careless().add(table.next_record())
    table.add(table.act(turn(table), "play", (*opening(table, turn(table), 0), None)))
    return table, table.rule("move", dealer, "play", (*opening(table, dealer, 0), None))


test_what_unknown_cards_hide_is_refused_once_they_are_open = refusals(
    ("C25", SERVER, card_played_against_an_order_that_the_end_opens),
    ("C25", SERVER, ruling_against_an_order),
    ("C25", SERVER, ruled_slot_that_is_not_the_lowest_the_order_allows),
    ("C22", SERVER, ruled_card_with_an_ask_under_an_order),
    ("C22", SERVER, ruled_slot_that_was_played_under_an_order),
    ("C20", SIGNER, card_covered_and_then_played),
    ("C25", SERVER, card_covered_against_an_order),
    ("C17", SERVER, no_card_turned_up),
    ("C17", SERVER, two_cards_turned_up),
    ("C17", SERVER, card_turned_up_that_is_none),
    ("C25", SERVER, another_card_turned_up),
    ("C18", SERVER, card_turned_up_that_a_seat_holds),
    ("C25", SERVER, card_turned_up_that_a_seat_plays),
    ("C25", SERVER, card_turned_up_that_a_ruling_plays),
    ("C25", SERVER, card_of_another_seat_that_a_ruling_plays),
    ("C25", SERVER, card_played_against_an_order),
    ("C22", SERVER, ruled_slot_that_is_not_the_lowest_without_an_order),
    ("C20", SIGNER, covered_card_in_the_first_trick),
    ("C20", SIGNER, covered_card_before_the_deal),
    *following(
        governed,
        "C20",
        SIGNER,
        order_of_a_seat_that_does_not_govern=lambda table: table.act(
            seat_after(turn(table), 4), "order", ("high",)
        ),
        order_nobody_knows=lambda table: table.act(turn(table), "order", ("middle",)),
    ),
    *following(
        covering_table,
        "C20",
        SIGNER,
        covered_slot_that_was_played=lambda table: table.act(turn(table), "cover", (0,)),
        covered_slot_that_was_not_dealt=lambda table: table.act(turn(table), "cover", (CARDS_EACH,)),
        covered_card_out_of_turn=lambda table: table.act(1 - turn(table), "cover", (1,)),
    ),
)


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
    table = disobeyed(reveal="match")
    assert table.audit().ledger.head == table.ledger.head

"""Showing by choice: unplayed cards of one's own, between the end of a hand and its close."""

import pytest
from protocol.forge import SERVER, SIGNER, altered, open_record, opening, refusals, turn
from protocol.peers import Table

from truc_protocol.audit import Result
from truc_protocol.bodies import Act, Close
from truc_protocol.ledger import may_show
from truc_protocol.ledger.facts import means
from truc_protocol.records import parse
from truc_rules import Variant, is_hand_over, preset, with_options
from truc_server.matches.choices import position


def le_truc(*, target: int = 12) -> Variant:
    return with_options(preset("le-truc"), {"reveal": "match", "target": target})


def conceded(**options) -> Table:
    """A hand of Le Truc of which nothing was played: eldest asked, the dealer declined."""
    table = Table(le_truc(), **options).to("hand")
    for line in ("stand", "raise 2", "decline"):
        table.play(line)
    return table


def won(**options) -> Table:
    """The same after one card, and the match is won."""
    table = Table(le_truc(target=2), **options).to("hand")
    for line in ("stand", "raise 2", "accept"):
        table.play(line)
    table.add(table.dealer.move(table.ledger))
    table.play("raise rest")
    table.play("decline")
    return table


def shown(table: Table, seat: int, *slots: int):
    return table.act(seat, "show", ([list(opening(table, seat, slot)) for slot in slots],))


@pytest.mark.parametrize("guests", [(), (1,), (0, 1)])
@pytest.mark.parametrize("over", [conceded, won])
def test_cards_may_be_shown_when_the_hand_is_over(guests, over):
    table = over(guests=guests)
    table.add(shown(table, 0, 1, 2))
    table.add(shown(table, 1, 1))
    assert table.run().audit().verdict().result is Result.PROVEN


def test_a_hand_that_was_over_scores_though_the_match_is_resigned_before_its_close():
    table = conceded()
    table.add(table.players[0].resign(table.ledger))
    table.run()
    close = next(body for body in map(parse, table.records) if isinstance(body, Close))
    points = [points for _, _, points in close.score]
    assert (close.reason, sorted(points)) == ("ended", [0, 1])
    assert table.audit().verdict().result is Result.PROVEN


def test_shown_cards_are_told_by_name():
    table = conceded()
    record = shown(table, 0, 1)
    finding = table.audit().feed(record)
    table.add(record)
    fact = means(finding.body, table.ledger, finding.events)[0]
    card = table.variant.pack[opening(table, 0, 1)[1]]
    assert (fact["what"], fact["cards"]) == ("cards_shown", [card])


def test_shows_are_offered_until_the_close():
    table = conceded()
    assert len(position(table.ledger).find((0,))[0]) == 7
    table.add(table.dealer.next_record(table.ledger))
    assert not may_show(table.ledger)


def test_no_show_is_offered_before_the_hand_is_over():
    assert not may_show(Table("le-truc").to("hand").ledger)


def test_honest_seats_of_a_game_with_shows_prove_whatever_they_show():
    for seed in range(5):
        table = Table(le_truc(), seed=seed).run()
        shows = [body for body in map(parse, table.records) if isinstance(body, Act) and body.kind == "show"]
        if shows:
            break
    assert shows
    assert table.audit().verdict().result is Result.PROVEN


def show_before_the_hand_is_over():
    table = Table(le_truc()).to("hand")
    table.play("stand")
    return table, shown(table, turn(table), 0)


def show_of_a_card_played():
    table = Table(le_truc()).to("hand")
    table.play("stand")
    seat = turn(table)
    table.add(table.dealer.move(table.ledger))
    table.play("raise 2")
    table.play("decline")
    assert is_hand_over(table.ledger.match)
    return table, shown(table, seat, 0)


def show_of_a_card_shown_before():
    table = conceded()
    table.add(shown(table, 0, 0))
    return table, shown(table, 0, 0, 1)


def show_with_another_salt():
    table = conceded()
    slot, card, _ = opening(table, 0, 0)
    return table, table.act(0, "show", ([[slot, card, bytes(16)]],))


def show_of_another_seats_card():
    table = conceded()
    return table, table.act(0, "show", ([list(opening(table, 1, 0))],))


def show_where_the_rules_know_none():
    table = Table(with_options(preset("truc-french"), {"reveal": "match"})).to("hand")
    table.play("concede")
    return table, shown(table, 0, 0)


def show_after_the_close():
    table = conceded()
    record = shown(table, 0, 0)
    table.add(table.dealer.next_record(table.ledger))
    body = parse(record)
    return table, table.act(0, body.kind, body.args)


def other_act_after_the_match_is_won():
    table = won()
    return table, table.act(0, "concede")


def close_that_forgets_what_a_hand_had_given_before_it_was_ended():
    table = conceded()
    table.add(table.players[0].resign(table.ledger))
    return table, altered(table, table.dealer.next_record(table.ledger), score=((0, 0, 0), (0, 0, 0)))


def open_of_a_card_before_the_hand_is_over():
    table = Table(le_truc()).to("hand")
    table.play("stand")
    return table, open_record(table, 0, 0)


test_forged_show_is_refused = refusals(
    ("C20", SIGNER, show_before_the_hand_is_over),
    ("C19", SIGNER, show_of_a_card_played),
    ("C19", SIGNER, show_of_a_card_shown_before),
    ("C19", SIGNER, show_with_another_salt),
    ("C19", SIGNER, show_of_another_seats_card),
    ("C20", SIGNER, show_where_the_rules_know_none),
    ("C19", SIGNER, show_after_the_close),
    ("C24", None, other_act_after_the_match_is_won),
    ("C24", SERVER, close_that_forgets_what_a_hand_had_given_before_it_was_ended),
    ("C23", SERVER, open_of_a_card_before_the_hand_is_over),
)

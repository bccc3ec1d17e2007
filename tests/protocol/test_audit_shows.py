"""Showing by choice: unplayed cards of one's own, between the end of a hand and its close."""

import pytest
from protocol.forge import opening
from protocol.peers import Table

from truc_protocol.audit import Result
from truc_protocol.bodies import Act, Close
from truc_protocol.ledger import may_show
from truc_protocol.ledger.facts import means
from truc_protocol.records import parse
from truc_rules import Variant, preset, with_options
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


def test_shows_are_offered_from_the_end_of_a_hand_to_its_close():
    assert not may_show(Table("le-truc").to("hand").ledger)
    table = conceded()
    assert len(position(table.ledger).find((0,))[0]) == 7
    table.add(table.dealer.next_record(table.ledger))
    assert not may_show(table.ledger)


def test_honest_seats_of_a_game_with_shows_prove_whatever_they_show():
    for seed in range(5):
        table = Table(le_truc(), seed=seed).run()
        shows = [body for body in map(parse, table.records) if isinstance(body, Act) and body.kind == "show"]
        if shows:
            break
    assert shows
    assert table.audit().verdict().result is Result.PROVEN

"""What a hand must show at its end under `match`, and what only cards that stay hidden until then decide."""

from dataclasses import replace

import pytest
from protocol.forge import cheat, open_record, opening, turn, until
from protocol.peers import Table, audit
from protocol.shared import argentine, put
from rows import each_row

from truc_protocol.audit import OwnSeat, Result
from truc_protocol.bodies import Close, Deal, Open
from truc_protocol.checks import CheckError
from truc_protocol.ledger import Due, Ledger, due, score
from truc_protocol.records import parse
from truc_rules import Kind, card_named, deciders, is_hand_over, legal, preset, seat_after, with_options

FLOR, PLAIN, HIGH = "4o 5o 6o", "1e 2c 3b", "7o 6o 1b"
"""A flor of 35; cards of three suits; an envido of 33."""


def lines(table: Table, *said: str) -> Table:
    for line in said:
        table.play(line)
    return table


def declared(**options) -> Table:
    """Eldest has declared a flor and conceded."""
    return lines(argentine(FLOR, PLAIN, **options), "flor", "concede")


def said(**options) -> Table:
    """Eldest has won an envido by the value it said, and conceded."""
    return lines(argentine(HIGH, PLAIN, **options), "envido", "accept", "points 33", "good", "concede")


def by_the_cards(reveal: str = "match") -> Table:
    """Eldest's envido was accepted, to be settled by the cards, and eldest has conceded."""
    game = with_options(preset("truc-valencia"), {"reveal": reveal, "match": 1})
    return lines(Table(game).to("hand"), "envido", "accept", "concede")


def claimed(target: str, **options) -> Table:
    """Eldest has played without a word, was claimed to hold a flor, and the dealer has lost the hand by declining."""
    table = argentine(target, "7e 2c 3b", **options)
    table.play("play " + target.split(maxsplit=1)[0])
    table.play(f"claim {seat_after(table.ledger.call.dealer, 2)}")
    return lines(table, "concede")


def eldest(table: Table) -> int:
    return seat_after(table.ledger.match.dealer, table.ledger.seats)


def shown(table: Table) -> tuple[int, tuple[int, ...]]:
    body = parse(table.dealer.next_record(table.ledger))
    return body.seat, tuple(slot for slot, _, _ in body.openings)


def closing(table: Table) -> Table:
    """Let the server open what is owed and close the hand."""
    return table.run(until=lambda ledger: ledger.hand is None)


@pytest.mark.parametrize("over", [declared, said, by_the_cards])
def test_open_is_due_before_the_close_unless_that_opens_everything(over):
    assert [due(over().ledger), due(over(reveal="hand").ledger)] == [Due.OPEN, Due.CLOSE]


def test_target_of_a_claim_shows_nothing_where_an_envido_has_ended_the_game():
    table = argentine("4o 5o 6e", HIGH, target=6)
    claim = f"claim {eldest(table)}"
    lines(table, "play 4o", "falta-envido", "accept", "points 29", claim, "points 33")
    assert shown(table) == (1 - eldest(table), (0, 1))
    assert closing(table).ledger.outcome is not None


@each_row("over", [declared, said, by_the_cards, lambda: claimed("4o 5o 6e"), lambda: claimed(FLOR)])
def test_reader_has_the_score_of_a_side_bet_and_of_a_claim_once_it_is_shown(over):
    table = closing(over())
    assert score(table.audit().ledger) == score(table.ledger)


def test_envido_that_the_cards_settle_is_open_to_a_reader_until_all_cards_are():
    table = by_the_cards()
    assert sum(points for _, _, points in score(table.audit().ledger)) == 1
    closing(table)
    opens = [body for body in map(parse, table.records) if isinstance(body, Open)]
    assert [[slot for slot, _, _ in body.openings] for body in opens] == [[0, 1, 2]] * 2
    assert sum(points for _, _, points in score(table.ledger)) == 3


@pytest.mark.parametrize("reveal", ["hand", "match"])
def test_envido_of_a_hand_that_was_over_counts_though_the_match_is_resigned_before_its_close(reveal):
    table = by_the_cards(reveal)
    table.add(table.players[0].resign(table.ledger))
    table.step()
    assert score(table.audit().ledger) == score(table.ledger)
    assert sum(points for _, _, points in score(table.ledger)) == 3
    assert table.run().audit().verdict().result is Result.PROVEN


def test_reader_goes_on_by_moves_and_rulings_where_nobody_else_declares_a_flor_and_no_seat_waits_for_its_own():
    table = lines(argentine(FLOR, PLAIN), "flor")
    other = 1 - eldest(table)
    auditor = table.audit(OwnSeat(other, table.players[other].x))
    assert deciders(auditor.ledger.match) == (eldest(table),)
    ruled = audit(table.document, [*table.records, table.dealer.move(table.ledger)])
    lines(table, "play 4o")
    assert ruled.ledger.match.score == table.ledger.match.score
    lines(table, "play 3b")
    assert table.audit().ledger.match.score == table.ledger.match.score


def test_reader_takes_the_ruled_flor_of_a_seat_that_others_might_come_before():
    table = lines(argentine(FLOR, PLAIN, "7e 6c 3o", "4e 5e 6e"), "flor")
    ruling = table.dealer.move(table.ledger)
    table.add(ruling)
    assert parse(ruling).kind == "flor"
    assert table.audit().ledger.match.hand.contests.flores == table.ledger.match.hand.contests.flores


def test_reader_learns_only_from_what_is_opened_that_a_flor_nobody_heard_has_won_the_game():
    """Eldest's flor and the one its partner had no turn to declare win the game when the next seat gives in."""
    table = lines(argentine(FLOR, "4c 5c 6c", "4e 5e 6e", PLAIN, target=7), "flor", "flor-fold")
    assert is_hand_over(table.ledger.match)
    assert not is_hand_over(table.audit().ledger.match)
    closing(table)
    assert table.audit().ledger.outcome == table.ledger.outcome == (eldest(table) % 2, "won")
    opened = [body.seat for body in map(parse, table.records) if isinstance(body, Open)]
    assert opened == sorted({0, 1, 2, 3} - {table.ledger.match.dealer})


def test_hand_cut_short_shows_nothing_and_a_reader_believes_its_score_until_the_end():
    table = lines(argentine(FLOR, PLAIN), "flor")
    table.add(table.players[0].resign(table.ledger))
    assert due(table.ledger) is Due.CLOSE
    table.step()
    assert score(table.audit().ledger) == score(table.ledger)


def real(reveal: str) -> Table:
    """A hand as the shuffle deals it, at its beginning, in which eldest holds a flor."""
    variant = with_options(preset("truco-argentino-flor"), {"reveal": reveal})
    for seed in range(100):
        table = Table(variant, seed=seed)
        table.run(
            until=lambda ledger: ledger.hand is not None and not ledger.hand.steps and may_declare(ledger)
        )
        if table.ledger.hand is not None:
            return table
    raise AssertionError("no seed deals a flor to eldest")


def may_declare(ledger: Ledger) -> bool:
    first = deciders(ledger.match)[0]
    return any(action.kind is Kind.FLOR for action in legal(ledger.match, first))


@pytest.mark.parametrize("is_cut_short", [False, True])
@pytest.mark.parametrize("reveal", ["hand", "match"])
def test_match_with_a_flor_is_proven(reveal, is_cut_short):
    table = lines(real(reveal), "flor")
    if is_cut_short:
        table.add(table.players[0].resign(table.ledger))
    else:
        table.play("concede")
    assert table.run().audit().verdict().result is Result.PROVEN


def test_server_itself_closes_no_hand_before_its_shows_and_opens_nothing_but_what_is_owed():
    for table, slots in ((said(), (0, 1, 2)), (declared(), (0, 1))):
        for record in (table.dealer._close(table.ledger), open_record(table, eldest(table), *slots)):
            with pytest.raises(CheckError, match="C23"):
                table.add(record)


def test_close_under_match_needs_every_open_to_stand_before_it():
    table = declared()
    assert isinstance(parse(until(table, Close)), Close)
    assert opening(table, eldest(table), 0) in parse(table.records[-1]).openings


def test_hand_that_is_over_is_opened_and_closed_in_a_pause():
    plain = Table().to("hand").run(until=lambda ledger: is_hand_over(ledger.match))
    for table in (plain, declared()):
        assert closing(table.rest()).audit().ledger.pause.active


def covered() -> Table:
    """Eldest has won an envido by 33, laid face down a card that made it, and conceded."""
    options = {"reveal": "match", "flor": "off"}
    variant = replace(with_options(preset("truco-argentino"), options), name="covered", cover_from_trick=2)
    table = Table(variant)
    until(table, Deal)
    eldest = seat_after(table.ledger.call.dealer, 2)
    for seat, names in ((eldest, HIGH), (1 - eldest, PLAIN)):
        for slot, name in enumerate(names.split()):
            cheat(table, put(seat, slot, card_named(variant.pack, name)))
    table.step()
    for line in ("envido", "accept", "points 33", "good", "play 1b", "play 2c"):
        table.play(line)
    table.add(table.act(turn(table), "cover", (0,)))
    table.play("concede")
    return table


def test_covered_card_is_among_those_the_server_owes() -> None:
    table = covered()
    assert [slot for slot, _, _ in parse(table.next_record()).openings] == [0, 1]

"""What a hand must show at its end under `match`, and what only cards that stay hidden until then decide."""

import pytest
from protocol.forge import (
    SERVER,
    SIGNER,
    altered,
    open_record,
    opening,
    refusals,
    turn,
    until,
)
from protocol.peers import Table
from protocol.shared import argentine

from truc_protocol.audit import Auditor, OwnSeat, Result
from truc_protocol.bodies import Close, Open
from truc_protocol.checks import CheckError
from truc_protocol.ledger import Due, Ledger, due, score
from truc_protocol.records import parse
from truc_rules import Kind, deciders, is_hand_over, legal, preset, seat_after, with_options

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
def test_open_is_due_before_the_close(over):
    assert due(over().ledger) is Due.OPEN


@pytest.mark.parametrize("over", [declared, said, by_the_cards])
def test_nothing_is_opened_where_the_close_opens_everything(over):
    assert due(over(reveal="hand").ledger) is Due.CLOSE


def test_target_of_a_claim_shows_nothing_where_an_envido_has_ended_the_game():
    table = argentine("4o 5o 6e", HIGH, target=6)
    claim = f"claim {eldest(table)}"
    lines(table, "play 4o", "falta-envido", "accept", "points 29", claim, "points 33")
    assert shown(table) == (1 - eldest(table), (0, 1))
    assert closing(table).ledger.outcome is not None


@pytest.mark.parametrize("target", ["4o 5o 6e", FLOR])
def test_reader_has_the_score_of_a_claim_once_it_is_shown(target):
    table = closing(claimed(target))
    assert score(table.audit().ledger) == score(table.ledger)


@pytest.mark.parametrize("over", [declared, said, by_the_cards])
def test_reader_has_the_score_of_a_side_bet(over):
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


def test_reader_goes_on_where_nobody_else_declares_a_flor():
    table = lines(argentine(FLOR, PLAIN), "flor", "play 4o", "play 3b")
    assert table.audit().ledger.match.score == table.ledger.match.score


def test_seat_that_holds_no_flor_waits_for_none_of_its_own():
    table = lines(argentine(FLOR, PLAIN), "flor")
    other = 1 - eldest(table)
    auditor = Auditor(table.document, OwnSeat(other, table.players[other].x))
    for record in table.records:
        auditor.feed(record)
    assert deciders(auditor.ledger.match) == (eldest(table),)


def test_reader_takes_a_ruling_where_nobody_else_declares_a_flor():
    table = lines(argentine(FLOR, PLAIN), "flor")
    table.add(table.dealer.move(table.ledger))
    assert table.audit().ledger.match.score == table.ledger.match.score


def test_reader_takes_the_ruled_flor_of_a_seat_that_others_might_come_before():
    table = lines(argentine(FLOR, PLAIN, "7e 6c 3o", "4e 5e 6e"), "flor")
    ruling = table.dealer.move(table.ledger)
    table.add(ruling)
    assert parse(ruling).kind == "flor"
    assert table.audit().ledger.match.hand.contests.flores == table.ledger.match.hand.contests.flores


def hidden_win(**options) -> Table:
    """Eldest's flor and the one its partner had no turn to declare win the game when the next seat gives in."""
    table = argentine(FLOR, "4c 5c 6c", "4e 5e 6e", PLAIN, target=7, **options)
    return lines(table, "flor", "flor-fold")


def test_reader_cannot_see_that_a_flor_nobody_heard_has_won_the_game():
    table = hidden_win()
    assert is_hand_over(table.ledger.match)
    assert not is_hand_over(table.audit().ledger.match)


def test_reader_learns_from_what_is_opened_that_the_game_was_won():
    table = closing(hidden_win())
    assert table.audit().ledger.outcome == table.ledger.outcome == (eldest(table) % 2, "won")


def test_seats_that_owe_cards_show_them_in_ascending_order():
    table = closing(hidden_win())
    assert [body.seat for body in map(parse, table.records) if isinstance(body, Open)] == sorted(
        {0, 1, 2, 3} - {table.ledger.match.dealer}
    )


def test_hand_cut_short_shows_nothing():
    table = lines(argentine(FLOR, PLAIN), "flor")
    table.add(table.players[0].resign(table.ledger))
    assert due(table.ledger) is Due.CLOSE


def test_reader_believes_the_score_of_a_hand_cut_short_until_the_end():
    table = lines(argentine(FLOR, PLAIN), "flor")
    table.add(table.players[0].resign(table.ledger))
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


@pytest.mark.parametrize("reveal", ["hand", "match"])
def test_match_with_a_flor_cut_short_is_proven(reveal):
    table = lines(real(reveal), "flor")
    table.add(table.players[0].resign(table.ledger))
    assert table.run().audit().verdict().result is Result.PROVEN


@pytest.mark.parametrize("reveal", ["hand", "match"])
def test_match_with_a_flor_is_proven(reveal):
    table = lines(real(reveal), "flor", "concede")
    assert table.run().audit().verdict().result is Result.PROVEN


def close_without_the_flor_shown():
    table = declared()
    return table, table.dealer._close(table.ledger)


def close_without_the_envido_shown():
    table = said()
    return table, table.dealer._close(table.ledger)


def close_without_what_answers_a_claim():
    table = claimed("4o 5o 6e").careless()
    return table, table.dealer._close(table.ledger)


def close_with_a_card_of_the_flor_missing():
    table = declared().careless()
    table.add(open_record(table, eldest(table), 0, 2))
    return table, table.dealer._close(table.ledger)


def open_of_a_seat_that_owes_nothing():
    table = declared().careless()
    for seat in (0, 1):
        slots = (0, 1, 2) if seat == eldest(table) else (0,)
        table.add(open_record(table, seat, *slots))
    return table, table.dealer._close(table.ledger)


def open_in_a_game_where_nobody_owes_cards():
    table = Table(with_options(preset("truc-french"), {"reveal": "match"})).to("hand")
    lines(table, "concede").careless()
    table.add(open_record(table, 0, 0))
    return table, table.dealer._close(table.ledger)


def opens_in_another_order():
    table = hidden_win().careless()
    seats = sorted({0, 1, 2, 3} - {table.ledger.match.dealer})
    table.add(open_record(table, seats[1], 0, 1, 2))
    return table, open_record(table, seats[0], 0, 1, 2)


def second_open_of_one_seat():
    table = declared().careless()
    table.add(open_record(table, eldest(table), 0, 1))
    return table, open_record(table, eldest(table), 2)


def open_with_slots_in_another_order():
    table = declared().careless()
    return table, open_record(table, eldest(table), 1, 0, 2)


def open_without_a_card():
    table = declared().careless()
    return table, open_record(table, eldest(table))


def open_of_a_card_played():
    table = lines(
        argentine(HIGH, PLAIN), "envido", "accept", "points 33", "good", "play 7o", "concede"
    ).careless()
    return table, open_record(table, eldest(table), 0, 1)


def open_with_another_salt():
    table = declared()
    record = table.next_record()
    (slot, card, _), *others = parse(record).openings
    return table, altered(table, record, openings=((slot, card, bytes(16)), *others))


def open_where_the_close_opens_everything():
    table = declared(reveal="hand")
    return table, open_record(table, eldest(table), 0, 1, 2)


def act_after_the_first_open():
    table = lines(argentine(FLOR, PLAIN), "flor").careless()
    seat = eldest(table)
    table.add(open_record(table, seat, 0, 1, 2))
    return table, table.act(seat, "concede")


def close_of_a_hand_that_the_cards_opened_do_not_end():
    table = lines(argentine(FLOR, PLAIN), "flor").careless()
    table.add(open_record(table, eldest(table), 0, 1, 2))
    return table, table.dealer._close(table.ledger)


def close_of_a_hand_that_no_flor_can_have_ended():
    table = lines(argentine(HIGH, PLAIN), "envido", "decline").careless()
    table.add(open_record(table, eldest(table), 0, 1, 2))
    return table, table.dealer._close(table.ledger)


def flor_of_a_seat_that_holds_none(reveal="match"):
    table = argentine(PLAIN, HIGH, reveal=reveal).careless()
    seat = turn(table)
    table.add(table.act(seat, "flor"))
    table.add(table.act(seat, "concede"))
    return table, seat


def flor_nobody_holds_closed_without_a_show():
    table, _ = flor_of_a_seat_that_holds_none()
    return table, table.dealer._close(table.ledger)


def flor_nobody_holds_shown_as_it_is():
    table, seat = flor_of_a_seat_that_holds_none()
    table.add(open_record(table, seat, 0, 1, 2))
    return table, table.dealer._close(table.ledger)


def flor_nobody_holds_under_hand():
    table = not_dealt("flor")
    return table, table.dealer._close(table.ledger)


def not_dealt(*said_by_eldest: str) -> Table:
    """A hand of the shuffle itself, under `hand`, in which eldest says what its cards do not hold, and concedes."""
    table = Table(with_options(preset("truco-argentino-flor"), {"reveal": "hand"})).to("hand").careless()
    seat = turn(table)
    for kind in (*said_by_eldest, "concede"):
        table.add(table.act(seat, kind))
    return table


def false_value(*slots: int) -> Table:
    table = lines(argentine(HIGH, PLAIN, flor="off"), "envido", "accept").careless()
    seat = eldest(table)
    table.add(table.act(seat, "points", (30,)))
    table.add(table.act(1 - seat, "good"))
    table.add(table.act(seat, "concede"))
    table.add(open_record(table, seat, *slots))
    return table


def value_that_no_cards_make():
    table = lines(argentine(HIGH, PLAIN, flor="off"), "envido", "accept").careless()
    return table, table.act(eldest(table), "points", (34,))


def value_the_cards_opened_do_not_make():
    table = false_value(0, 1)
    return table, table.dealer._close(table.ledger)


def value_the_whole_hand_does_not_make():
    table = false_value(0, 1, 2)
    return table, table.dealer._close(table.ledger)


def score_that_the_cards_opened_deny():
    table = declared()
    table.step()
    return table, altered(table, table.next_record(), score=((0, 0, 0), (0, 0, 0)))


def card_opened_that_makes_no_envido():
    variant = with_options(preset("truco-argentino"), {"reveal": "match"})
    table = envido_of_two_cards(variant)
    seat, slots = shown(table)
    table.careless().add(open_record(table, seat, 0, 1, 2))
    table.add(table.dealer._close(table.ledger))
    table.add(table.players[0].resign(table.ledger))
    assert slots != (0, 1, 2)
    return table, table.dealer._end(table.ledger)


def envido_of_two_cards(variant) -> Table:
    """A hand of the shuffle in which eldest has won an envido by the value of some of its cards, all unplayed."""
    for seed in range(50):
        table = lines(Table(variant, seed=seed).to("hand"), "envido", "accept")
        eldest_says = next(action for action in table.actions(turn(table)) if action.kind == "points")
        table.add(table.record_of(eldest_says))
        lines(table, "good", "concede")
        if due(table.ledger) is Due.OPEN and len(shown(table)[1]) == 2:
            return table
    raise AssertionError("no seed deals two cards of a suit to eldest")


def card_opened_where_a_lower_slot_answers_the_claim():
    table = claim_that_either_card_answers()
    settled = score(table.ledger)
    table.careless().add(open_record(table, eldest(table), 2))
    table.add(altered(table, table.dealer._close(table.ledger), score=settled))
    table.add(table.players[0].resign(table.ledger))
    return table, table.dealer._end(table.ledger)


def claim_that_either_card_answers() -> Table:
    """A hand of the shuffle in which the claimed seat has played a card, and each of its others is of another suit."""
    variant = with_options(preset("truco-argentino-flor"), {"reveal": "match"})
    for seed in range(50):
        table = Table(variant, seed=seed).to("hand")
        seat = turn(table)
        table.add(next(table.record_of(action) for action in table.actions(seat) if action.kind == "play"))
        lines(table, f"claim {seat}", "concede")
        suits = [variant.suits[card] for card in table.ledger.match.hand.dealt.cards[seat]]
        if shown(table) == (seat, (1,)) and suits[0] != suits[2]:
            return table
    raise AssertionError("no seed deals such cards to eldest")


def score_of_a_hand_cut_short_that_the_cards_deny():
    table = lines(real("match"), "flor").careless()
    table.add(table.players[0].resign(table.ledger))
    close = altered(table, table.dealer._close(table.ledger), score=((0, 0, 9), (0, 0, 0)))
    table.add(close)
    return table, table.dealer._end(table.ledger)


test_forged_proof_is_refused = refusals(
    ("C23", SERVER, close_without_the_flor_shown),
    ("C23", SERVER, close_without_the_envido_shown),
    ("C23", SERVER, close_without_what_answers_a_claim),
    ("C23", SERVER, close_with_a_card_of_the_flor_missing),
    ("C23", SERVER, open_of_a_seat_that_owes_nothing),
    ("C23", SERVER, open_in_a_game_where_nobody_owes_cards),
    ("C23", SERVER, opens_in_another_order),
    ("C23", SERVER, second_open_of_one_seat),
    ("C23", SERVER, open_with_slots_in_another_order),
    ("C23", SERVER, open_without_a_card),
    ("C19", SERVER, open_of_a_card_played),
    ("C19", SERVER, open_with_another_salt),
    ("C23", SERVER, open_where_the_close_opens_everything),
    ("C23", None, act_after_the_first_open),
    ("C24", SERVER, close_of_a_hand_that_the_cards_opened_do_not_end),
    ("C24", SERVER, close_of_a_hand_that_no_flor_can_have_ended),
    ("C23", SERVER, flor_nobody_holds_closed_without_a_show),
    ("C25", SERVER, flor_nobody_holds_shown_as_it_is),
    ("C25", SERVER, flor_nobody_holds_under_hand),
    ("C20", SIGNER, value_that_no_cards_make),
    ("C23", SERVER, value_the_cards_opened_do_not_make),
    ("C25", SERVER, value_the_whole_hand_does_not_make),
    ("C24", SERVER, score_that_the_cards_opened_deny),
    ("C23", SERVER, card_opened_that_makes_no_envido),
    ("C23", SERVER, card_opened_where_a_lower_slot_answers_the_claim),
    ("C25", SERVER, score_of_a_hand_cut_short_that_the_cards_deny),
)


def test_server_itself_closes_no_hand_before_its_shows():
    table = declared()
    with pytest.raises(CheckError, match="C23"):
        table.add(table.dealer._close(table.ledger))


@pytest.mark.parametrize("slots", [(0, 1), (0, 1, 2)])
def test_server_itself_opens_nothing_but_what_is_owed(slots):
    table = said() if slots == (0, 1, 2) else declared()
    with pytest.raises(CheckError, match="C23"):
        table.add(open_record(table, eldest(table), *slots))


def test_close_under_match_needs_every_open_to_stand_before_it():
    table = declared()
    assert isinstance(parse(until(table, Close)), Close)
    assert opening(table, eldest(table), 0) in parse(table.records[-1]).openings


def test_hand_that_is_over_is_opened_and_closed_in_a_pause():
    table = closing(declared().rest())
    assert table.audit().ledger.pause.active


def test_hand_that_is_over_is_closed_in_a_pause():
    table = Table().to("hand")
    table.run(until=lambda ledger: is_hand_over(ledger.match))
    assert closing(table.rest()).audit().ledger.pause.active

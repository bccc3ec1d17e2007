"""What follows from the records: what is due and opened, who is waited for, how a match is decided."""

from cProfile import Profile

import pytest
from protocol.forge import altered, small, until, voided
from protocol.peers import Table, audit, here
from protocol.shared import sharing_table
from rows import each_row

from truc_protocol.audit import Auditor, Result
from truc_protocol.bodies import Close, End, Open
from truc_protocol.checks import CheckError
from truc_protocol.ledger import Due, due, learn, next_call, next_open, score, seats_missing
from truc_protocol.ledger.opens import open_cards
from truc_protocol.ledger.play import played_unseen
from truc_protocol.ledger.state import (
    Commitments,
    LoggedMove,
    awaits_substitutes,
    is_exhausted,
    is_gone,
    must_end,
)
from truc_protocol.records import Phase, parse
from truc_protocol.setup import Opts
from truc_rules import Action, Kind, deciders, preset, with_options


@each_row(
    "table, awaited",
    lambda: [
        (Table(), Due.CALL),
        (Table().to("called"), Due.PLAYERS),
        (Table().to("hand"), Due.PLAYERS),
        (Table("truc-catalan").to("between", index=1), Due.PLAYERS),
        (Table().to("between").rest(), Due.PLAYERS),
        (sharing_table(), Due.SHARE),
        (Table(small()).to("ended"), Due.PLAYERS),
        (voided(gone=0), Due.CONSEQUENCE),
        (voided(gone=1), Due.CONSEQUENCE),
        (voided(gone=2), Due.CALL),
        (voided(gone=2, voids=0), Due.CONSEQUENCE),
        (voided(gone=0, index=0), Due.CALL),
        (voided(gone=1, index=0), Due.CALL),
        (voided(gone=1, index=0, voids=0), Due.CONSEQUENCE),
    ],
)
def test_what_is_due_follows_from_the_records(table, awaited):
    assert due(table.ledger) is awaited


def test_match_decided_in_a_hand_is_closed_before_it_ends():
    table = Table().to("hand")
    table.add(table.players[0].resign(table.ledger))
    assert [parse(table.step()).reason, parse(table.step()).reason] == ["ended", "resigned"]


@pytest.mark.parametrize("phase", ["between", "hand"])
@pytest.mark.parametrize("seat", [0, 1])
def test_resignation_gives_the_match_to_the_other_side(phase, seat):
    table = Table().to(phase, index=1)
    table.add(table.players[seat].resign(table.ledger))
    assert table.ledger.outcome == (1 - seat, "resigned")


def after_the_first_game() -> Table:
    """Return a match to two games of which the first has just been won."""
    table = Table(with_options(preset("truc-french"), {"target": 2, "match": 3}))
    return table.run(until=lambda ledger: ledger.phase == "between" and max(score(ledger))[0] == 1)


@pytest.mark.parametrize("is_in_a_hand", [False, True])
def test_points_are_cleared_right_after_the_close_that_won_a_game(is_in_a_hand):
    table = after_the_first_game()
    if is_in_a_hand:
        table.to("hand", index=table.ledger.deal_index)
    table.add(table.players[0].resign(table.ledger))
    (closed,) = [body for body in map(parse, table.records) if isinstance(body, Close)][-1:]
    assert max(closed.score)[::2] == (1, 2)
    endings = [parse(table.step()) for _ in range(1 + is_in_a_hand)]
    assert {tuple(side[1:] for side in body.score) for body in endings} == {((0, 0), (0, 0))}


def test_end_of_a_won_match_has_the_score_of_its_last_close():
    table = Table(with_options(preset("truc-french"), {"target": 2, "match": 1})).run()
    bodies = [body for body in map(parse, table.records) if isinstance(body, Close | End)]
    assert bodies[-1].score == bodies[-2].score
    assert max(bodies[-1].score)[::2] == (1, 2)


def test_before_the_draw_there_is_no_score_and_nothing_to_be_opened_or_learnt():
    ledger = Table().ledger
    assert (seats_missing(ledger), score(ledger), next_open(ledger)) == ((), ((0, 0, 0), (0, 0, 0)), None)
    with pytest.raises(CheckError, match="C23"):
        open_cards(ledger, Open(*here(ledger), 0, 0, 0, ()))
    # neither of these is asked by a record
    with pytest.raises(ValueError, match="no cards"):
        learn(ledger, 0, (1, 2, 3))
    with pytest.raises(ValueError, match="no hand"):
        played_unseen(ledger, LoggedMove(Action(0, Kind.BLIND, (), 0), ruled=False))


def test_ruled_cut_moves_no_card_and_another_is_forgotten_after_the_hand():
    table = Table("truc-catalan").to("between", index=1)
    table.add(table.dealer.move(table.ledger))
    assert next_call(table.ledger).cut == 0
    table.to("between", index=2)
    table.play("cut")
    assert next_call(table.ledger).cut > 0
    table.to("between", index=3)
    assert table.ledger.cut == 0


def test_void_of_a_hand_must_be_answered_and_substitutes_are_awaited_as_the_terms_say():
    assert [must_end(voided(gone=gone).ledger) for gone in range(3)] == [True, False, False]
    table = voided(gone=1)
    assert awaits_substitutes(table.ledger)
    table.step()
    assert not awaits_substitutes(table.ledger)
    assert table.run().audit().verdict().players == ("newcomer 7 player 0", "player 1")


def test_substitute_may_come_after_a_void_at_the_draw():
    table = voided(gone=1, index=0)
    table.add(table.newcomer(0))
    assert table.run().audit().verdict().result == "proven"


def test_guests_seat_may_be_substituted_by_a_keyed_player():
    table = Table(guests=(0,), opts=Opts(gone=1, gone_after=1))
    table.away = frozenset({0})
    table.run(until=lambda ledger: is_gone(ledger, 0)).to("between", index=2)
    table.add(table.newcomer(0))
    assert table.ledger.contributors[1] is not None
    assert table.run().audit().verdict().result == "proven"


def test_rulings_in_a_row_make_a_seat_gone_which_an_own_decision_ends():
    table = Table(opts=Opts(gone_after=2))
    table.away = frozenset({0})
    table.run(until=lambda ledger: ledger.streaks[0] == 1)
    assert not is_gone(table.ledger, 0)
    table.run(until=lambda ledger: ledger.streaks[0] == 2)
    assert is_gone(table.ledger, 0)
    table.away = frozenset()
    table.run(until=lambda ledger: ledger.match is not None and deciders(ledger.match) == (0,))
    table.step()
    assert table.ledger.streaks[0] == 0


def test_new_chains_are_due_from_everybody_when_they_have_served_their_deals_or_the_seat_may_be_forfeited():
    table = Table(links=2, opts=Opts(rekeys=0)).to("between", index=2)  # which do not count among its rekeys
    absent = audit(table.document, [*table.records, table.dealer.forfeit(table.ledger, 1, "absent")])
    assert absent.ledger.outcome == (0, "forfeit")
    for left in range(3, 0, -1):
        assert (due(table.ledger), [is_exhausted(table.ledger, role) for role in range(3)].count(True)) == (
            Due.REKEY,
            left,
        )
        table.step()
    assert due(table.ledger) is Due.CALL
    assert table.run().audit().verdict().result == "proven"


@pytest.mark.parametrize("reason", ["silent", "link"])
def test_void_says_that_nothing_came_or_that_what_came_was_no_link(reason):
    table = Table().to("called", index=1)
    table.add(altered(table, table.dealer.void(table.ledger), reason=reason))
    assert (table.ledger.phase, table.ledger.voids) == ("between", 1)


def test_end_opens_no_link_of_a_chain_that_has_served_no_deal():
    table = Table(links=2)
    table.run(until=lambda ledger: ledger.phase == "between" and ledger.deal_index == 2)
    table.step()
    table.add(table.dealer.abandon(table.ledger, "server"))
    assert [first for first, _ in parse(until(table, End)).links] == [0]
    assert table.run().audit().verdict().result == "proven"


@pytest.mark.parametrize("reveal", ["hand", "match"])
def test_match_that_ends_between_two_deals_of_a_hand_is_proven(reveal):
    table = Table(small(reveal=reveal)).to("hand")
    table.play("redeal")
    table.play("accept")
    table.add(table.players[0].resign(table.ledger))
    assert table.run().audit().verdict().result is Result.PROVEN


def test_game_of_which_no_card_scores_by_being_held_shows_nothing():
    table = Table(small(reveal="match")).to("hand")
    call = table.ledger.k - 3
    assert table.ledger.covered == (call, call)  # by the newest signature of each
    table.play("concede")
    assert next_open(table.ledger) is None


def test_what_is_used_up_is_copied_as_often_as_its_number_has_digits():
    used, copied = Commitments(), 0
    for n in range(1000):
        before, used = used, used | [("anchor", b"%d" % n)]
        copied += sum(len(layer) for layer in used.layers if not any(layer is one for one in before.layers))
    assert all(("anchor", b"%d" % n) in used for n in range(1000))
    assert ("anchor", b"1000") not in used
    assert copied < 1000 * (1000).bit_length()


@pytest.mark.parametrize("reveal", ["hand", "match"])
def test_four_times_as_many_deals_cost_an_audit_four_times_as_many_calls_and_copy_nothing_closed(reveal):
    few, many = (calls_of_audit(reveal, hands) for hands in (8, 32))
    assert many < 4.1 * few


def calls_of_audit(reveal, hands) -> int:
    """Return the calls that the audit of a match takes in which every deal has new chains; nothing closed is copied."""
    table = Table(with_options(preset("truc-catalan"), {"reveal": reveal, "target": 250}), seed=7, links=1)
    table.run(until=lambda ledger: ledger.phase is Phase.BETWEEN and ledger.deal_index > hands)
    table.add(table.dealer.abandon(table.ledger, "server"))
    table.run()
    auditor, profile = Auditor(table.document), Profile()
    for record in table.records:
        before, closed = auditor.ledger, auditor._closed
        with profile:
            auditor.feed(record)
        if before is not None:
            chain = auditor.ledger.chain
            assert chain is before.chain or chain.before is before.chain
            newest = auditor._closed
            assert newest is closed or newest.before is closed or auditor.ledger.phase is Phase.ENDED
    assert (len(auditor.hands) >= hands, auditor.verdict().result) == (True, Result.PROVEN)
    return sum(entry.callcount for entry in profile.getstats())

"""Rulings in every phase: what each does, and when it may come."""

from dataclasses import replace

from protocol.forge import voided
from protocol.peers import Table, audit
from rows import each_row

from truc_protocol.bodies import Rule
from truc_protocol.ledger import may_abandon, may_forfeit
from truc_protocol.records import parse
from truc_protocol.setup import Opts
from truc_rules import deciders, is_hand_over, preset, with_options


def ruled(table: Table) -> tuple[int, str, tuple]:
    """Let the server rule; return seat, kind and args, and see that the auditor takes it."""
    record = table.dealer.move(table.ledger)
    table.add(record)
    table.audit()
    body = parse(record)
    assert isinstance(body, Rule)
    return body.seat, body.kind, body.args


def first(table: Table) -> int:
    return deciders(table.ledger.match)[0]


def test_ruling_at_the_cut_cuts_nothing():
    table = Table("truc-catalan").to("between", index=1)
    seat = first(table)
    assert ruled(table) == (seat, "cut", (0,))


@each_row("guests", [(), (0, 1)])
def test_ruling_on_a_turn_plays_the_lowest_slot_left(guests):
    table = Table(guests=guests).to("hand")
    table.play("stand")
    slots = []
    while not is_hand_over(table.ledger.match) and len(slots) < 4:
        slots.append(ruled(table)[2][0])
    assert slots[:4] == [0, 0, 1, 1]


@each_row("name, seats", [("truc-french", 2), ("truc-catalan", 2), ("truc-catalan", 4)])
@each_row("absent", ["play", "concede"])
def test_match_that_rulings_alone_play_proves(name, seats, absent):
    variant = with_options(preset(name), {"target": 6})
    table = Table(replace(variant, absent=absent, name="absent"), seats=seats)
    table.away = frozenset(range(seats))
    verdict = table.run().audit().verdict()
    assert (verdict.result, verdict.reason) == ("proven", "won")


@each_row("phase, guests", [("between", ()), ("hand", ()), ("hand", (1,))])
def test_pause_rests_the_match_until_all_resume(phase, guests):
    table = Table(guests=guests).to(phase, index=0).rest()
    assert table.ledger.pause.active
    for seat in (0, 1):
        table.add(table.act(seat, "resume"))
    table.add(table.rule("resume"))
    assert not table.ledger.pause.active
    assert table.to("hand", index=2).rest().ledger.pause.active
    assert table.run().audit().verdict().result == "proven"


def test_longest_pause_is_over_by_the_servers_word_and_a_resting_match_can_be_resigned():
    table = Table().to("hand").rest()
    resigned = audit(table.document, [*table.records, table.players[1].resign(table.ledger)])
    assert resigned.ledger.outcome == (0, "resigned")
    table.add(table.rule("resume"))
    assert table.run().audit().verdict().result == "proven"


@each_row(
    "table, seat, allowed",
    lambda: [
        (voided(0), 0, True),
        (voided(0), 1, False),
        (voided(0, 1), 0, False),
        (voided(0, 2, seats=4), 2, True),
        (voided(0, 1, seats=4), 0, False),
        (voided(0, gone=1), 0, True),
        (voided(0, gone=2), 0, False),
        (voided(0, gone=2, voids=0), 0, True),
        (voided(0, index=0), 0, False),
        (voided(0, index=0, voids=0), 0, False),
    ],
)
def test_silent_seat_is_forfeited_as_the_terms_say(table, seat, allowed):
    assert may_forfeit(table.ledger, seat, "silent") is allowed


def test_silent_seat_is_forfeited_once_those_of_the_other_side_are_substituted():
    table = voided(0, 1, seats=4, gone=1)
    before = may_forfeit(table.ledger, 1, "silent")
    table.add(table.newcomer(0))
    assert (before, may_forfeit(table.ledger, 1, "silent")) == (False, True)


@each_row(
    "gone, voids, gone_after, allowed", [(0, 1, 1, True), (1, 1, 1, True), (2, 1, 1, False), (0, 1, 0, False)]
)
def test_absent_seat_is_forfeited_as_the_terms_say(gone, voids, gone_after, allowed):
    table = Table(opts=Opts(gone=gone, voids=voids, gone_after=gone_after)).to("hand")
    seat = first(table)
    table.add(table.dealer.move(table.ledger))
    assert may_forfeit(table.ledger, seat, "absent") is allowed


@each_row(
    "table, kind, allowed",
    lambda: [
        (voided(0, 1), "empty", True),
        (voided(0, 2, seats=4), "empty", False),
        (voided(0, 1, seats=4), "empty", True),
        (voided(0), "voids", False),
        (voided(0, voids=0), "voids", True),
        (voided(0), "server", True),
    ],
)
def test_match_is_abandoned_for_the_reasons_of_the_list(table, kind, allowed):
    assert may_abandon(table.ledger, kind) is allowed


@each_row(
    "silent, opts, reason, winner",
    [
        ({0}, {}, "forfeit", 1),
        ({1}, {}, "forfeit", 0),
        ({0, 1}, {}, "abandoned", None),
        ({0}, {"gone": 2, "voids": 2}, "forfeit", 1),
    ],
)
def test_silence_decides_the_match_by_the_servers_word(silent, opts, reason, winner):
    table = Table(opts=Opts(**opts)).to("called")
    table.silent = frozenset(silent)
    verdict = table.run().audit().verdict()
    assert (verdict.result, verdict.reason, verdict.winner, verdict.by_ruling) == (
        "proven",
        reason,
        winner,
        True,
    )


def test_voids_are_counted_and_named_in_the_verdict():
    table = voided(1, gone=2, voids=2)
    table.silent = frozenset()
    verdict = table.run().audit().verdict()
    assert verdict.voids == 1
    assert [seats for _, seats in verdict.silent] == [(1,)]


def test_void_at_the_draw_draws_again_at_the_next_index_and_beyond_those_allowed_nobody_wins():
    table = voided(0, index=0)
    table.silent = frozenset()
    assert table.to("hand", index=2).ledger.deal_index == 2
    verdict = voided(0, index=0, voids=0).run().audit().verdict()
    assert (verdict.reason, verdict.winner) == ("abandoned", None)

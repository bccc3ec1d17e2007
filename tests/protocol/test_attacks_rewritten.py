"""Whole matches rewritten by the server and a seat together: everything after the change bound and signed again.

Seat 0 alone is honest. Its own signatures stand where the forgers can only leave them out or leave them as they are.
"""

from collections.abc import Callable
from functools import cache

from protocol.forge import SERVER, altered, cheat, small, undealt_card, until, with_card
from protocol.peers import Table
from protocol.rewriting import HONEST, forked, place_of, relinked
from rows import each_row

from truc_protocol.audit import Result, compare, verify
from truc_protocol.bodies import Ack, Act, Call, Close, Deal, End, Release
from truc_protocol.dealing import Opening
from truc_protocol.records import Record, parse
from truc_protocol.transcript import Transcript, write_transcript


@cache
def finished() -> Table:
    """A match of some hands; in the first, seat 1 has asked for a pause that nobody else wanted."""
    table = Table(small(target=4)).to("hand")
    table.add(table.act(1, "pause"))
    return table.run()


Forked = tuple[Table, Record]
"""A match that went on otherwise, and what the honest seat had signed of the one that was."""


def is_lone_pause(body) -> bool:
    return isinstance(body, Act) and body.kind == "pause"


def is_decision_of(seat: int) -> Callable[..., bool]:
    return lambda body: isinstance(body, Act) and body.seat == seat and body.kind != "pause"


def the_honest_seats(table: Table, kind: type, *, j: int | None = None) -> Record:
    """A record that seat 0 signed in the match as it was."""
    return next(
        record
        for record in table.records
        if record.signer == HONEST + 1
        and isinstance(body := parse(record), kind)
        and (j is None or body.j == j)
    )


def decision_of_a_colluder_changed() -> Forked:
    """Seat 1 concedes the first hand instead of what it did; the honest seat has signed the next release."""
    table = finished()
    fork = forked(table, place_of(table, is_decision_of(1)))
    fork.add(fork.act(1, "concede"))
    fork.to("called", index=2)
    return fork, the_honest_seats(table, Release, j=2)


def decision_of_the_honest_seat_replaced_by_rulings() -> Forked:
    table = finished()
    fork = forked(table, place_of(table, is_decision_of(HONEST)))
    fork.away = frozenset({HONEST})
    fork.add(fork.dealer.move(fork.ledger))
    fork.to("called", index=2)
    return fork, the_honest_seats(table, Release, j=2)


def hand_dealt_from_another_call() -> Forked:
    """Before the second hand seat 1 takes a new chain, so that other cards come; the honest seat had released already."""
    table = finished()
    at = place_of(table, lambda body: isinstance(body, Call) and body.j == 2)
    fork = forked(table, at)
    fork.players = {**table.players, 1: Table(small(target=4)).players[1]}
    fork.add(fork.players[1].rekey(fork.ledger))
    fork.to("called", index=2)
    return fork, the_honest_seats(table, Release, j=2)


def abandoned_instead_of_lost() -> Table:
    """In the last hand the server abandons the match before seat 1's last decision."""
    table = finished()
    fork = forked(table, place_of(table, is_decision_of(1), last=True))
    fork.add(fork.dealer.abandon(fork.ledger, "server"))
    fork.run(until=lambda ledger: ledger.phase == "ended")
    fork.add(fork.players[1].ack(fork.ledger))
    return fork


def result_changed_under_a_kept_ack() -> Forked:
    return abandoned_instead_of_lost(), the_honest_seats(finished(), Ack)


FORKS = (
    decision_of_a_colluder_changed,
    decision_of_the_honest_seat_replaced_by_rulings,
    hand_dealt_from_another_call,
    result_changed_under_a_kept_ack,
)


@each_row("build", FORKS)
def test_honest_seats_own_copy_convicts_the_server_that_rewrote_it(build: Callable[[], Forked]) -> None:
    own = Transcript(finished().document, tuple(finished().records))
    fork, theirs = build()
    found = compare(own, Transcript(fork.document, (*fork.records, theirs)))
    assert ("C33", "server") in {(each.check, each.culprit) for each in found}


def test_match_linked_again_without_a_change_is_the_same() -> None:
    table = finished()
    assert relinked(table, table.records[len(table.setup.records) :]) == table.records


def test_match_that_everybody_rewrites_together_is_another_match() -> None:
    table = finished()
    at = place_of(table, is_lone_pause)
    records = table.records[len(table.setup.records) :]
    forgery = relinked(table, [*records[:at], *records[at + 1 :]], honest=frozenset())
    assert verify(write_transcript(table.document, forgery)).result is Result.PROVEN


def test_ending_after_the_honest_seats_last_signature_is_said_to_be_a_ruling_of_which_it_signed_nothing() -> (
    None
):
    forged = abandoned_instead_of_lost()
    verdict = verify(forged.file())
    assert (verdict.result, verdict.by_ruling, verdict.reason) == (Result.PROVEN, True, "abandoned")
    ruling = next(at for at, record in enumerate(forged.records) if record != finished().records[at])
    assert verdict.covered[HONEST] < ruling - len(forged.setup.records)


def deal_another_card(table: Table) -> None:
    def change(cards):
        return with_card(cards, 0, 0, Opening(undealt_card(table, cards), cards.hands[0][0].salt))

    until(table, Deal)
    cheat(table, change)


def seal_a_box_that_does_not_open(table: Table) -> None:
    record = until(table, Deal)
    first, second = parse(record).boxes
    table.add(altered(table, record, boxes=(first, second[::-1])))


@each_row(
    "check, opening, spoil", [("C25", Close, deal_another_card), ("C31", End, seal_a_box_that_does_not_open)]
)
def test_match_of_forged_cards_played_to_its_end_is_refused_at_the_opening(check, opening, spoil) -> None:
    table = Table(small())
    spoil(table)
    until(table, opening)
    refused_at = table.ledger.k
    verdict = verify(table.run().file())
    assert (verdict.refutation.check, verdict.refutation.culprit) == (check, SERVER)
    assert verdict.refutation.k == refused_at

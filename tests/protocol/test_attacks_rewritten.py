"""Whole matches rewritten by the server and a seat together: everything after the change bound and signed again.

Seat 0 alone is honest. Its own signatures stand where the forgers can only leave them out or leave them as they are.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import msgspec
import pytest
from protocol.forge import SERVER, resigned, small
from protocol.peers import Table
from protocol.rewriting import HONEST, Rewriting, forked, listed_again, place_of, relinked, rewritten
from rows import each_row

from protocol import test_attacks_call as call
from protocol import test_attacks_match as course
from protocol import test_audit_unknown as unknown
from truc_protocol.audit import Result, compare, verify
from truc_protocol.bodies import Ack, Act, Call, Close, End, Release
from truc_protocol.records import Record, body_hash, parse
from truc_protocol.setup import Opts
from truc_protocol.transcript import Transcript, write_transcript


@cache
def finished() -> Table:
    """A match of some hands; in the first, seat 1 has asked for a pause that nobody else wanted."""
    table = Table(small(target=4)).to("hand")
    table.add(table.act(1, "pause"))
    return table.run()


def file_of(forgery: Rewriting) -> bytes:
    return write_transcript(forgery.document, forgery.records)


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


def nothing_changed() -> Rewriting:
    return rewritten(finished(), lambda records: len(records) - 1)


def deleted_act() -> Rewriting:
    at = place_of(finished(), is_lone_pause)

    def change(records: list[Record]) -> int:
        del records[at]
        return at

    return rewritten(finished(), change)


def swapped_acts() -> Rewriting:
    """Seat 1's pause and its own release change places: neither says anything of the other."""
    table = finished()
    at = place_of(table, lambda body: isinstance(body, Release) and body.seat == 1)

    def change(records: list[Record]) -> int:
        records[at - 1], records[at] = records[at], records[at - 1]
        return at - 1

    return rewritten(table, change)


def duplicated_act() -> Rewriting:
    at = place_of(finished(), is_lone_pause)

    def change(records: list[Record]) -> int:
        records.insert(at, records[at])
        return at + 1

    return rewritten(finished(), change)


def duplicated_call() -> Rewriting:
    at = place_of(finished(), lambda body: isinstance(body, Call))

    def change(records: list[Record]) -> int:
        records.insert(at, records[at])
        return at + 1

    return rewritten(finished(), change)


def inserted_act() -> Rewriting:
    """Seat 1 asks for its pause in the second hand too, long after."""
    table = finished()
    pause = table.records[len(table.setup.records) + place_of(table, is_lone_pause)]
    at = place_of(table, lambda body: isinstance(body, Act) and body.j == 2)

    def change(records: list[Record]) -> int:
        records.insert(at, resigned(table, msgspec.structs.replace(parse(pause), j=2)))
        return at

    return rewritten(table, change)


def rewritten_score() -> Rewriting:
    table = finished()
    at = place_of(table, lambda body: isinstance(body, Close))

    def change(records: list[Record]) -> int:
        records[at] = resigned(
            table, msgspec.structs.replace(parse(records[at]), score=((0, 0, 0), (0, 0, 3)))
        )
        return at

    return rewritten(table, change)


def gone_on_with(fork: Table, *theirs: Record) -> Rewriting:
    changed = next(
        at
        for at, (one, other) in enumerate(zip(fork.records, finished().records, strict=False))
        if one != other
    )
    return Rewriting(fork.document, [*fork.records, *theirs], changed)


def decision_of_a_colluder_changed() -> Rewriting:
    """Seat 1 concedes the first hand instead of what it did; the honest seat has signed the next release."""
    table = finished()
    fork = forked(table, place_of(table, is_decision_of(1)))
    fork.add(fork.act(1, "concede"))
    fork.to("called", index=2)
    return gone_on_with(fork, the_honest_seats(table, Release, j=2))


def decision_of_the_honest_seat_replaced_by_rulings() -> Rewriting:
    table = finished()
    fork = forked(table, place_of(table, is_decision_of(HONEST)))
    fork.away = frozenset({HONEST})
    fork.add(fork.dealer.move(fork.ledger))
    fork.to("called", index=2)
    return gone_on_with(fork, the_honest_seats(table, Release, j=2))


def hand_dealt_from_another_call() -> Rewriting:
    """Before the second hand seat 1 takes a new chain, so that other cards come; the honest seat had released already."""
    table = finished()
    at = place_of(table, lambda body: isinstance(body, Call) and body.j == 2)
    fork = forked(table, at)
    fork.players = {**table.players, 1: Table(small(target=4)).players[1]}
    fork.add(fork.players[1].rekey(fork.ledger))
    fork.to("called", index=2)
    return gone_on_with(fork, the_honest_seats(table, Release, j=2))


def abandoned_instead_of_lost() -> Table:
    """In the last hand the server abandons the match before seat 1's last decision."""
    table = finished()
    fork = forked(table, place_of(table, is_decision_of(1), last=True))
    fork.add(fork.dealer.abandon(fork.ledger, "server"))
    fork.run(until=lambda ledger: ledger.phase == "ended")
    fork.add(fork.players[1].ack(fork.ledger))
    return fork


def result_changed_under_a_kept_ack() -> Rewriting:
    return gone_on_with(abandoned_instead_of_lost(), the_honest_seats(finished(), Ack))


def truncated_and_ended_at_once() -> Rewriting:
    """The last hand is left out; the end of the match stands where it stood before, bound again."""
    table = finished()
    start = place_of(table, lambda body: isinstance(body, Call), last=True)
    end = place_of(table, lambda body: isinstance(body, End))

    def change(records: list[Record]) -> int:
        records[start:end] = []
        return start

    return rewritten(table, change)


def terms_changed_and_signed_again() -> Rewriting:
    """The server changes the terms, seat 1 and the match record follow; the honest seat signed the old ones."""
    table = finished()
    terms = resigned(table, msgspec.structs.replace(parse(table.records[0]), opts=(1,)))
    th = body_hash(terms)
    colluder = resigned(table, msgspec.structs.replace(parse(table.records[2]), th=th))
    *seats, match = listed_again(table, [table.records[1], colluder])
    match = resigned(table, msgspec.structs.replace(parse(match), th=th))
    return Rewriting(table.document, [terms, *seats, match], 0)


def seat_of_another_table_listed() -> Rewriting:
    """The honest seat's record of another table, with the same keys, is listed by this match."""
    table, other = finished(), Table(small(target=4), opts=Opts(voids=2))
    seats = listed_again(table, [other.records[1], table.records[2]])
    return Rewriting(table.document, [table.records[0], *seats], 1)


class Row(NamedTuple):
    """A rewritten match, the check that refuses it, whom it blames, and whose record is refused."""

    check: str
    culprit: str | None
    signer: int
    build: Callable[[], Rewriting]


HISTORY = (
    Row("C10", None, HONEST + 1, deleted_act),
    Row("C10", None, HONEST + 1, swapped_acts),
    Row("C29", "seat 1", 2, duplicated_act),
    Row("C11", SERVER, 0, duplicated_call),
    Row("C10", None, HONEST + 1, inserted_act),
    Row("C24", SERVER, 0, rewritten_score),
    Row("C10", None, HONEST + 1, decision_of_a_colluder_changed),
    Row("C10", None, HONEST + 1, decision_of_the_honest_seat_replaced_by_rulings),
    Row("C10", None, HONEST + 1, hand_dealt_from_another_call),
    Row("C10", None, HONEST + 1, result_changed_under_a_kept_ack),
    Row("C11", SERVER, 0, truncated_and_ended_at_once),
    Row("C6", None, HONEST + 1, terms_changed_and_signed_again),
    Row("C6", None, HONEST + 1, seat_of_another_table_listed),
)


@each_row("row", HISTORY)
def test_rewritten_match_is_refused(row: Row) -> None:
    forgery = row.build()
    verdict = verify(file_of(forgery))
    refutation = verdict.refutation
    assert (verdict.result, refutation.check, refutation.culprit) == (Result.REFUTED, row.check, row.culprit)
    at = refutation.setup + (refutation.k or 0)
    assert at >= forgery.changed
    assert forgery.records[at].signer == row.signer


test_rewritten_match_is_refused.cases = HISTORY


def test_match_linked_again_without_a_change_is_the_same() -> None:
    assert nothing_changed().records == finished().records


def test_match_that_everybody_rewrites_together_is_another_match() -> None:
    table = finished()
    at = place_of(table, is_lone_pause)
    records = table.records[len(table.setup.records) :]
    forgery = relinked(table, [*records[:at], *records[at + 1 :]], honest=frozenset())
    assert verify(write_transcript(table.document, forgery)).result is Result.PROVEN


FORKS = (
    decision_of_a_colluder_changed,
    decision_of_the_honest_seat_replaced_by_rulings,
    hand_dealt_from_another_call,
    result_changed_under_a_kept_ack,
)


@pytest.mark.parametrize("build", FORKS, ids=lambda build: build.__name__)
def test_honest_seats_own_copy_convicts_the_server_that_rewrote_it(build) -> None:
    own = Transcript(finished().document, tuple(finished().records))
    assert ("C33", "server") in {(each.check, each.culprit) for each in compare(own, build().transcript)}


def test_ending_after_the_honest_seats_last_signature_is_said_to_be_a_ruling() -> None:
    forged = abandoned_instead_of_lost()
    verdict = verify(forged.file())
    assert (verdict.result, verdict.by_ruling, verdict.reason) == (Result.PROVEN, True, "abandoned")


def test_verdict_says_that_the_honest_seat_signed_nothing_of_a_changed_ending() -> None:
    forged = abandoned_instead_of_lost()
    covered = verify(forged.file()).covered
    ruling = next(at for at, record in enumerate(forged.records) if record != finished().records[at])
    assert covered[HONEST] < ruling - len(forged.setup.records)


DEALT = (
    ("C25", call.deal_of_a_deck_cut_elsewhere),
    ("C25", course.committed_card_that_is_not_the_decks),
    ("C25", course.salt_that_is_not_the_seeds),
    ("C25", course.redeal_not_from_the_remainder),
    ("C25", course.cards_in_another_seats_order),
    ("C25", course.substituted_card_under_match),
    ("C25", unknown.another_card_turned_up),
    ("C31", course.box_that_was_not_checked_by_its_seat),
    ("C31", course.share_with_other_cards),
)


@pytest.mark.parametrize(
    ("check", "build"), [pytest.param(*row, id=f"{row[0]}-{row[1].__name__}") for row in DEALT]
)
def test_match_of_forged_cards_played_to_its_end_is_refused_at_the_opening(check, build) -> None:
    table, opening = build()
    refused_at = len(table.records) - len(table.setup.records)
    table.add(opening)
    table.run()
    verdict = verify(table.file())
    assert (verdict.refutation.check, verdict.refutation.culprit) == (check, SERVER)
    assert verdict.refutation.k == refused_at

"""Lists that are cut short, swapped or rewritten, and what counts of records that no signature of the server covers."""

import pytest
from protocol.forge import altered, refutation, standing, turn, voided
from protocol.peers import Puppet, Table
from protocol.rewriting import covered

from truc_protocol.audit import verify
from truc_protocol.bodies import Act
from truc_protocol.records import Record, parse
from truc_protocol.transcript import write_transcript


def test_every_record_after_a_rewritten_one_stands_on_another_head() -> None:
    table = Table().to("hand").to("between", index=2)
    at = next(at for at, record in enumerate(table.records) if isinstance(parse(record), Act))
    act = parse(table.records[at])
    other = altered(table, table.records[at], kind="redeal" if act.kind == "stand" else "stand")
    verdict = verify(write_transcript(table.document, [*table.records[:at], other, *table.records[at + 1 :]]))
    assert verdict.refutation.check in ("C10", "C20")


def test_proxies_after_the_last_signature_are_left_out() -> None:
    table = Table(guests=(0, 1)).to("hand")
    signed = verify(table.file())
    table.add(table.act(0, "resign"))
    verdict = verify(table.file())
    assert (verdict.reason, verdict.records, verdict.unsigned) == (None, signed.records, (signed.records,))
    table.step()
    verdict = verify(table.file())
    assert (verdict.reason, verdict.unsigned) == ("resigned", ())


def test_auditor_takes_nothing_after_a_refusal() -> None:
    table = Table().to("hand")
    auditor = table.audit()
    bad = table.players[0].resign(table.ledger)._replace(sig=bytes(64))
    for record in (bad, table.players[0].resign(table.ledger)):
        with pytest.raises(Exception, match="C3"):
            auditor.feed(record)


def test_act_against_the_rules_is_its_seats_also_where_the_server_has_signed_behind_it() -> None:
    table = standing()
    seat, at = turn(table), table.ledger.k
    records = covered(table, table.act(seat, "raise", (7,)))
    found = verify(write_transcript(table.document, records)).refutation
    assert found is not None
    assert (found.check, found.culprit, found.k) == ("C20", f"seat {seat}", at)


def test_ruling_for_another_seat_is_refused_before_its_card_is_looked_at() -> None:
    """Who decides only the rules know; a verifier without them looks at the card, and names C19."""
    table = standing()
    forged = table.rule("move", 1 - turn(table), "play", (0, 0, bytes(16), None))
    refuted = refutation(table.audit(), forged)
    assert (refuted.check, refuted.culprit) == ("C22", "server")


def newcomer(table: Table) -> Record:
    """A newcomer's record for seat 0."""
    table.players[0] = Puppet(0, table.seed, "new ")
    return table.players[0].sub(table.ledger)


def test_newcomer_that_the_server_has_not_signed_after_counts_for_nothing_nor_what_follows_it() -> None:
    table = voided(gone=1)
    before = table.ledger.k
    table.add(newcomer(table))
    others = [*table.records, table.players[1].resign(table.ledger)]
    verdict = verify(write_transcript(table.document, others))
    assert (verdict.records, verdict.reason) == (before, None)
    table.add(table.players[0].resign(table.ledger))
    verdict = verify(table.file())
    told = verdict.records, verdict.reason, verdict.substitutes, verdict.players[0]
    assert told == (before, None, (), "player 0")
    table.step()
    verdict = verify(table.file())
    told = verdict.records, verdict.reason, verdict.players[0]
    assert told == (table.ledger.k, "resigned", "new player 0")
    ((k, _),) = verdict.substitutes
    assert (verdict.players_at(k)[0], verdict.players_at(k + 1)[0]) == ("player 0", "new player 0")

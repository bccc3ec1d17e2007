"""Several files at once: what evidence adds to a verdict, and what two transcripts show together."""

import pytest
from protocol.forge import garbled, small
from protocol.peers import Table
from protocol.recomputing import shown

from truc_protocol.audit import Agreement, Auditor, EvidenceExamined, Judgement, Result, cross_audit, examine
from truc_protocol.audit.equivocation import contradictions
from truc_protocol.audit.verified_prefix import PassedRecords, passed
from truc_protocol.evidence_file import MAGIC, Complaint, SignedRefusal, read_refusal, write_evidence
from truc_protocol.records import Record
from truc_protocol.transcript import Transcript, write_transcript
from truc_rules import deciders, preset, with_options


def file(table: Table, *more: Record) -> bytes:
    return write_transcript(table.document, (*table.records, *more))


def complained() -> tuple[bytes, Complaint]:
    """A match with a garbled hand, and the complaint about it."""
    table, record = garbled()
    return file(table, record), Complaint(table.setup.mid, table.ledger.k, 0, table.players[0].x.secret)


def refused() -> tuple[Table, Record, SignedRefusal]:
    """A match, an act of it, and the server's refusal of that act."""
    table = Table().to("hand")
    act = table.act(deciders(table.ledger.match)[0], "stand")
    return table, act, read_refusal(table.dealer.refuse(table.setup.mid, act.body, "illegal_action"))


def results(*files: bytes) -> list[Result | None]:
    return [each.result for each in examine(files).files]


def test_complaint_that_is_upheld_refutes_its_transcript_and_no_other():
    transcript, complaint = complained()
    told = write_evidence((complaint,))
    together = examine((transcript, told))
    refuted = together.files[0].refutation
    assert together.is_refuted
    assert (refuted.check, refuted.culprit, refuted.k) == ("C18", "server", complaint.k)
    assert results(transcript) == [Result.INCOMPLETE]
    honest = file(Table().to("hand"))
    assert results(transcript, honest, told) == [Result.REFUTED, Result.INCOMPLETE, Result.REFUTED]
    assert results(honest, transcript, told) == [Result.INCOMPLETE, Result.REFUTED, Result.REFUTED]
    dismissed = Complaint(complaint.mid, complaint.k, 1, Table().players[1].x.secret)
    assert results(transcript, write_evidence((dismissed, complaint)))[0] is Result.REFUTED


def test_complaint_that_is_dismissed_changes_no_verdict():
    table = Table(small()).to("hand")
    of = Complaint(table.setup.mid, table.ledger.k - 1, 0, table.players[0].x.secret)
    first, second = examine((table.run().file(), write_evidence((of,)))).files
    assert (first.result, second.result, second.weighed[0].judgement) == (
        Result.PROVEN,
        None,
        Judgement.DISMISSED,
    )


def test_what_the_records_show_comes_before_what_evidence_adds():
    table, act, refusal = refused()
    broken = table.rule("abandon", 0, "server")
    first, _ = examine((file(table, act, broken), write_evidence((refusal,)))).files
    assert first.refutation.check == "C10"


@pytest.mark.parametrize("with_another_match", [False, True])
def test_evidence_without_its_transcript_is_incomplete(with_another_match):
    _, complaint = complained()
    others = (Table(small(), seed=9).run().file(),) if with_another_match else ()
    *_, last = examine((*others, write_evidence((complaint,)))).files
    assert last.result is Result.INCOMPLETE
    assert "without the transcript" in last.weighed[0].message


def test_two_histories_are_found_between_the_files_that_show_them_as_far_as_those_can_be_read():
    table = Table().to("hand")
    k = table.ledger.k
    ruling, abandon = table.dealer.move(table.ledger), table.dealer.abandon(table.ledger, "server")
    cut = file(table, abandon, Record(0, b"\xc1", bytes(64))) + b"\x00"
    for other in (file(table, abandon), cut):
        together = examine((file(table, ruling), MAGIC + b"\x00", other))
        found = {
            (each.first, each.second, each.found.check, each.found.places) for each in together.contradictions
        }
        assert found == {(0, 2, "C33", (k, k))}
        assert together.is_refuted
        assert together.agreements == (Agreement(table.setup.mid, (0, 2), records=k, is_whole=False),)
        evidence = together.files[1]
        assert isinstance(evidence, EvidenceExamined)
        assert (evidence.result, evidence.unreadable.check) == (Result.UNREADABLE, "C41")


@pytest.fixture
def fed(monkeypatch) -> list[Record]:
    """The records that auditors were fed."""
    taken: list[Record] = []
    feed = Auditor.feed
    monkeypatch.setattr(Auditor, "feed", lambda self, record: (taken.append(record), feed(self, record))[1])
    return taken


def test_transcript_is_audited_once_for_all_evidence_and_all_pairs(fed):
    tables = [Table(small(), seed=seed).to("hand") for seed in (1, 2, 3)]
    mid, players = tables[0].setup.mid, tables[0].players
    of = [Complaint(mid, k, seat, players[seat].x.secret) for k in range(9) for seat in (0, 1)]
    refusals = [read_refusal(tables[0].dealer.refuse(mid, body, "x")) for body in (b"a", b"b")]
    files = [table.run().file() for table in tables]
    fed.clear()
    *_, examined = examine((*files, write_evidence((*of, *refusals)))).files
    assert [each.judgement for each in examined.weighed].count(Judgement.DISMISSED) == 2
    assert len(fed) == sum(len(table.records) for table in tables)


def test_only_lists_of_one_nonce_that_differ_are_compared(monkeypatch):
    compared: list[tuple[PassedRecords, PassedRecords]] = []
    monkeypatch.setattr(
        cross_audit, "contradictions", lambda one, other, _: (compared.append((one, other)), ())[1]
    )
    table = Table().to("hand")
    one = file(table, table.dealer.move(table.ledger))
    others = [Table(small(), seed=seed).to("hand").file() for seed in range(2, 9)]
    copies = [one, write_transcript(table.document, table.records[:9]), one]
    assert not examine((*others, *copies)).is_refuted
    assert compared == []
    examine((*others, file(table, table.dealer.abandon(table.ledger, "server")), *copies))
    assert len(compared) == 2


def test_resignation_refused_as_hidden_cards_have_won_the_match_convicts_nobody():
    """The server knows whose envido is better, and that the match is over; others cannot see it before the close."""
    game = with_options(preset("truc-valencia"), {"match": 1, "target": 2})
    table = Table(game).to("hand")
    for line in ("envido", "accept", "concede"):
        table.play(line)
    assert table.ledger.match.winner is not None
    resign = table.players[0].resign(table.ledger)
    refusal = read_refusal(table.dealer.refuse(table.setup.mid, resign.body, "illegal_action"))
    files = file(table, resign), write_evidence((refusal,))
    assert [shown(order) for order in (files, files[::-1])] == [set(), set()]


def test_seat_that_released_twice_is_convicted_whatever_was_refused():
    first, second = Table().to("between", index=1), Table().to("between", index=1)
    second.add(second.players[1].rekey(second.ledger))
    lists = []
    for table in (first, second):
        table.run(until=lambda ledger: ledger.phase == "called")
        release = table.players[0].release(table.ledger)
        lists.append(Transcript(table.document, (*table.records, release)))
    refusal = read_refusal(first.dealer.refuse(first.setup.mid, lists[0].records[-1].body, "not_now"))
    found = contradictions(*map(passed, lists), [refusal])
    assert ("C34", "seat 0") in {(each.check, each.culprit) for each in found}


def test_transcripts_of_one_match_agree_as_far_as_their_records_are_the_same():
    table = Table(small()).run()
    half = write_transcript(table.document, table.records[:20])
    assert examine((table.file(), half)).agreements == (
        Agreement(table.setup.mid, (0, 1), records=16, is_whole=True),
    )
    unclosed = write_transcript(table.document, table.records[:1])
    assert examine((unclosed, unclosed)).agreements == ()
    assert examine((table.file(), Table(small(), seed=2).run().file())).agreements == ()

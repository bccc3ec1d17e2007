"""`truc verify` of several files: evidence beside a transcript, two histories, and what is told of the seats."""

import json
import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from client.running import truc
from client.viewed import voided
from protocol.forge import altered, garbled, small, until
from protocol.peers import Puppet, Table
from rich.console import Console
from rows import each_row

from truc_protocol.bodies import End, Rekey
from truc_protocol.codec import enc
from truc_protocol.evidence_file import MAGIC, Complaint, write_evidence
from truc_protocol.records import Record, parse
from truc_protocol.setup import Opts
from truc_protocol.transcript import write_transcript
from truc_rules import deciders
from truc_terminal.commands import verify as command
from truc_terminal.verdicts import verdict_lines

PLAYING = Path(__file__).resolve().parents[2] / "docs" / "playing.md"


@pytest.fixture
def write(tmp_path):
    """Return a way to write a file."""

    def written(name: str, content: bytes) -> str:
        (tmp_path / name).write_bytes(content)
        return str(tmp_path / name)

    return written


verify = partial(truc, "verify")


def file(table: Table, *more: Record) -> bytes:
    return write_transcript(table.document, (*table.records, *more))


def complained() -> tuple[bytes, bytes]:
    table, record = garbled(Table(seed=2))
    complaint = Complaint(table.setup.mid, table.ledger.k, 0, table.players[0].x.secret)
    return file(table, record), write_evidence((complaint,))


def two_histories() -> tuple[bytes, bytes]:
    table = Table().to("hand")
    ruling, abandon = table.dealer.move(table.ledger), table.dealer.abandon(table.ledger, "server")
    return file(table, ruling), file(table, abandon)


def test_complaint_that_is_upheld_refutes_the_match_and_is_told_once_with_the_name_of_the_seat(write) -> None:
    transcript, evidence = complained()
    assert verify(write("a.truc", transcript)).exit_code == 3
    told = verify(write("a.evidence", evidence), write("a.truc", transcript))
    first, second, *_ = told.output.splitlines()
    assert told.exit_code == 1
    assert first.endswith("evidence, 1 item")
    assert second.startswith('  complaint of seat 0 "player 0" about record 7: upheld: ')
    assert second.endswith("; refutes record 7 (C18); to blame: server")
    assert second.count("upheld") == 1
    assert "REFUTED: record 7: C18: upheld" in told.output


def test_complaint_that_is_dismissed_leaves_the_match_proven(write) -> None:
    table = Table(small()).to("hand")
    complaint = Complaint(table.setup.mid, table.ledger.k - 1, 0, table.players[0].x.secret)
    told = verify(write("a.truc", table.run().file()), write("a.evidence", write_evidence((complaint,))))
    assert (told.exit_code, "dismissed: the box opens" in told.output) == (0, True)


def test_evidence_without_its_transcript_is_incomplete_and_what_is_damaged_unreadable(write) -> None:
    told = verify(write("a.evidence", complained()[1]))
    assert told.exit_code == 3
    assert "it shows nothing without the transcript of its match" in told.output
    told = verify(write("a.evidence", complained()[1][:-1]))
    assert (told.exit_code, "UNREADABLE" in told.output) == (2, True)


def test_two_histories_refute_the_match_which_stands_first_and_names_both_files(write) -> None:
    first, second = (write(name, content) for name, content in zip("ab", two_histories(), strict=True))
    assert verify(first).exit_code == 3
    told = verify(first, second)
    conviction, *_ = told.output.splitlines()
    assert told.exit_code == 1
    why = "C33: the server signed two records for position 8"
    assert conviction.startswith(f"{first} and {second}: REFUTED: {why}")
    assert told.output.endswith("2 transcripts of one match agree up to record 7; after it they differ.\n")


def test_contradictions_of_one_kind_are_told_as_one_and_counted(write) -> None:
    first, second = Table().to("hand"), Table().to("hand")
    first.add(first.dealer.move(first.ledger))
    second.play("stand")
    told = verify(write("a", first.run().file()), write("b", second.run().file())).output
    assert told.count(": REFUTED: C33") == 1
    assert "more like it)" in told


def in_the_hand(change) -> bytes:
    """Return a match in its first hand with one record more."""
    table = Table().to("hand")
    return file(table, change(table))


@each_row(
    "change, said",
    [
        (lambda table: table.rule("forfeit", 0, "absent"), "The server made a ruling that it may not make"),
        (
            lambda table: table.dealer.move(table.ledger)._replace(sig=bytes(64)),
            "the records do not show who is to blame",
        ),
        (lambda table: table.rule("x; to blame: seat 1", None, "y", ()), "C22: ruling 'x; to blame: seat 1"),
        (lambda table: table.act(deciders(table.ledger.match)[0], "accept"), 'to blame: seat 0 "player 0"'),
    ],
)
def test_record_that_fails_is_explained_and_whoever_is_to_blame_named(write, change, said) -> None:
    told = verify(write("a", in_the_hand(change))).output
    assert (said in told, "None" in told) == (True, False)


def resigned(*, by_guest: bool) -> Table:
    """Return a match that has just been resigned."""
    table = Table(small(), guests=(1,) if by_guest else ()).to("hand")
    table.add(table.act(1, "resign") if by_guest else table.players[0].resign(table.ledger))
    return table


@each_row(
    "table, told",
    [
        (
            lambda: Table(small(), guests=(1,)).run(),
            r'seat 0: "player 0" \(key\): signed what stands before record',
        ),
        (lambda: Table(small(), guests=(1,)).run(), r'seat 1: "guest 1" \(guest\): signed nothing'),
        (
            lambda: Table(small()).run(),
            r'; seat 0 "player 0": [^"]*\d+ points?; seat 1 "player 1": [^"]*\d+ points?\n',
        ),
        (lambda: resigned(by_guest=True).run(), "1 act of a guest: the server's word"),
        (lambda: resigned(by_guest=True).run(), "assurance level B"),
        (
            lambda: resigned(by_guest=True).run(),
            r"\(resigned; a guest's resignation: the server's word, signed by nobody else\)",
        ),
        (lambda: resigned(by_guest=False), r"\(resigned; as far as the records go\)"),
        (lambda: resigned(by_guest=False).run(), r"\(resigned\); "),
    ],
)
def test_what_each_seat_has_signed_scored_and_given_up_is_told_with_whose_word_it_is(write, table, told):
    assert re.search(told, verify(write("a", table().file())).output)


def test_seats_are_a_table_on_a_terminal(write, monkeypatch) -> None:
    monkeypatch.setattr(command, "Output", lambda: Console(force_terminal=True, width=100))
    told = verify(write("a", Table(small()).run().file())).output
    assert "signatures" in told


def test_forfeit_is_told_as_the_servers_ruling(write) -> None:
    table = Table(small()).to("called")
    table.silent = frozenset({1})
    told = verify(write("a", table.run().file()))
    first, *_ = told.output.splitlines()
    assert told.exit_code == 0
    assert first.endswith("; who won was decided by the server's ruling, which is not proven.")
    assert "(time ran out; decided by the server's ruling, not proven)" in told.output


def test_voids_substitutes_and_new_chains_are_told_of_who_sat_there_then(write) -> None:
    table = voided()
    k = table.ledger.k
    table.add(table.newcomer(1))
    table.add(table.players[0].rekey(table.ledger))
    name = write("a", table.run().file())
    told = verify(name).output
    assert 'the server voided a deal and called seat 1 "player 1" silent: its word, not proven' in told
    assert '"newcomer 7 player 1" took seat 1 "player 1" as a substitute' in told
    assert 'seat 0 "player 0" began a new chain before its time' in told
    assert "everybody's entropy, for each deal of those who sat there at the time." in told
    facts = json.loads(verify("--json", name).stdout)
    assert facts["substitutes"] == [{"k": k, "seat": 1}]
    assert (facts["rekeys"], facts["scheduled"]) == ([{"k": k + 1, "role": 1}], [])
    assert facts["match"] == table.setup.mid.hex()


def test_json_has_an_object_for_each_file_and_for_what_two_show(write) -> None:
    contents = *two_histories(), *complained(), *[Table(small()).run().file()] * 2
    files = [write(name, content) for name, content in zip("abcdef", contents, strict=True)]
    rows = [json.loads(line) for line in verify("--json", *files).stdout.splitlines()]
    assert [row.get("file") for row in rows[:6]] == files
    assert rows[3]["evidence"][0]["judgement"] == "upheld"
    assert (rows[6]["files"], rows[6]["check"], rows[6]["culprit"]) == (files[:2], "C33", "server")
    assert (files[4:], True) in [(row["files"], row.get("is_whole")) for row in rows[7:]]


def test_every_field_of_the_json_stands_in_the_docs(write) -> None:
    chapter = PLAYING.read_text().partition("### For programs\n")[2].partition("\n## ")[0]
    fields = quoted("\n".join(re.findall(r"^\* (`.*?): ", chapter, re.MULTILINE)))
    files = [write(str(n), each) for n, each in enumerate((*complained(), *two_histories()))]
    rows = [json.loads(line) for line in verify("--json", *files).stdout.splitlines()]
    transcript, evidence, _, _, *pairs = rows
    (weighed,) = evidence["evidence"]
    assert set(transcript) == fields
    told = {*evidence, *weighed}.union(*pairs)
    assert {"places", "agree"} <= told <= quoted(chapter)
    assert [weighed[name] for name in ("check", "record", "setup", "culprit")] == ["C18", 7, None, "server"]


def quoted(text: str) -> set[str]:
    return set(re.findall("`(.*?)`", text))


# what is not to be mistaken


def test_evidence_without_items_proves_nothing_alone_and_leaves_a_transcript_as_it_is(write) -> None:
    evidence = write("a.evidence", MAGIC)
    for options in ((), ("--json",)):
        told = verify(*options, evidence)
        assert (told.exit_code, "no transcript among these files" in told.stderr) == (3, True)
    told = verify(evidence, write("a.truc", Table(small()).run().file()))
    assert (told.exit_code, told.stderr) == (0, "")


def test_player_is_told_with_the_seat_and_the_name_in_quotes_which_no_terminal_obeys(
    write, monkeypatch
) -> None:
    monkeypatch.setattr(Puppet, "name", b'\x1b[2Jnobody" (won)')
    told = verify(write("a", Table(small(), guests=(1,)).run().file())).output
    assert "\x1b" not in told
    assert 'seat 0 "[2Jnobody\' (won)" - seat 1 "guest 1"' in told
    assert 'winner: seat 0 "[2Jnobody\' (won)" (' in told or 'winner: seat 1 "guest 1" (' in told


def test_winner_is_told_with_the_rulings_that_moved_for_the_loser(write) -> None:
    table = Table(replace(small(target=4), absent="concede"), opts=Opts(gone_after=0))
    table.away = frozenset({1})
    told = verify(name := write("a", table.run().file())).output
    ruled = told.count('ruling move for seat 1 "player 1"')
    said = f"moves of the losing side made by the server's rulings, not proven: {ruled} of {ruled}"
    assert told.splitlines()[0].endswith(f"dealt from everybody's entropy; {said}.")
    assert f"(won; {said})" in told
    facts = json.loads(verify("--json", name).stdout)
    assert (facts["by_ruling"], facts["losers_ruled"], facts["moves"][1]) == (False, ruled, ruled)


@each_row(
    "variant, told",
    [("truc-french", "truc-french, seat 0"), (small(), "truc-french with house rules, seat 0")],
)
def test_rules_that_are_not_those_of_the_name_are_told(write, variant, told) -> None:
    assert told in verify(write("a", Table(variant).to("hand").file())).output


def test_message_that_repeats_a_strangers_bytes_is_shortened(write) -> None:
    table = Table().to("hand")
    body = enc([b"x" * 65_000])
    told = verify(write("a", file(table, Record(0, body, table.server.sign(body))))).output
    assert len(told) < 4_000


# what a reader looks for


def test_other_winner_than_that_of_the_match_is_told_in_words(write) -> None:
    table = Table()
    record = until(table, End)
    body = parse(record)
    other = altered(table, record, winner=None, reason="abandoned")
    told = verify(write("a.truc", file(table, other))).output
    assert f"expected side {body.winner} to win, 'won', got nobody to win, 'abandoned'" in told


def test_file_without_an_end_is_read_no_further_than_a_transcript_goes() -> None:
    told = verify("/dev/zero")
    assert told.exit_code == 2
    assert "expected at most" in told.output


def test_new_chains_on_schedule_are_one_line(write) -> None:
    table = Table(small(target=12), links=2).run()
    ks = [k for k, record in enumerate(table.records[4:]) if isinstance(parse(record), Rekey)]
    told = verify(write("a", table.file())).output
    assert f"new chains on schedule: {len(ks)} (the first is record {ks[0]})\n" in told
    assert "began a new chain" not in told


def test_what_happened_is_told_in_the_order_of_the_records(write) -> None:
    table = Table(small(), opts=Opts(gone=1, voids=3)).to("between")
    table.add(table.players[0].rekey(table.ledger))
    table.to("called")
    table.silent = frozenset({1})
    table.run(until=lambda ledger: ledger.phase == "between")
    told = verify(write("a", table.file())).output.splitlines()
    ks = [int(line.split()[1][:-1]) for line in told if line.startswith("  record ")]
    assert (len(ks) > 1, ks) == (True, sorted(ks))


def test_transcripts_are_compared_as_far_as_they_are_sound(write) -> None:
    whole, hand = Table(small()).run(), Table().to("hand")
    half = write_transcript(whole.document, whole.records[:20])
    forged = file(hand, hand.dealer.move(hand.ledger)._replace(sig=bytes(64)))
    for first, second, said in (
        (
            whole.file(),
            half,
            "2 transcripts of one match agree up to record 15, the last sound one of the shortest.",
        ),
        (
            forged,
            forged,
            "2 transcripts of one match agree up to record 7, the last sound one of the shortest.",
        ),
        (file(Table()), file(Table()), "2 transcripts of one match have no sound record of play in common."),
        (whole.file(), forged, "transcripts of 2 different matches: nothing to compare record by record."),
    ):
        told = verify(write("a", first), write("b", second)).output
        assert told.endswith(f"{said}\n")


def test_player_who_signed_twice_is_told_by_name(write) -> None:
    first, second = Table().to("hand"), Table().to("hand")
    seat = deciders(first.ledger.match)[0]
    stands = write("a", file(first, first.act(seat, "stand")))
    resigns = write("b", file(second, second.players[seat].resign(second.ledger)))
    assert f'to blame: seat {seat} "player {seat}"' in verify(stands, resigns).output


class Position(int):
    """A position that counts how often it is compared with another."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Position.compared += 1
        return int(self) == other

    def __lt__(self, other: int) -> bool:
        Position.compared += 1
        return int(self) < int(other)

    __hash__ = int.__hash__


def comparisons(n: int) -> int:
    """Return how many comparisons it takes to tell of so many newcomers, voids and new chains."""
    table = voided()
    newcomer = parse(table.newcomer(1))
    rows = [(Position(k), newcomer) for k in range(n)]
    verdict = (
        table.audit()
        .verdict()
        ._replace(
            substitutes=tuple(rows),
            silent=tuple((k, (1,)) for k, _ in rows),
            rekeys=tuple((Position(k), 1) for k in range(n)),
            scheduled=tuple(Position(k) for k in range(n)),
        )
    )
    Position.compared = 0
    assert len(list(verdict_lines(verdict))) > 2 * n
    return Position.compared


def test_telling_of_what_occurs_many_times_does_not_grow_with_its_square() -> None:
    assert comparisons(400) < 3 * comparisons(200)

"""The verifier in JavaScript (client/truc_web/lib), which was written from the text alone, against this project's own."""

import json
import os
import random
import re
import struct
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from clients_elsewhere.programs import NODE, needs_node
from msgspec.structs import replace
from protocol.blind_peers import BlindTable
from protocol.forge import altered, place, resigned
from protocol.peers import Table, here
from protocol.rewriting import covered
from protocol.test_blind_matches import declined_and_held_twice, held_twice, opened_late, said_falsely, signed
from vectors.blind_matches import MATCHES, other_order
from vectors.shape import kept_tests

from truc_conform.playing import Puppet
from truc_protocol.audit import AuditError, verify
from truc_protocol.audit import Verdict as OwnVerdict
from truc_protocol.bodies import Close, Garbled, Release, Void
from truc_protocol.ledger import score, start_ledger
from truc_protocol.records import Record, parse
from truc_protocol.setup import Opts
from truc_protocol.transcript import write_transcript
from truc_rules import Variant, deciders, preset, with_options

ROOT = Path(__file__).resolve().parents[2]
VERIFIERS = ROOT / "docs" / "verifiers"
VECTORS = ROOT / "tests" / "vectors"
REMEMBERING = Path(__file__).with_name("remembering.mjs")
COUNTING = Path(__file__).with_name("counting.mjs")
MAGIC = b"truc transcript 1\n"


pytestmark = [pytest.mark.slow, needs_node]


class Verdict(NamedTuple):
    result: str
    level: str | None
    records: int
    check: str | None
    record: int | None
    setup: int | None
    culprit: str | None


class Judged(NamedTuple):
    """A file, and what we say of it."""

    label: str
    file: bytes
    expected: Verdict


def read(label: str, file: bytes) -> Judged:
    """Judge a file as it is."""
    return Judged(label, file, told(verify(file)))


def told(verdict: OwnVerdict) -> Verdict:
    refutation = verdict.refutation
    failed: tuple[Any, ...] = (None, None, None, None)
    if refutation is not None:
        in_setup = refutation.k is None and not is_of_the_whole_file(refutation.check, refutation.setup)
        failed = (
            str(refutation.check),
            refutation.k,
            refutation.setup if in_setup else None,
            refutation.culprit,
        )
    return Verdict(str(verdict.result), verdict.level, verdict.records, *failed)


def is_of_the_whole_file(check: str, number: int | None) -> bool:
    """Tell whether an unreadable file is so as a whole, as one is that breaks in the table record."""
    return check == "C41" and number == 0


def javascript(files: list[bytes], folder: Path) -> list[Verdict]:
    """Judge all files in one process."""
    folder.mkdir()
    names = [f"{number}.truc" for number in range(len(files))]
    for name, file in zip(names, files, strict=True):
        (folder / name).write_bytes(file)
    lines = node("verify.mjs", "--json", *names, folder=folder).stdout.splitlines()
    told = [json.loads(line) for line in lines]
    return [
        Verdict(**{field: one[field] for field in Verdict._fields})
        for one in told
        if "level" in one  # not what two files show together
    ]


def node(
    program: str, *args: str, folder: Path = ROOT, loaded: Path = REMEMBERING
) -> subprocess.CompletedProcess[str]:
    assert NODE is not None
    command = [NODE, "--import", loaded.as_uri(), str(VERIFIERS / program), *args]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done


def check_agreement(files: Iterable[Judged], folder: Path) -> list[Verdict]:
    """Assert that both verifiers agree on every file; return the verdicts."""
    labels, contents, expected = zip(*files, strict=True)
    found = javascript(list(contents), folder / "files")
    different = [row for row in zip(labels, expected, found, strict=True) if row[1] != row[2]]
    assert different == []
    return found


def matches() -> dict[str, Table]:
    """Return played matches: seats, guests, both policies, short chains, voids, substitutes, rulings, pauses."""
    tables = {
        "two": Table(short("le-truc"), seed=41, links=3),
        "four": Table(short("truc-catalan"), seats=4, seed=42, links=2),
        "six": Table(short("truco-argentino"), seats=6, seed=43),
        "match": Table(short("truco-argentino-flor", reveal="match"), seats=4, guests=(2,), seed=44),
        "turned": Table(short("truco-paulista", reveal="match"), seats=2, seed=45),
        "guests": Table(short("truc-catalan"), seats=4, guests=(1, 3), seed=46, boxed_guests=True, links=3),
        "level C": Table(short("truco-gauderio"), guests=(0, 1), seed=47),
        "substitutes": Table(short("truc-french"), seed=48, links=3, opts=Opts(gone=1, voids=5)),
        "forfeit": Table(short("put"), seed=49, opts=Opts(gone=0, voids=2)),
        "abandoned": Table(short("truc-lanes"), seats=4, seed=50, opts=Opts(gone=0, voids=2)),
        "waiting": Table(short("trut"), seed=51, opts=Opts(gone=2, voids=1)),
        "absent": Table(short("truc-catalan"), seats=4, seed=52, opts=Opts(gone_after=0)),
        "paused": Table(short("truc-partnership"), seats=4, seed=53),
    }
    silent = {"substitutes": {1}, "forfeit": {0}, "abandoned": {0, 1}, "waiting": {1}}
    for name, seats in silent.items():
        tables[name].to("called", index=1).silent = frozenset(seats)
    tables["absent"].away = frozenset({0, 3})
    tables["paused"].to("hand").rest()
    tables["half substituted"] = half_substituted()
    return tables


def half_substituted() -> Table:
    """Return a match whose void names seats of both sides: one is taken over, and the other forfeits."""
    table = Table(short("truc-lanes"), seats=4, seed=54, opts=Opts(gone=1)).to("called", index=1)
    table.silent = frozenset({0, 1})
    table.run(until=lambda ledger: ledger.phase == "between")
    table.add(table.newcomer(0))
    table.add(table.dealer.forfeit(table.ledger, 1, "silent"))
    return table


def short(name: str, **options: Any) -> Variant:
    """Return a game that is over soon."""
    target = 3 if preset(name).scoring.points_per_unit == 0 else 1
    return with_options(preset(name), {"target": target, "match": 1, **options})


@cache
def played() -> dict[str, Table]:
    return {name: table.run() for name, table in matches().items()}


def items_of(file: bytes) -> list[bytes]:
    at, items = len(MAGIC), []
    while at < len(file):
        (length,) = struct.unpack_from(">I", file, at)
        items.append(file[at + 4 : at + 4 + length])
        at += 4 + length
    return items


def file_of(items: list[bytes]) -> bytes:
    return MAGIC + b"".join(struct.pack(">I", len(item)) + item for item in items)


def flipped(file: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(file))
    return file[:at] + bytes([file[at] ^ 1 << chance.randrange(8)]) + file[at + 1 :]


def rearranged(file: bytes, chance: random.Random) -> Iterator[tuple[str, bytes]]:
    """Yield a list with an item dropped, doubled, exchanged, moved; and one cut anywhere."""
    items = items_of(file)
    one, other = (chance.randrange(1, len(items)) for _ in range(2))
    yield f"drop {one}", file_of(items[:one] + items[one + 1 :])
    yield f"double {one}", file_of(items[:one] + items[one - 1 :])
    exchanged = items.copy()
    exchanged[one], exchanged[other] = items[other], items[one]
    yield f"exchange {one} {other}", file_of(exchanged)
    yield f"copy {one} to {other}", file_of([*items[:other], items[one], *items[other:]])
    at = chance.randrange(len(file))
    yield f"cut at {at}", file[:at]


def varied(value: Any, chance: random.Random) -> Any:
    """Return another value, often of the same type."""
    match value:
        case None:
            return chance.choice([0, 1, bytes(32)])
        case int():
            return chance.choice([value + 1, max(0, value - 1), 0, 9])
        case str():
            return chance.choice(
                ["play", "pause", "resume", "resign", "cut", "tap", "accept", "move", "hand", "ended", ""]
            )
        case bytes():
            return chance.choice([bytes(32), value[:-1], value[:-1] + b"\x01"])
        case _:
            items = list(value)
            if not items or chance.random() < 0.3:
                return (*items, *items[:1], 0)
            at = chance.randrange(len(items))
            return (*items[:at], varied(items[at], chance), *items[at + 1 :])


class Prefix:
    """The honest records of a match so far; whatever is put behind them is judged by a copy of one audit of them."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._auditor = table.audit()

    def add(self, honest: Record) -> None:
        self._table.add(honest)
        self._auditor.feed(honest)

    def and_then(self, label: str, record: Record) -> Judged:
        auditor = copy(self._auditor)
        with suppress(AuditError):
            auditor.feed(record)
        file = write_transcript(self._table.document, [*self._table.records, record])
        return Judged(label, file, told(auditor.verdict()))


def forged(table: Table, chance: random.Random, share: float) -> Iterator[Judged]:
    """Play a match; yield lists whose last record is not honest, though signed by whoever must sign it.

    Either a field of it was changed, as in this share of the records, or it is an earlier one at a new place.
    """
    prefix, bodies = Prefix(table), []
    while (honest := table.next_record()) is not None:
        if chance.random() < share:
            body = parse(honest)
            field = chance.choice(body.__struct_fields__)
            forgery = forgery_of(table, honest, field, varied(getattr(body, field), chance))
            if forgery is not None:
                yield prefix.and_then(f"{type(body).__name__}.{field}", forgery)
        if bodies and chance.random() < 0.2:
            body = place(table, chance.choice(bodies))
            yield prefix.and_then(f"{type(body).__name__} again", resigned(table, body))
        prefix.add(honest)
        bodies.append(parse(honest))


def forgery_of(table: Table, honest: Record, field: str, value: Any) -> Record | None:
    try:
        return altered(table, honest, **{field: value})
    except (TypeError, ValueError):
        return None  # no body holds this value


def test_every_vector_is_agreed_on():
    lines = node("vectors.mjs", str(VECTORS)).stdout.splitlines()
    told = {line.partition("(")[2].partition(")")[0] for line in lines if "is said to be" in line}
    counts = {
        name: int(number)
        for name, number in re.findall(r"^(.*): (\d+) tests$", "\n".join(lines), re.MULTILINE)
    }
    assert told == set()
    assert int(lines[-1].split(" agree, ")[0]) > 1700
    assert {*counts} == {"left out wire"}


FIGURES = {"value", "order", "picked", "shared", "pin", "pk"}  # what invalid tests do not give
ACCEPTED = (
    ("encoding", "canonical"),
    ("shuffle", "shuffle"),
    ("shuffle", "pick"),
    ("keys", "exchange"),
    ("records", "record"),
    ("handshake", "hello"),
    ("handshake", "login"),
    ("handshake", "revoke"),
)


@pytest.mark.parametrize(("name", "kind"), ACCEPTED)
def test_a_vector_that_is_to_be_refused_is_not_agreed_on_where_nothing_refuses_it(name, kind, tmp_path):
    groups = json.loads((VECTORS / f"{name}.json").read_text())["testGroups"]
    group = next(group for group in groups if group["type"] == kind)
    honest = next(test for test in group["tests"] if test["result"] == "valid")
    asked = {field: value for field, value in honest.items() if field not in FIGURES}
    forged = {"testGroups": [{**group, "tests": [{**asked, "result": "invalid"}]}]}
    (tmp_path / "forged.json").write_text(json.dumps(forged))
    assert node("vectors.mjs", str(tmp_path)).stdout.endswith("0 agree, 1 disagree\n")


def test_transcripts_of_the_vectors(tmp_path):
    files = [read(path.name, path.read_bytes()) for path in sorted(VECTORS.rglob("*.truc"))]
    found = check_agreement(files, tmp_path)
    assert {each.result for each in found} == {"proven", "incomplete"}


def test_fresh_transcripts_are_proven(tmp_path):
    found = check_agreement([read(name, table.file()) for name, table in played().items()], tmp_path)
    assert {each.result for each in found} == {"proven"}
    assert {each.level for each in found} == {"A", "B", "C"}


def test_links_that_the_end_opens_are_hashed_once_and_not_again_for_each_hand(tmp_path):
    variant = with_options(preset("put"), {"reveal": "match", "match": 5})
    table = Table(variant, guests=(0, 1), seed=55).run()
    indices = table.ledger.deal_index
    assert indices > 8
    done = node(
        "verify.mjs", "--json", written(tmp_path, "a", table.file()), folder=tmp_path, loaded=COUNTING
    )
    told, links = done.stdout.splitlines()
    assert json.loads(told)["result"] == "proven"
    assert int(links) <= 2 * indices


def test_flipped_bits(tmp_path):
    chance = random.Random(7)
    files = [read(name, flipped(table.file(), chance)) for name, table in played().items() for _ in range(3)]
    assert "proven" not in {each.result for each in check_agreement(files, tmp_path)}


def test_rearranged_lists(tmp_path):
    chance = random.Random(8)
    files = [
        read(f"{name}: {label}", file)
        for name, table in played().items()
        for label, file in rearranged(table.file(), chance)
    ]
    check_agreement(files, tmp_path)


def test_forged_records(tmp_path):
    chance = random.Random(9)
    files = [each for table in matches().values() for each in forged(table, chance, 0.3)]
    checks = {each.check for each in check_agreement(files, tmp_path)}
    assert checks >= {f"C{n}" for n in (2, 10, 11, 12, 13, 14, 15, 17, 19, 20, 22, 24, 27)}


def sealed_matches() -> dict[str, BlindTable]:
    """Return matches of mode blind: redeals, cards lent and turned up, a hand played blind, a cheat."""
    two, four = preset("truco-paulista"), preset("truco-mineiro-2")
    return {
        "redeals": BlindTable(short("truc-french"), seed=61, links=8),
        "lends": BlindTable(with_options(four, {"target": 3}), seats=4, seed=62, links=8),
        "unseen": BlindTable(with_options(two, {"target": 2, "blind": "on"}), seed=63, links=8),
        "exposed": BlindTable(short("truc-french"), seed=64, links=8, cheats={1: other_order}),
    }


KINDS = 1000 if "TRUC_EXAMPLES" in os.environ else 60


def test_forged_records_of_mode_blind(tmp_path):
    """Of each kind of forgery the shortest list is judged, and of all kinds those with the shortest."""
    chance = random.Random(10)
    found = [each for table in sealed_matches().values() for each in forged(table, chance, 1)]
    shortest: dict[str, Judged] = {}
    for each in sorted(found, key=lambda each: len(each.file)):
        shortest.setdefault(each.label, each)
    verdicts = check_agreement([*shortest.values()][:KINDS], tmp_path)
    assert {each.check for each in verdicts} >= {"C2", "C10", "C11", "C12", "C19", "C43"}


def of_the_server(table: BlindTable) -> Iterator[tuple[str, Record]]:
    """Yield what the server may rule, void and close, rightly signed for where a match stands now."""
    ledger = table.ledger
    j, place = ledger.deal_index, here(ledger)
    for seat in range(ledger.seats):
        kinds = ("silent", "absent", "opening", "cheat", "false")
        yield from ((f"forfeit {kind}", table.rule("forfeit", seat, kind)) for kind in kinds)
        yield from ((f"move {kind}", table.rule("move", seat, kind)) for kind in ("concede", "decline"))
        for reason in ("silent", "points"):
            yield f"void {reason}", signed(table, Void(*place, j, reason, (seat,), None))
    yield from (
        (f"abandon {kind}", table.rule("abandon", None, kind)) for kind in ("empty", "voids", "server")
    )
    for reason in ("hand", "ended"):
        yield f"close {reason}", signed(table, Close(*place, j, None, score(ledger), reason))


def of_a_seat(table: BlindTable) -> Iterator[tuple[str, Record]]:
    """Yield what a seat may say of itself, or a newcomer of it."""
    ledger = table.ledger
    for seat in range(ledger.seats):
        yield from ((kind, table.act(seat, kind)) for kind in ("pause", "resume", "concede"))
        for d in (0, 1):
            yield f"garbled {d}", signed(table, Garbled(*here(ledger), ledger.deal_index, d, seat))
        yield "resign", table.players[seat].resign(ledger)
        yield "sub", Puppet(seat, seed=99, person="new ").sub(ledger)


def test_what_comes_out_of_its_time_in_mode_blind(tmp_path):
    chance = random.Random(12)
    files: list[Judged] = []
    for name in ("french-redeals.truc", "paulista-unseen.truc", "french-garbled.truc"):
        table = MATCHES[name]()
        played, table.records = table.records, list(table.setup.records)
        table.ledger = start_ledger(table.setup)
        prefix = Prefix(table)
        for record in played[len(table.records) :]:
            if chance.random() < 0.4:
                what, forged = chance.choice([*of_the_server(table), *of_a_seat(table)])
                files.append(prefix.and_then(f"{name} {what}", forged))
            prefix.add(record)
    checks = {each.check for each in check_agreement(files, tmp_path)}
    assert checks >= {"C11", "C22", "C43", None}


def test_link_of_the_hand_before_is_no_repeat_once_a_match_of_mode_blind_is_won(tmp_path):
    table = BlindTable(short("truc-french"), seed=65).run(until=lambda ledger: ledger.phase == "over")
    release = next(body for body in map(parse, reversed(table.records)) if isinstance(body, Release))
    again = resigned(table, replace(place(table, release), j=table.ledger.deal_index))
    file = write_transcript(table.document, [*table.records, again])
    [verdict] = check_agreement([read("once more", file)], tmp_path)
    assert (verdict.check, verdict.culprit) == ("C15", f"seat {release.seat}")


def test_ends_of_matches_of_mode_blind(tmp_path):
    tables = {
        "late": opened_late(),
        "twice": held_twice(),
        "ruled, then twice": declined_and_held_twice()[0],
        "false": said_falsely()[0],
    }
    found = check_agreement([read(name, table.run().file()) for name, table in tables.items()], tmp_path)
    assert {each.result for each in found} == {"proven"}


def test_act_against_the_rules_that_the_server_has_signed_behind(tmp_path):
    table = Table().to("hand")
    seat = deciders(table.ledger.match)[0]
    file = write_transcript(table.document, covered(table, table.act(seat, "envido")))
    [verdict] = check_agreement([read("covered", file)], tmp_path)
    assert (verdict.check, verdict.culprit) == ("C20", f"seat {seat}")


def written(folder: Path, name: str, file: bytes) -> str:
    (folder / name).write_bytes(file)
    return name


def list_of(group: dict[str, Any], *more: str) -> bytes:
    return file_of([bytes.fromhex(item) for item in (group["document"], *group["items"], *more)])


def test_two_files_that_contradict_each_other(tmp_path):
    group, test = next(kept_tests("evidence", "pair"))
    names = [written(tmp_path, f"{side}.truc", list_of(group, *test[side])) for side in ("first", "second")]
    done = node("verify.mjs", "--json", *names, folder=tmp_path)
    told = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == 1
    assert "failed" not in done.stdout
    assert (told["files"], [[told["check"], told["culprit"]]]) == (names, test["found"])


@pytest.mark.parametrize(("judgement", "status"), [("upheld", 1), ("dismissed", 3), ("no complaint", 3)])
def test_a_complaint_beside_its_transcript(judgement, status, tmp_path):
    group, test = next(
        pair for pair in kept_tests("evidence", "complaint") if pair[1]["judgement"] == judgement
    )
    names = [
        written(tmp_path, "match.truc", list_of(group)),
        written(tmp_path, "match.evidence", bytes.fromhex(test["file"])),
    ]
    done = node("verify.mjs", "--json", *names, folder=tmp_path)
    (weighed,) = json.loads(done.stdout.splitlines()[-1])["evidence"]
    assert (weighed["judgement"], done.returncode) == (judgement, status)
    assert [weighed["check"], weighed["record"], weighed["culprit"]] == [
        test.get(field) for field in ("check", "record", "culprit")
    ]


def judged_in_little_memory(file: Path) -> str:
    assert NODE is not None
    command = [NODE, "--max-old-space-size=40", str(VERIFIERS / "verify.mjs"), "--json", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return json.loads(done.stdout)["result"]


def test_million_empty_items_of_evidence_are_not_all_read_before_they_are_too_many(tmp_path):
    file = tmp_path / written(tmp_path, "a.evidence", b"truc evidence 1\n" + bytes(4 * 10**6))
    assert judged_in_little_memory(file) == "unreadable"


def test_no_more_is_read_of_a_file_than_one_may_have(tmp_path):
    file = tmp_path / written(tmp_path, "a.truc", MAGIC)
    os.truncate(file, 3 * 2**30)  # sparse, and more than Node reads at once
    assert judged_in_little_memory(file) == "unreadable"


def test_watcher_checks_a_match_of_mode_blind_as_its_records_come():
    assert NODE is not None
    program = Path(__file__).with_name("following.mjs")
    file = VECTORS / "blind" / "paulista-unseen.truc"
    done = subprocess.run([NODE, str(program), str(file)], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("ended\n", "")

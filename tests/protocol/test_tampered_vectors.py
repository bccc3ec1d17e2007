"""The tampered transcripts kept in tests/vectors: each refused as it says."""

import copy
import json
from contextlib import suppress
from functools import cache

from protocol.forge import passes_with_cofactor
from rows import each_row
from vectors.shape import kept_tests
from vectors.transcripts.make import FOLDER
from vectors.transcripts.tampered import keep

from truc_protocol.audit import AuditError, Auditor, Result, Verdict, verify
from truc_protocol.checks import CHECKS
from truc_protocol.crypto import keys
from truc_protocol.records import parse
from truc_protocol.transcript import unpack_record
from truc_terminal.plain_values import verdict_facts

h = bytes.fromhex
FIELDS = ("check", "record", "setup", "culprit")


@cache
def kept():
    return json.loads((FOLDER / "tampered.json").read_text(encoding="utf-8"))


def groups():
    """Return what is kept as lists."""
    return [group for group in kept()["testGroups"] if group["type"] == "list"]


@each_row("group", groups)
@each_row("threads", [0, 2])
def test_every_list_of_a_group_is_refused_as_it_says(group, threads):
    assert [test["comment"] for test in group["tests"] if not is_refused_as_said(group, test, threads)] == []


@cache
def auditors(document, items):
    """Return the auditor of an honest list before each of its records, and after the last."""
    auditor = Auditor(h(document))
    before = [copy.copy(auditor)]
    for item in items:
        auditor.feed(unpack_record(h(item)))
        before.append(copy.copy(auditor))
    return before


def is_refused_as_said(group, test, threads=0):
    """Tell whether a list is refused as it says; with threads, the signatures of what was changed are checked together."""
    *honest, last = map(unpack_record, map(h, test["then"]))
    auditor = copy.copy(auditors(group["document"], tuple(group["items"]))[test["keep"]])
    if threads:
        auditor.expect((*honest, last), threads)
    for record in honest:
        auditor.feed(record)
    with suppress(AuditError):
        auditor.feed(last)
    return said(auditor.verdict()) == expected(test)


def said(verdict: Verdict):
    """Return what `truc verify --json` prints of it."""
    facts = verdict_facts(verdict)
    return {name: facts[name] for name in ("result", *FIELDS)}


def expected(test):
    return {name: test[name] for name in ("result", *FIELDS)}


@each_row("group, test", kept_tests("transcripts/tampered", "file"))
def test_damaged_file_comes_to_what_it_says(group, test):
    file = (FOLDER / group["file"]).read_bytes()
    edited = file[: test["at"]] + h(test["insert"]) + file[test["at"] + test["remove"] :]
    assert [said(verify(edited, threads=threads)) for threads in (1, 2)] == [expected(test)] * 2


def test_forgery_that_is_not_kept_is_added_as_what_it_comes_to(tmp_path):
    file, group = tmp_path / "tampered.json", groups()[0]
    gone = group["tests"][0]
    items = [*group["items"][: gone["keep"]], *gone["then"]]
    file.write_text(json.dumps(kept()), encoding="utf-8")
    records = [*map(unpack_record, map(h, items)), unpack_record(h(items[-1]))]
    keep(gone["comment"], h(group["document"]), records, file)
    *others, added = json.loads(file.read_text(encoding="utf-8"))["testGroups"]
    (test,) = added["tests"]
    assert others == kept()["testGroups"]
    assert test == {**gone, "tcId": kept()["numberOfTests"] + 1}
    assert [*added["items"], *test["then"]] == items


def test_signature_with_torsion_is_one_that_a_cofactored_check_takes():
    comment = "attacks_bodies: signature that only a cofactored check takes"
    lists = kept_tests("transcripts/tampered", "list")
    ((group, test),) = (found for found in lists if found[1]["comment"] == comment)
    server = parse(unpack_record(h(group["items"][0]))).spk
    record = unpack_record(h(test["then"][-1]))
    assert passes_with_cofactor(server, record.body, record.sig)
    assert not keys.verify(server, record.body, record.sig)


def test_every_list_is_refuted():
    results = {test["result"] for group in groups() for test in group["tests"]}
    assert results == {Result.REFUTED}


def test_every_check_that_a_list_can_fail_is_failed_by_one():
    failed = {test["check"] for group in groups() for test in group["tests"]}
    several = {"C33", "C34", "C35", "C36"}
    handshake = {"C37", "C38", "C39", "C40"}
    of_mode_blind = {f"C{number}" for number in range(43, 53)}
    assert set(CHECKS) - failed == {"C9", "C18"} | several | handshake | {"C41", "C42"} | of_mode_blind


def test_tests_are_numbered_from_1_without_gap():
    numbers = [test["tcId"] for group in kept()["testGroups"] for test in group["tests"]]
    assert numbers == list(range(1, kept()["numberOfTests"] + 1))

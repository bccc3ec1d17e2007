"""The transcripts kept in tests/vectors: made byte for byte, proven, and refused with any bit changed."""

import copy
from collections.abc import Iterator

import pytest
from vectors.transcripts.make import FOLDER, SCRIPTS, play

from truc_protocol.audit import AuditError, Auditor, Result, verify
from truc_protocol.bodies import Deal, Rekey, Rule, Void
from truc_protocol.checks import CheckError
from truc_protocol.records import Record, parse
from truc_protocol.transcript import MAGIC, pack_record, read_transcript, unpack_record

FILES = {name: (FOLDER / name).read_bytes() for name in SCRIPTS}


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_makes_the_transcript_byte_for_byte(name):
    assert play(SCRIPTS[name]).file() == FILES[name]


@pytest.mark.parametrize("name", SCRIPTS)
def test_kept_transcript_proves_its_result(name):
    verdict = verify(FILES[name])
    assert (verdict.result, verdict.reason, verdict.by_ruling) == (Result.PROVEN, "won", False)


@pytest.mark.parametrize("name", SCRIPTS)
def test_kept_transcript_is_small(name):
    assert len(FILES[name]) < 40_000


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("kind", [Void, Rekey, Rule])
def test_kept_transcript_holds_the_rarer_records(name, kind):
    assert any(isinstance(parse(record), kind) for record in read_transcript(FILES[name]).records)


def test_kept_transcript_of_two_holds_a_redeal():
    bodies = [parse(record) for record in read_transcript(FILES["truc-french.truc"]).records]
    assert max(body.d for body in bodies if isinstance(body, Deal)) == 1


def flipped(original: bytes, at: int) -> bytes:
    """Flip one bit of a byte; which one depends on the place alone."""
    return original[:at] + bytes([original[at] ^ 1 << (at * 5 + at // 8) % 8]) + original[at + 1 :]


def refusal(auditor: Auditor, record: Record, following: tuple[Record, ...]) -> AuditError | None:
    """Feed a changed record, and as many of the next as it takes to be refused."""
    try:
        for each in (record, *following):
            auditor.feed(each)
    except AuditError as error:
        return error
    return None


def unrefused(name: str, step: int) -> Iterator[str]:
    """Flip a bit of every `step`-th byte of every record; yield the places that no check refuses at once."""
    document, records = read_transcript(FILES[name])
    auditor = Auditor(document)
    for number, record in enumerate(records):
        encoded = pack_record(record)
        for at in range(number % step, len(encoded), step):
            try:
                changed = unpack_record(flipped(encoded, at))
            except CheckError:
                continue
            error = refusal(copy.copy(auditor), changed, records[number + 1 :])
            named = error and (
                error.refutation.setup if error.refutation.k is None else error.refutation.k + 1
            )
            before = len(auditor._setup) if auditor.ledger is None else auditor.ledger.k + 1
            unsigned = record.sig == b""  # a proxy is refused where the next signature does not fit
            if named is None or not (named == before or (unsigned and named > before)):
                yield f"record {number}, byte {at}"
        auditor.feed(record)


def test_flipping_any_byte_of_any_record_is_refused_at_that_record():
    assert list(unrefused("truc-french.truc", 1)) == []


def test_flipping_a_byte_of_a_transcript_with_a_guest_is_refused():
    assert list(unrefused("truc-catalan-4.truc", 13)) == []


@pytest.mark.parametrize("name", SCRIPTS)
def test_flipping_a_byte_of_the_file_makes_verification_fail(name):
    file = FILES[name]
    proven = [at for at in range(0, len(file), 61) if verify(flipped(file, at)).result is Result.PROVEN]
    assert proven == []


def test_flipping_a_byte_names_the_record():
    document, records = read_transcript(FILES["truc-french.truc"])
    before = len(MAGIC) + 4 + len(document) + sum(4 + len(pack_record(record)) for record in records[:20])
    verdict = verify(flipped(FILES["truc-french.truc"], before + 4 + 60))
    assert verdict.refutation.where == f"record {20 - 4}"


@pytest.mark.parametrize("at", range(len(MAGIC) + 4))
def test_flipping_a_byte_of_the_files_head_makes_it_unreadable(at):
    assert verify(flipped(FILES["truc-french.truc"], at)).result is Result.UNREADABLE


def test_flipping_any_byte_of_the_rule_document_is_refused_at_the_table():
    document, records = read_transcript(FILES["truc-french.truc"])
    for at in range(len(document)):
        with pytest.raises(AuditError, match="setup record 0: C5"):
            Auditor(flipped(document, at)).feed(records[0])


SETUP_RECORDS = 4  # table, two seats, match


@pytest.mark.parametrize("k", [0, 7, -1])
def test_file_that_ends_inside_a_record_is_unreadable_at_that_record(k):
    file = FILES["truc-french.truc"]
    placed = read_transcript(file).records[SETUP_RECORDS:]
    end = file.index(pack_record(placed[k])) + 10
    verdict = verify(file[:end])
    assert (verdict.result, verdict.refutation.where) == (Result.UNREADABLE, f"record {k % len(placed)}")


def test_file_that_is_no_transcript_names_no_record():
    assert verify(b"something else").refutation.where == "the file"

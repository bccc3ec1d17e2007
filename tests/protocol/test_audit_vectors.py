"""The transcripts kept in tests/vectors: made byte for byte, proven as they say, and refused with any bit changed.

One bit of every byte of the smallest is flipped here, of the others one in a while; `TRUC_EXHAUSTIVE=1` flips every bit of all.
"""

import copy
import os
import random
from collections.abc import Iterator

import pytest
from vectors.transcripts.make import FOLDER, SCRIPTS, play

from truc_protocol.audit import AuditError, Auditor, Result, verify
from truc_protocol.checks import CheckError
from truc_protocol.records import DEALT, PHASES, Record, parse
from truc_protocol.transcript import MAGIC, pack_record, read_transcript, unpack_record

FILES = {name: (FOLDER / name).read_bytes() for name in SCRIPTS}
BODIES = {name: [parse(record) for record in read_transcript(file).records] for name, file in FILES.items()}
SMALLEST = min(FILES, key=lambda name: len(FILES[name]))
OTHERS = sorted(set(FILES) - {SMALLEST})
EXHAUSTIVE = "TRUC_EXHAUSTIVE" in os.environ
APART = 41
"""Bytes from one flip to the next in all files but the smallest."""

COMES_TO = {
    "truc-french.truc": ("proven", "A", "won"),
    "truc-catalan-4.truc": ("proven", "B", "won"),
    "argentine-match.truc": ("proven", "A", "won"),
    "paulista-4-blind.truc": ("proven", "B", "won"),
    "paulista-turned.truc": ("proven", "A", "won"),
    "le-truc-newcomer.truc": ("proven", "A", "won"),
    "put-forfeit.truc": ("proven", "A", "forfeit"),
    "trut-resigned.truc": ("proven", "A", "resigned"),
    "le-truc-resigned.truc": ("proven", "A", "resigned"),
    "truc-lanes-4-forfeit.truc": ("proven", "A", "forfeit"),
    "gauderio-guests.truc": ("proven", "C", "won"),
    "uruguayo.truc": ("proven", "A", "won"),
    "venezolano.truc": ("proven", "A", "won"),
    "valencia.truc": ("proven", "A", "won"),
    "truc-lanes-incomplete.truc": ("incomplete", "B", None),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_makes_the_transcript_byte_for_byte(name):
    assert play(SCRIPTS[name]).file() == FILES[name]


@pytest.mark.parametrize("name", SCRIPTS)
def test_kept_transcript_comes_to_its_verdict(name):
    verdict = verify(FILES[name])
    assert verify(FILES[name], threads=2) == verdict
    assert (verdict.result, verdict.level, verdict.reason) == COMES_TO[name]


def test_kept_transcripts_hold_every_kind_of_record():
    held = {type(body) for bodies in BODIES.values() for body in bodies}
    assert held == {body for body, phases in PHASES[DEALT].items() if phases}


def test_kept_transcript_with_a_newcomer_names_who_sits_there_last():
    names = verify(FILES["le-truc-newcomer.truc"]).players
    assert (names[0], names[1].startswith("newcomer")) == ("player 0", True)


def test_kept_transcript_without_an_end_closes_with_an_act_that_nothing_covers():
    verdict = verify(FILES["truc-lanes-incomplete.truc"])
    assert (len(verdict.unsigned), bool(verdict.proxies)) == (1, True)


def flipped(original: bytes, bit: int) -> bytes:
    at = bit // 8
    return original[:at] + bytes([original[at] ^ 1 << bit % 8]) + original[at + 1 :]


def bits(seed: str, size: int, *, apart: int) -> Iterator[int]:
    """Yield one bit, a random one, of every byte so far apart."""
    if EXHAUSTIVE:
        yield from range(8 * size)
        return
    generator = random.Random(seed)
    for at in range(generator.randrange(apart), size, apart):
        yield 8 * at + generator.randrange(8)


def refusal(auditor: Auditor, record: Record, following: tuple[Record, ...]) -> AuditError | None:
    """Feed a changed record, and as many of the next as it takes to be refused."""
    try:
        for each in (record, *following):
            auditor.feed(each)
    except AuditError as error:
        return error
    return None


def unrefused(name: str, *, apart: int) -> Iterator[str]:
    """Flip bits of every record; yield the places that no check refuses at once."""
    document, records = read_transcript(FILES[name])
    auditor = Auditor(document)
    for number, record in enumerate(records):
        encoded = pack_record(record)
        for bit in bits(f"{name} {number}", len(encoded), apart=apart):
            try:
                changed = unpack_record(flipped(encoded, bit))
            except CheckError:
                continue
            error = refusal(copy.copy(auditor), changed, records[number + 1 :])
            if not is_refused_in_place(error, number, is_signed=record.sig != b""):
                yield f"record {number}, bit {bit}: {error}"
        auditor.feed(record)


def is_refused_in_place(error: AuditError | None, number: int, *, is_signed: bool) -> bool:
    """Tell whether the record itself was refused; a proxy is refused where the next signature does not fit."""
    if error is None:
        return False
    refused = error.refutation.setup + (error.refutation.k or 0)
    return refused == number or (refused > number and not is_signed)


def test_flipping_a_bit_of_any_byte_of_any_record_of_the_smallest_is_refused_at_that_record():
    assert list(unrefused(SMALLEST, apart=1)) == []


@pytest.mark.parametrize("name", OTHERS)
def test_flipping_a_bit_of_any_record_is_refused_at_that_record(name):
    assert list(unrefused(name, apart=APART)) == []


def frame_bits(file: bytes) -> Iterator[int]:
    """Yield the bits of a file that belong to no record and no document: its magic and its lengths."""
    document, records = read_transcript(file)
    sizes = [len(document), *(len(pack_record(record)) for record in records)]
    at = len(MAGIC)
    yield from range(8 * at)
    for size in sizes:
        yield from range(8 * at, 8 * (at + 4))
        at += 4 + size


@pytest.mark.parametrize("name", FILES)
def test_flipping_a_bit_of_the_magic_or_a_length_is_unreadable_or_refused(name):
    every = list(frame_bits(FILES[name]))
    chosen = every if EXHAUSTIVE else random.Random(name).sample(every, 5)
    results = {verify(flipped(FILES[name], bit)).result for bit in chosen}
    assert results <= {Result.UNREADABLE, Result.REFUTED}


@pytest.mark.parametrize("name", FILES)
def test_flipping_a_bit_of_the_rule_document_is_refused_at_the_table(name):
    document, records = read_transcript(FILES[name])
    for bit in bits(name, len(document), apart=APART):
        with pytest.raises(AuditError, match="setup record 0: C5"):
            Auditor(flipped(document, bit)).feed(records[0])


def test_flipping_a_bit_names_the_record():
    document, records = read_transcript(FILES["truc-french.truc"])
    before = len(MAGIC) + 4 + len(document) + sum(4 + len(pack_record(record)) for record in records[:20])
    verdict = verify(flipped(FILES["truc-french.truc"], 8 * (before + 4 + 60)))
    assert verdict.refutation.where == f"record {20 - 4}"


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

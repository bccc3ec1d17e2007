"""One bit flipped anywhere in a kept transcript, and it no longer passes: the record is refused, or the file unreadable.

The suite flips bits some way apart; with `TRUC_FUZZ=1` it flips every bit of every file (docs/fairness/threats.md, "To try it
longer").
"""

import copy
import os
from collections.abc import Iterator

import pytest
from vectors.transcripts.make import FOLDER

from truc_protocol.audit import AuditError, Auditor, Result, verify
from truc_protocol.checks import CheckError
from truc_protocol.records import Record
from truc_protocol.transcript import MAGIC, pack_record, read_transcript, unpack_record

APART = 1 if "TRUC_FUZZ" in os.environ else 331
"""Bits from one flip to the next; odd, so that every bit of a byte has its turn."""


def is_sound(file: bytes) -> bool:
    """Tell whether every record passes, be there an end or not."""
    return verify(file).result in (Result.PROVEN, Result.INCOMPLETE)


FILES = sorted(path.name for path in FOLDER.glob("*.truc") if is_sound(path.read_bytes()))


def flipped(encoded: bytes, bit: int) -> bytes:
    at, mask = bit // 8, 1 << bit % 8
    return encoded[:at] + bytes([encoded[at] ^ mask]) + encoded[at + 1 :]


def passes(auditor: Auditor, records: tuple[Record, ...]) -> bool:
    """Tell whether records pass, up to the first signed one that follows the first: a guest's act has no signature."""
    later = copy.copy(auditor)
    try:
        for at, record in enumerate(records):
            later.feed(record)
            if at and record.sig:
                return True
    except AuditError:
        return False
    return True


def unnoticed(name: str) -> Iterator[str]:
    """Flip bits of every record of a file; yield the flips that nothing refuses."""
    document, records = read_transcript((FOLDER / name).read_bytes())
    auditor, first = Auditor(document), 0
    for number, record in enumerate(records):
        encoded = pack_record(record)
        bits = range(first, 8 * len(encoded), APART)
        for bit in bits:
            try:
                changed = unpack_record(flipped(encoded, bit))
            except CheckError:
                continue
            if passes(auditor, (changed, *records[number + 1 :])):
                yield f"record {number}, bit {bit}"
        first = (bits[-1] + APART if bits else first) - 8 * len(encoded)
        auditor.feed(record)


def test_there_are_transcripts_to_flip():
    assert len(FILES) >= 2


@pytest.mark.parametrize("name", FILES)
def test_no_flipped_bit_of_a_record_passes(name):
    assert list(unnoticed(name)) == []


@pytest.mark.parametrize("name", FILES)
def test_no_flipped_bit_of_the_rule_document_passes(name):
    document, records = read_transcript((FOLDER / name).read_bytes())
    for bit in range(0, 8 * len(document), max(1, APART // 8)):
        with pytest.raises(AuditError, match="C5"):
            Auditor(flipped(document, bit)).feed(records[0])


@pytest.mark.parametrize("name", FILES)
def test_no_flipped_bit_of_a_length_or_of_the_first_line_passes(name):
    file = (FOLDER / name).read_bytes()
    document, records = read_transcript(file)
    places = [*range(len(MAGIC)), *lengths(document, records)]
    bits = [8 * place + bit for place in places for bit in range(8)]
    assert [bit for bit in bits[:: max(1, APART // 4)] if is_sound(flipped(file, bit))] == []


def lengths(document: bytes, records: tuple[Record, ...]) -> Iterator[int]:
    """Yield the places of the bytes that tell how long an item is."""
    at = len(MAGIC)
    for size in (len(document), *(len(pack_record(record)) for record in records)):
        yield from range(at, at + 4)
        at += 4 + size

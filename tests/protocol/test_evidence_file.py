"""The evidence file: what it may hold, and how it is refused."""

import pytest
from protocol.peers import Table
from rows import each_row

from truc_protocol.checks import CheckError
from truc_protocol.codec import enc
from truc_protocol.evidence_file import (
    MAGIC,
    MAX_ITEMS,
    Complaint,
    SignedRefusal,
    is_evidence,
    read_evidence,
    read_refusal,
    write_evidence,
)
from truc_protocol.records import encode
from truc_protocol.transcript import MAX_FILE, pack_item, pack_record

COMPLAINT = Complaint(b"m" * 32, 7, 1, b"s" * 32)


def refusal() -> SignedRefusal:
    table = Table()
    return read_refusal(table.dealer.refuse(table.setup.mid, b"a body", "paused"))


def test_file_is_its_magic_line_and_lengths_and_items_which_come_back():
    items = (refusal(), COMPLAINT)
    complaint = enc(["truc/1/complaint", b"m" * 32, 7, 1, b"s" * 32])
    assert write_evidence(items) == MAGIC + pack_item(pack_record(items[0].record)) + pack_item(complaint)
    assert read_evidence(write_evidence(items)) == items
    assert [item.mid for item in items] == [Table().setup.mid, b"m" * 32]
    assert read_evidence(MAGIC) == ()


def test_evidence_is_told_from_a_transcript_by_its_first_line():
    assert (is_evidence(write_evidence(())), is_evidence(Table().file())) == (True, False)


def complaints(count: int) -> list[Complaint]:
    return [Complaint(b"m" * 32, k, 1, b"s" * 32) for k in range(count)]


def test_equal_items_count_once():
    twice = MAGIC + pack_item(encode(COMPLAINT)) * 2
    assert read_evidence(twice) == (COMPLAINT,)
    assert read_evidence(write_evidence((COMPLAINT, COMPLAINT))) == (COMPLAINT,)


def test_file_of_more_items_than_it_may_have_is_unreadable_and_is_not_written():
    assert len(read_evidence(write_evidence(complaints(MAX_ITEMS)))) == MAX_ITEMS
    file = MAGIC + b"".join(pack_item(encode(each)) for each in complaints(MAX_ITEMS + 1))
    with pytest.raises(CheckError) as refused:
        read_evidence(file)
    assert (refused.value.check, refused.value.message) == ("C41", "item 256: expected at most 256 items")
    with pytest.raises(ValueError, match="expected at most 256 items of evidence, got 257"):
        write_evidence(complaints(MAX_ITEMS + 1))


def test_complaint_does_not_show_its_secret():
    assert "ssss" not in repr(COMPLAINT)


@each_row(
    "file",
    [
        MAGIC + pack_item(enc(["truc/1/complaint", b"m" * 32, 7, 1, b"short"])),  # secret too short
        MAGIC + pack_item(enc(["truc/1/complaint", b"m" * 32, 7, 1, b"s" * 32, 1])),  # a field too many
        MAGIC + pack_item(enc(["truc/1/complaint", b"m" * 32, True, 1, b"s" * 32])),  # bool for a number
        MAGIC + bytes(MAX_FILE),  # too long
    ],
)
def test_other_bytes_are_refused_as_no_evidence(file):
    with pytest.raises(CheckError) as refused:
        read_evidence(file)
    assert refused.value.check == "C41"

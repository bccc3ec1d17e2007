import struct

import pytest
from protocol.peers import Table

from truc_protocol import transcript
from truc_protocol.checks import CheckError
from truc_protocol.codec import enc
from truc_protocol.records import Record
from truc_protocol.transcript import MAGIC, item, read_transcript, unpack_record, write_transcript

TABLE = Table().to("hand")
FILE = TABLE.file()


def test_file_holds_the_document_and_every_record():
    assert read_transcript(FILE) == (TABLE.document, tuple(TABLE.records))


def test_file_is_written_one_way():
    assert write_transcript(*read_transcript(FILE)) == FILE


def test_item_is_its_length_and_its_bytes():
    assert item(b"abc") == b"\x00\x00\x00\x03abc"


def test_record_is_the_array_of_signer_body_and_signature():
    record = Record(1, b"body", b"sig")
    assert unpack_record(enc([1, b"body", b"sig"])) == record


@pytest.mark.parametrize(
    ("file", "named"),
    [
        (b"", "starts with"),
        (b"truc transcript 2\n" + FILE[len(MAGIC) :], "starts with"),
        (MAGIC, "the rule document"),
        (MAGIC + b"\x00\x00", "the rule document"),
        (MAGIC + struct.pack(">I", 9) + b"short", "the rule document"),
        (MAGIC + item(bytes(16_385)), "at most 16384"),
        (FILE + b"\x00", f"item {len(TABLE.records) + 1}"),
        (FILE[:-1], f"item {len(TABLE.records)}"),
        (MAGIC + item(b"x") + item(b"\xc1"), "item 1"),
        (MAGIC + item(b"x") + item(b""), "item 1"),
        (MAGIC + item(b"x") + item(enc([1, b"body"])), "item 1"),
        (MAGIC + item(b"x") + item(enc([True, b"body", b"sig"])), "item 1"),
        (MAGIC + item(b"x") + item(enc([1, "body", b"sig"])), "item 1"),
        (MAGIC + item(b"x") + item(bytes(70_000)), "item 1"),
        (MAGIC + struct.pack(">I", 2**32 - 1), "the rule document"),
    ],
)
def test_file_that_is_no_transcript_says_where(file, named):
    with pytest.raises(CheckError, match=named) as caught:
        read_transcript(file)
    assert caught.value.check == "C41"


def test_file_beyond_the_limit_is_refused(monkeypatch):
    monkeypatch.setattr(transcript, "MAX_FILE", len(FILE) - 1)
    with pytest.raises(CheckError, match="at most"):
        read_transcript(FILE)

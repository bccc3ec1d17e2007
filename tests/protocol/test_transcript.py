import struct

import msgpack
import pytest
from protocol.peers import Table
from rows import each_row

from truc_protocol import transcript
from truc_protocol.audit import Result, verify
from truc_protocol.checks import CheckError
from truc_protocol.transcript import MAGIC, pack_item, read_transcript

TABLE = Table().to("hand")
FILE = TABLE.file()


def test_file_holds_the_document_and_every_record():
    assert read_transcript(FILE) == (TABLE.document, tuple(TABLE.records))


def long_item(body: bytes, sig: bytes) -> bytes:
    """Return the item of a record of any size, as no encoder of ours writes it."""
    return pack_item(msgpack.packb([0, body, sig], use_bin_type=True))


def test_longest_body_fits_an_item():
    file = MAGIC + pack_item(b"x") + long_item(bytes(65_536), bytes(64))
    assert len(read_transcript(file).records[0].body) == 65_536


@each_row("body, sig", [(bytes(65_537), bytes(64)), (b"\x90", bytes(65_537)), (bytes(65_536), bytes(200))])
def test_item_that_is_longer_than_any_record_is_none(body, sig):
    verdict = verify(FILE + long_item(body, sig))
    assert (verdict.result, verdict.refutation.check, verdict.refutation.k) == (
        Result.UNREADABLE,
        "C41",
        TABLE.ledger.k,
    )


def test_long_signature_within_an_item_is_refuted():
    verdict = verify(FILE + long_item(b"\x90", bytes(65_536)))
    assert (verdict.result, verdict.refutation.check) == (Result.REFUTED, "C2")


@each_row(
    "file, named",
    [
        (b"truc transcript 2\n" + FILE[len(MAGIC) :], "starts with"),
        (MAGIC + struct.pack(">I", 9) + b"short", "the rule document"),
        (MAGIC + pack_item(bytes(16_385)), "at most 16384"),
        (FILE[:-1], f"item {len(TABLE.records)}"),
        (MAGIC + pack_item(b"x") + pack_item(b"\xc1"), "item 1"),
    ],
)
def test_file_that_is_no_transcript_says_where(file, named):
    """What else is none stands in tests/vectors/transcripts/tampered.json."""
    with pytest.raises(CheckError, match=named) as caught:
        read_transcript(file)
    assert caught.value.check == "C41"


def test_file_beyond_the_limit_is_refused(monkeypatch):
    monkeypatch.setattr(transcript, "MAX_FILE", len(FILE) - 1)
    with pytest.raises(CheckError, match="at most"):
        read_transcript(FILE)

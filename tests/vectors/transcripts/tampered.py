"""Keep a forged list of records in tampered.json, with what it comes to; what builds it need not be kept."""

from collections.abc import Sequence
from pathlib import Path

from vectors.shape import Group, add, test

from truc_protocol.audit import verify
from truc_protocol.checks import CHECKS
from truc_protocol.records import Record
from truc_protocol.transcript import pack_record, write_transcript

FILE = Path(__file__).with_name("tampered.json")


def keep(name: str, document: bytes, records: Sequence[Record], file: Path = FILE) -> None:
    """Add a forgery up to the record that is refused, as nobody reads on there."""
    verdict = verify(write_transcript(document, records))
    found = verdict.refutation
    if found is None:
        raise ValueError(f"{name}: expected a refutation, got {verdict.result}")
    refused = found.setup + (found.k or 0)
    *honest, last = (pack_record(record).hex() for record in records[: refused + 1])
    told = {"check": found.check, "record": found.k, "setup": found.in_setup, "culprit": found.culprit}
    made = test(name, str(verdict.result), found.check, keep=refused, then=[last], **told)
    add(file, [Group("list", [made], {"document": document.hex(), "items": honest})], CHECKS)

"""The transcript file: a magic line, the rule document, the records; nothing unsigned besides them.

Each item is a big-endian u32 length and its bytes. A record's item is the canonical array [signer, body, sig].
"""

import struct
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from truc_protocol.checks import CheckError
from truc_protocol.codec import EncodingError, dec, enc
from truc_protocol.documents import MAX_DOCUMENT
from truc_protocol.records import Record

MAGIC: Final = b"truc transcript 1\n"
MAX_FILE: Final = 64 * 1024 * 1024
# the longest body, with room for a signature and the heads (specification.md 12: 65,664 bytes)
MAX_RECORD: Final = 65_536 + 128
_LENGTH: Final = struct.Struct(">I")


class Transcript(NamedTuple):
    """A file's content: the rule document, then the setup's records and all others in order."""

    document: bytes
    records: tuple[Record, ...]


def file_name(mid: bytes) -> str:
    """Return the file name of a match's transcript, the same whoever writes it."""
    return f"{mid.hex()[:16]}.truc"


def pack_item(encoded: bytes) -> bytes:
    """Return one item as it stands in a file."""
    return _LENGTH.pack(len(encoded)) + encoded


def record_item(record: Record) -> bytes:
    """Return a record's item."""
    return pack_item(pack_record(record))


def pack_record(record: Record) -> bytes:
    """Return the canonical array of a record."""
    return enc([record.signer, record.body, record.sig])


def unpack_record(encoded: bytes, where: str = "record") -> Record:
    """Read a record's array.

    Raises:
        CheckError: C41.
    """
    try:
        value = dec(encoded, MAX_RECORD)
    except EncodingError as error:
        raise CheckError("C41", f"{where}: {error}") from error
    match value:
        # True passes for int in a pattern
        case [int(signer), bytes(body), bytes(sig)] if type(signer) is int:
            return Record(signer, body, sig)
        case _:
            raise CheckError("C41", f"{where}: expected [signer, body, sig]")


def write_transcript(document: bytes, records: Iterable[Record]) -> bytes:
    """Return the bytes of a transcript file."""
    return MAGIC + pack_item(document) + b"".join(record_item(record) for record in records)


def read_transcript(file: bytes) -> Transcript:
    """Read a transcript file.

    Raises:
        CheckError: C41, naming the item: not a transcript, damaged lengths, an item that is no record.
    """
    document, rest = read_document_item(file)
    return Transcript(document, tuple(read_records(file, rest)))


def read_document_item(file: bytes) -> tuple[bytes, int]:
    """Return a file's rule document, as bytes, and where its records begin.

    Raises:
        CheckError: C41.
    """
    if len(file) > MAX_FILE:
        raise CheckError("C41", f"expected at most {MAX_FILE} bytes, got {len(file)}")
    if not file.startswith(MAGIC):
        raise CheckError("C41", f"expected a file that starts with {MAGIC.decode().strip()!r}")
    document, rest = read_item(file, len(MAGIC), "the rule document")
    if len(document) > MAX_DOCUMENT:
        raise CheckError("C41", f"expected a rule document of at most {MAX_DOCUMENT} bytes")
    return document, rest


def read_records(file: bytes, at: int) -> Iterator[Record]:
    """Yield the records from place `at` of a file to its end.

    Raises:
        CheckError: C41, if what follows is no item, or no record; items are counted from the rule document, 0.
    """
    # lazily, so that each record is checked as it is read: one that fails before a torn end refutes the file,
    # which would otherwise be unreadable (specification.md 12)
    number = 1
    while at < len(file):
        where = f"item {number}"
        encoded, at = read_item(file, at, where)
        yield unpack_record(encoded, where)
        number += 1


def read_item(file: bytes, at: int, where: str) -> tuple[bytes, int]:
    """Return the item at a place of a file, and the place after it.

    Raises:
        CheckError: C41, the file ends inside it.
    """
    begin = at + _LENGTH.size
    if begin <= len(file):
        end = begin + _LENGTH.unpack(file[at:begin])[0]
        if end <= len(file):
            return file[begin:end], end
    raise CheckError("C41", f"{where}: the file ends inside it, or its length is damaged")

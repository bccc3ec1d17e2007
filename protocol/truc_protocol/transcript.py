"""The transcript file: a magic line, the rule document, the records; nothing unsigned beside them.

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
MAX_RECORD: Final = 65_536 + 128
_LENGTH: Final = struct.Struct(">I")


class Transcript(NamedTuple):
    """A file's content: the rule document, then the setup's records and all others in order."""

    document: bytes
    records: tuple[Record, ...]


def item(encoded: bytes) -> bytes:
    """Return one item as it stands in a file."""
    return _LENGTH.pack(len(encoded)) + encoded


def record_item(record: Record) -> bytes:
    """Return a record's item."""
    return item(pack_record(record))


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
        case [int(signer), bytes(body), bytes(sig)] if type(signer) is int:
            return Record(signer, body, sig)
        case _:
            raise CheckError("C41", f"{where}: expected [signer, body, sig]")


def write_transcript(document: bytes, records: Iterable[Record]) -> bytes:
    """Return the bytes of a transcript file."""
    return MAGIC + item(document) + b"".join(record_item(record) for record in records)


def read_transcript(file: bytes) -> Transcript:
    """Read a transcript file.

    Raises:
        CheckError: C41, naming the item: not a transcript, damaged lengths, an item that is no record.
    """
    if len(file) > MAX_FILE:
        raise CheckError("C41", f"expected at most {MAX_FILE} bytes, got {len(file)}")
    if not file.startswith(MAGIC):
        raise CheckError("C41", f"expected a file that starts with {MAGIC.decode().strip()!r}")
    items = _items(file)
    document = next(items, None)
    if document is None or len(document) > MAX_DOCUMENT:
        raise CheckError("C41", f"expected a rule document of at most {MAX_DOCUMENT} bytes as the first item")
    return Transcript(
        document, tuple(unpack_record(encoded, f"record {at}") for at, encoded in enumerate(items))
    )


def _items(file: bytes) -> Iterator[bytes]:
    at, count = len(MAGIC), 0
    while at < len(file):
        end = at + _LENGTH.size
        length = _LENGTH.unpack(file[at:end])[0] if end <= len(file) else None
        if length is None or end + length > len(file):
            name = f"record {count - 1}" if count else "the rule document"
            raise CheckError("C41", f"{name}: the file ends inside it, or its length is damaged")
        yield file[end : end + length]
        at, count = end + length, count + 1

"""The evidence file: what goes with a transcript to show that somebody broke the protocol.

A magic line, then items as in a transcript: refusals that the server signed, and complaints about sealed cards. It
holds nobody's own words, and nothing in it counts by itself: `audit.evidence` weighs it against the transcript of its
match.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from truc_protocol.bodies import Body, Hash, Refuse, U
from truc_protocol.checks import CheckError
from truc_protocol.codec import EncodingError
from truc_protocol.records import SERVER, Record, encode, read_body
from truc_protocol.transcript import pack_item, pack_record, read_item, unpack_record

MAGIC: Final = b"truc evidence 1\n"
MAX_ITEMS: Final = 256
"""The most items in a file. Each takes work to weigh; an honest file has a handful. So no file is longer than 64 MiB."""


class Complaint(Body, frozen=True, tag="truc/1/complaint"):
    """A seat says that its box in the deal or share at position `k` was garbled, and gives its X25519 secret to show it."""

    mid: Hash
    k: U
    seat: U
    secret: Hash

    def __repr__(self) -> str:
        # the secret opens every box of the seat in this match
        return f"Complaint(k={self.k}, seat={self.seat}, ...)"


class SignedRefusal(NamedTuple):
    """The server's word that it did not take a body: the record as it was signed, and what it says."""

    record: Record
    body: Refuse

    @property
    def mid(self) -> bytes:
        """The match it is about."""
        return self.body.mid


EvidenceItem = SignedRefusal | Complaint


def is_evidence(file: bytes) -> bool:
    """Tell whether a file claims to be an evidence file."""
    return file.startswith(MAGIC)


def write_evidence(items: Iterable[EvidenceItem]) -> bytes:
    """Return the bytes of an evidence file; equal items are written once.

    Raises:
        ValueError: There are more than a file may have.
    """
    each_once = tuple(dict.fromkeys(items))
    if len(each_once) > MAX_ITEMS:
        raise ValueError(f"expected at most {MAX_ITEMS} items of evidence, got {len(each_once)}")
    return MAGIC + b"".join(
        pack_item(pack_record(each.record) if isinstance(each, SignedRefusal) else encode(each))
        for each in each_once
    )


def read_evidence(file: bytes) -> tuple[EvidenceItem, ...]:
    """Read an evidence file; equal items count once.

    Raises:
        CheckError: C41, naming the item: not evidence, damaged lengths, an item that is neither refusal nor complaint,
            more items than a file may have.
    """
    if not is_evidence(file):
        raise CheckError("C41", f"expected a file that starts with {MAGIC.decode().strip()!r}")
    items: list[EvidenceItem] = []
    at = len(MAGIC)
    while at < len(file):
        where = f"item {len(items)}"
        # equal items count here, because the limit is on the work of reading
        if len(items) == MAX_ITEMS:
            raise CheckError("C41", f"{where}: expected at most {MAX_ITEMS} items")
        encoded, at = read_item(file, at, where)
        items.append(_read(encoded, where))
    return tuple(dict.fromkeys(items))


def _read(encoded: bytes, where: str) -> EvidenceItem:
    read = _complaint(encoded) or read_refusal(unpack_record(encoded, where))
    if read is None:
        raise CheckError("C41", f"{where}: expected a refusal of the server, or a complaint")
    return read


def _complaint(encoded: bytes) -> Complaint | None:
    try:
        return read_body(encoded, Complaint)
    except EncodingError:
        return None


def read_refusal(record: Record) -> SignedRefusal | None:
    """Return what a record refuses in a server's name, or None if it is no refusal; no signature is checked here."""
    try:
        # not by `parse`, for which a refusal is an unknown kind (C2)
        body = read_body(record.body, Refuse)
    except EncodingError:
        return None
    return SignedRefusal(record, body) if record.signer == SERVER else None

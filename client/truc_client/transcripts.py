"""A transcript file as it grows, and the file of evidence when a record fails a check.

Records are appended as they are accepted and forced to the disk at the end of every hand. After a crash the last item
may be torn: reopening cuts it off, and the server is asked for the rest.
"""

import os
from pathlib import Path
from typing import BinaryIO, NamedTuple

from truc_client.errors import HomeError
from truc_protocol.checks import CheckError
from truc_protocol.codec import pack
from truc_protocol.records import Record
from truc_protocol.transcript import MAGIC, Transcript, item, read_transcript, record_item

_LENGTH = 4


class TranscriptFile:
    """An open transcript; `records` are those in it."""

    def __init__(self, path: Path, file: BinaryIO, transcript: Transcript) -> None:
        self.path = path
        self.document = transcript.document
        self.records = list(transcript.records)
        self._file = file

    def append(self, record: Record) -> None:
        """Add a record that was accepted."""
        self._file.write(record_item(record))
        self.records.append(record)

    def sync(self) -> None:
        """Force what was appended to the disk."""
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Force everything to the disk and close; closing twice is fine."""
        if not self._file.closed:
            self.sync()
            self._file.close()


def path_of(folder: Path, mid: bytes) -> Path:
    """Return where the transcript of a match is kept."""
    return folder / f"{mid.hex()[:16]}.truc"


def create(path: Path, document: bytes) -> TranscriptFile:
    """Begin a transcript; a file that stands there is replaced."""
    try:
        file = path.open("wb")
        file.write(MAGIC + item(document))
    except OSError as error:
        raise HomeError(f"cannot write {path}: {error.strerror}") from error
    return TranscriptFile(path, file, Transcript(document, ()))


def reopen(path: Path) -> TranscriptFile | None:
    """Open a transcript to go on with it, without an item torn at its end; None if there is none worth it."""
    try:
        written = path.read_bytes()
        whole = written[: _whole(written)]
        transcript = read_transcript(whole)
        file = path.open("r+b")
    except (OSError, CheckError):
        return None
    file.truncate(len(whole))
    file.seek(len(whole))
    return TranscriptFile(path, file, transcript)


def _whole(written: bytes) -> int:
    """Return where the last complete item ends."""
    at = len(MAGIC)
    while at + _LENGTH <= len(written):
        end = at + _LENGTH + int.from_bytes(written[at : at + _LENGTH], "big")
        if end > len(written):
            break
        at = end
    return at


class Evidence(NamedTuple):
    """What shows that somebody broke the protocol: the transcript so far with the record that failed, and why."""

    check: str
    message: str
    culprit: str | None
    document: bytes
    records: tuple[Record, ...]
    other: tuple[tuple[str, bytes], ...] = ()


def keep_evidence(folder: Path, name: str, evidence: Evidence) -> Path | None:
    """Write evidence: `NAME.truc`, which `truc verify` refutes, and `NAME.evidence` with reason and further bytes."""
    transcript = folder / f"{name}.truc"
    try:
        transcript.write_bytes(MAGIC + item(evidence.document) + b"".join(map(record_item, evidence.records)))
        note = {"check": evidence.check, "message": evidence.message, "culprit": evidence.culprit}
        transcript.with_suffix(".evidence").write_bytes(pack({**note, **dict(evidence.other)}))
    except OSError:
        return None  # the failure itself is what must be told, not that the disk is full
    return transcript

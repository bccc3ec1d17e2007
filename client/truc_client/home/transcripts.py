"""A transcript file as it grows, and the files of evidence when a check fails.

Records are appended as they are accepted, and forced to the disk at the end of every hand. After a crash the last
item may be torn: reopening cuts it off, and the server is asked for the rest. A transcript that is not continued is
set aside under another name, never deleted. Evidence is named after its match. A watcher locks its file: two who
watch one match from one home have one each.
"""

import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import BinaryIO, NamedTuple

from truc_client.errors import HomeError, KeptEvidence, system_reason
from truc_client.home.home import Home, as_home_error, try_lock, write_whole
from truc_commands.files import read_bounded
from truc_protocol.audit import examine
from truc_protocol.checks import CheckError
from truc_protocol.evidence_file import EvidenceItem, write_evidence
from truc_protocol.records import Record
from truc_protocol.transcript import (
    MAGIC,
    MAX_FILE,
    Transcript,
    file_name,
    pack_item,
    read_transcript,
    record_item,
    write_transcript,
)
from truc_words import Sentence

_LENGTH = 4
_SECOND = "-second.truc"


class TranscriptFile:
    """An open transcript; `records` are the records in it."""

    def __init__(self, path: Path, file: BinaryIO, transcript: Transcript) -> None:
        self.path = path
        self.document = transcript.document
        self.records = list(transcript.records)
        self._file = file

    def append(self, record: Record) -> None:
        """Add a record that was accepted.

        Raises:
            HomeError: The disk is full.
        """
        # not forced to the disk: what a crash takes is asked for again
        try:
            self._file.write(record_item(record))
        except OSError as error:  # `as_home_error` would be two calls more for every record
            raise HomeError(
                Sentence("failures.cannot_write", path=self.path, reason=system_reason(error))
            ) from error
        self.records.append(record)

    def sync(self) -> None:
        """Force what was appended to the disk.

        Raises:
            HomeError: The disk is full.
        """
        with as_home_error("failures.cannot_write", self.path):
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Force everything to the disk and close; closing twice is fine.

        What a full disk does not take is asked for again next time; it must not hide why the table ended.
        """
        if self._file.closed:
            return
        with suppress(HomeError):
            self.sync()
        with suppress(OSError):
            self._file.close()


def path_of(folder: Path, mid: bytes) -> Path:
    """Return where the transcript of a match is kept."""
    return folder / file_name(mid)


def watched_path(folder: Path, mid: bytes) -> Path:
    """Return where to keep the transcript of a match that is watched: a file that nobody else is writing."""
    stem = f"{path_of(folder, mid).stem}-watched"
    names = (folder / f"{stem}{'' if n == 1 else f'-{n}'}.truc" for n in count(1))
    return next(path for path in names if _is_free(path))


def _is_free(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return try_lock(file.fileno())
    except OSError:
        return True  # it does not exist, or opening it will fail and say why


def create(path: Path, document: bytes, *, alone: bool = False) -> TranscriptFile:
    """Begin a transcript, replacing any file there; with `alone`, not one that another process is writing.

    Raises:
        HomeError: It cannot be written, or another process is writing it.
    """
    with as_home_error("failures.cannot_write", path):
        # not emptied by opening it: whether another process writes it only the lock will tell
        file = path.open("r+b" if path.exists() else "wb")
        if alone:
            _claim(path, file)
        file.truncate()
        file.write(MAGIC + pack_item(document))
    return TranscriptFile(path, file, Transcript(document, ()))


def _claim(path: Path, file: BinaryIO) -> None:
    if not try_lock(file.fileno()):
        file.close()
        raise HomeError(Sentence("failures.written_by_another", path=path))


def reopen(path: Path, *, alone: bool = False) -> TranscriptFile | None:
    """Open a transcript to go on with it, cutting off a torn last item; None if there is no readable one.

    Raises:
        HomeError: With `alone`, another process is writing it.
    """
    try:
        # what a crash has torn is the last item: everything before it can be gone on with
        written = read_bounded(path, MAX_FILE)
        whole = written[: _whole(written)]
        transcript = read_transcript(whole)
        file = path.open("r+b")
    except (OSError, CheckError):
        return None
    if alone:
        _claim(path, file)
    file.truncate(len(whole))
    file.seek(len(whole))
    return TranscriptFile(path, file, transcript)


def set_aside(path: Path) -> Path:
    """Rename a transcript, so that a new one can be begun; return its new path.

    Raises:
        HomeError: It cannot be renamed.
    """
    names = (path.with_name(f"{path.stem}-aside-{n}{path.suffix}") for n in count(1))
    aside = next(name for name in names if not name.exists())
    with as_home_error("failures.cannot_rename", path):
        return path.rename(aside)


def read_kept(path: Path) -> Transcript | None:
    """Return the whole items of a transcript; None if it cannot be read."""
    try:
        written = read_bounded(path, MAX_FILE)
        return read_transcript(written[: _whole(written)])
    except (OSError, CheckError):
        return None


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
    """What shows that somebody broke the protocol.

    Attributes:
        document: the rule document of both lists.
        records: the transcript so far, with the record that failed.
        second: another list of records of the same match, if there are two histories.
        items: refusals and complaints.
        name: what tells these files from others of the match.
    """

    document: bytes
    records: tuple[Record, ...]
    second: tuple[Record, ...] = ()
    items: tuple[EvidenceItem, ...] = ()
    name: str = ""


def keep_evidence(folder: Path, name: str, evidence: Evidence) -> KeptEvidence | None:
    """Write evidence: the transcript as NAME.truc, a second history as NAME-second.truc, the items as NAME.evidence."""
    written = {folder / f"{name}.truc": write_transcript(evidence.document, evidence.records)}
    if evidence.second:
        written[folder / f"{name}{_SECOND}"] = write_transcript(evidence.document, evidence.second)
    if evidence.items:
        written[folder / f"{name}.evidence"] = write_evidence(evidence.items)
    try:
        for path, content in written.items():
            write_whole(path, content)
    except OSError:
        return None  # what must be reported is the failed check, not that the disk is full
    return KeptEvidence(tuple(written), examine(tuple(written.values())).is_refuted)


def evidence_of(folder: Path, mid: bytes) -> Path | None:
    """Return a file of evidence of a match, if there is one; only the store says whether the match was stopped."""
    kept = sorted(folder.glob(f"{path_of(folder, mid).stem}-*.truc"))
    return next((path for path in kept if not path.name.endswith(_SECOND)), None)


def evidence_beside(home: Home, matches: Collection[bytes], given: Sequence[Path]) -> tuple[Path, ...]:
    """Return the evidence that a player and their bots keep of some matches, without files that are given already."""
    stems, known = {Path(file_name(mid)).stem for mid in matches}, {path.resolve() for path in given}
    found = (path for each in home.with_bots for path in sorted(each.evidence.glob("*")))
    kept = (path for path in found if path.name.partition("-")[0] in stems)
    return tuple(path for path in kept if path.resolve() not in known)

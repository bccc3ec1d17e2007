"""Verifying files: every check again, from the files alone. Nothing here needs a server, a network or the client's home.

Of many files, those that nothing ties to each other are examined apart: in as many processes as are asked for, each of
which holds the files of one part. So the time grows with the bytes, and the memory with the largest part.
"""

import errno
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from stat import S_ISREG
from time import monotonic
from typing import Final, NamedTuple

from truc_client.all_cores import OnProgress, cores, spread
from truc_client.errors import HomeError, system_reason
from truc_commands.files import read_beginning, read_bounded
from truc_protocol.audit import (
    CrossAudit,
    Finding,
    Refutation,
    Result,
    Verdict,
    verify,
)
from truc_protocol.audit.cross_audit import (
    BYTES_WITH_TIES,
    TIES_OF_TRANSCRIPT,
    ExaminedPart,
    Ties,
    examine_part,
    independent_parts,
    join_parts,
    ties,
)
from truc_protocol.evidence_file import is_evidence
from truc_protocol.ledger import Ledger
from truc_protocol.records import Record
from truc_protocol.transcript import MAX_FILE
from truc_words import Sentence

_MIN_PARALLEL_BYTES: Final = 1 << 20
"""How many bytes are worth more processes: about a second of work."""
_PROGRESS_EVERY_S: Final = 0.2
Progress = Callable[[int, int], None]
"""Is told how many bytes of the files are done, and how many there are."""


class _Source(NamedTuple):
    """A file that is named: what ties it to others, how long it is, and its content if it can be read only once."""

    path: Path
    ties: Ties
    size: int
    content: bytes | None = None


def verify_file(path: Path) -> Verdict:
    """Return the verdict on a single transcript; never raises for what is in it."""
    try:
        return verify(read_file(path), threads=cores())
    except (HomeError, OSError) as error:
        return _unreadable(why_unreadable(error))


def examine_files(
    paths: Sequence[Path], *, processes: int = 1, progress: Progress | None = None
) -> CrossAudit:
    """Examine transcripts and evidence together; never raises for their content or size.

    Raises:
        OSError: A file cannot be opened or read, or changes meanwhile; its `filename` says which.
        WorkerLostError: A process that examined files died.
    """
    sources: dict[int, _Source] = {}
    examined: list[ExaminedPart] = []
    for n, path in enumerate(paths):
        try:
            sources[n] = _source(path)
        except HomeError as error:
            examined.append(ExaminedPart({n: _unreadable(error.args[0])}))
    tied = independent_parts({n: source.ties for n, source in sources.items()})
    # the largest first, or one core would end long after the others
    tasks = sorted(({n: sources[n] for n in part} for part in tied), key=_size, reverse=True)
    counted = _WholeProgress(progress, sum(map(_size, tasks)))
    count = min(processes, len(tasks)) if counted.whole > _MIN_PARALLEL_BYTES else 1
    # where there are fewer parts than cores, the others help with the signatures of a part
    work = partial(_examine, max(1, processes // max(1, count)))
    for n, outcome in spread(work, tasks, count, counted.note):
        counted.end(n, _size(tasks[n]))
        examined.append(outcome)
    return join_parts(examined)


def _size(part: Mapping[int, _Source]) -> int:
    return sum(source.size for source in part.values())


class _WholeProgress:
    """How many bytes are done, of parts that are examined beside each other."""

    def __init__(self, progress: Progress | None, whole: int) -> None:
        self.whole = whole
        self._progress = progress
        self._ended = 0
        self._begun: dict[int, int] = {}

    def note(self, n: int, done: int) -> None:
        """Note how much of a part is done."""
        self._begun[n] = done
        if self._progress is not None:
            self._progress(self._ended + sum(self._begun.values()), self.whole)

    def end(self, n: int, size: int) -> None:
        """Note that a part is done."""
        self._ended += size
        self.note(n, 0)
        del self._begun[n]


def _source(path: Path) -> _Source:
    """Look at a file: read no more of it than it takes to know what ties it to others, if it can be read again.

    Raises:
        HomeError: It is too large.
        OSError: It cannot be read.
    """
    status = path.stat()
    # a pipe can be read once, and tells no size
    if not S_ISREG(status.st_mode):
        content = read_file(path)
        return _Source(path, ties(content), len(content), content)
    if status.st_size > MAX_FILE:
        raise _too_large(MAX_FILE)
    begun = read_beginning(path, BYTES_WITH_TIES)
    found = ties(begun)
    if len(begun) == BYTES_WITH_TIES and (is_evidence(begun) or len(found) < TIES_OF_TRANSCRIPT):
        found = ties(read_file(path))
    return _Source(path, found, status.st_size)


def _examine(threads: int, part: Mapping[int, _Source], on_progress: OnProgress) -> ExaminedPart:
    contents = {n: _content(source) for n, source in part.items()}
    return examine_part(contents, _RecordProgress(on_progress).note, threads=threads)


class _RecordProgress:
    """Says now and then how many bytes have passed."""

    def __init__(self, on_progress: OnProgress) -> None:
        self._on_progress = on_progress
        self._passed = 0
        self._told = monotonic()

    def note(self, _before: Ledger | None, record: Record, _finding: Finding) -> None:
        """Count a record."""
        self._passed += len(record.body) + len(record.sig)
        if (now := monotonic()) > self._told + _PROGRESS_EVERY_S:
            self._told = now
            self._on_progress(self._passed)


def _content(source: _Source) -> bytes:
    if source.content is not None:
        return source.content
    content = read_bounded(source.path, MAX_FILE)
    # it was changed meanwhile, and may belong with other files now
    if ties(content) != source.ties:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(source.path))
    return content


def read_file(path: Path, most: int = MAX_FILE) -> bytes:
    """Return the content of a file, which has at most the size that a transcript can have, or another.

    Raises:
        HomeError: The file is larger.
        OSError: It cannot be opened or read; `filename` says which file it is.
    """
    try:
        return read_bounded(path, most)
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise
        raise _too_large(most) from error


def _too_large(most: int) -> HomeError:
    return HomeError(Sentence("failures.too_large", most=most))


def why_unreadable(error: HomeError | OSError) -> str:
    """Return why a file cannot be read, without its name."""
    if not isinstance(error, OSError):
        return str(error)
    return system_reason(error) or Sentence("failures.unreadable")


def _unreadable(message: str) -> Verdict:
    return Verdict(Result.UNREADABLE, Refutation("C41", message, None, None, 0))

"""Verifying files: every check again, from the files alone. Nothing here needs a server, a network or the client's home."""

from collections.abc import Sequence
from pathlib import Path

from truc_client.errors import HomeError
from truc_protocol.audit import Refutation, Result, Together, TranscriptExamined, Verdict, examine, verify
from truc_protocol.transcript import MAX_FILE
from truc_words import Sentence


def verify_file(path: Path) -> Verdict:
    """Return the verdict on a single transcript; never raises for what is in it."""
    try:
        return verify(read_file(path))
    except (HomeError, OSError) as error:
        return _unreadable(trouble(error))


def examine_files(paths: Sequence[Path]) -> Together:
    """Examine transcripts and evidence together; never raises for their content or size.

    Raises:
        OSError: A file cannot be opened or read; its `filename` says which.
    """
    contents, unread = [], {}
    for n, path in enumerate(paths):
        try:
            contents.append(read_file(path))
        except HomeError as error:
            contents.append(b"")
            unread[n] = TranscriptExamined(_unreadable(str(error)))
    together = examine(contents)
    return together._replace(files=tuple(unread.get(n, file) for n, file in enumerate(together.files)))


def read_file(path: Path) -> bytes:
    """Return the content of a file, up to the size that a transcript can have.

    Raises:
        HomeError: The file is larger.
        OSError: It cannot be opened or read; `filename` says which file it is.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE + 1)  # a device reports no size, and has no end
    except OSError as error:
        error.filename = str(path)
        raise
    if len(content) > MAX_FILE:
        raise HomeError(Sentence("failures.too_large", most=MAX_FILE))
    return content


def trouble(error: HomeError | OSError) -> str:
    """Return why a file cannot be read, without its name."""
    return error.strerror or Sentence("failures.unreadable") if isinstance(error, OSError) else str(error)


def _unreadable(message: str) -> Verdict:
    return Verdict(Result.UNREADABLE, Refutation("C41", message, None, None, 0))

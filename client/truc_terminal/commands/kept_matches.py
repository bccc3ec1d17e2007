"""Which match a command is about: a file, or one of this home's by the first digits of its id.

A file comes first. A transcript has no date: the time its file was last written stands for when the match was played.
It may still be growing: then its whole items count. No earlier check is trusted: every verdict is made anew.
"""

import re
from collections.abc import Iterable
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from typing import Final, NamedTuple

from truc_client.errors import HomeError, system_reason
from truc_client.home.transcripts import read_kept
from truc_client.verifying import read_file, verify_file
from truc_protocol.audit import Verdict, verify
from truc_protocol.transcript import write_transcript
from truc_terminal.commands.output import UnusableError, unusable
from truc_terminal.commands.player import home_as_is
from truc_words import Sentence

# Digits of an id: fewer would soon mean several of somebody's matches.
_FEWEST: Final = 4
_DIGITS: Final = re.compile(rf"[0-9a-f]{{{_FEWEST},64}}")
# Anything may follow: what was set aside, and second histories, are transcripts of the match too.
_NAME: Final = re.compile(r"[0-9a-f]{16}")
_ID: Final = 16


class KeptFile(NamedTuple):
    """A transcript in a home; `match` is the first digits of its match's id, from the name of the file."""

    path: Path
    match: str
    written: datetime
    size: int


def kept_files(folder: Path) -> tuple[KeptFile, ...]:
    """Return the transcripts of a folder, newest first.

    Raises:
        HomeError: The folder cannot be read.
    """
    try:
        found = [kept_file(path) for path in folder.glob("*.truc") if _NAME.match(path.name)]
    except OSError as error:
        raise HomeError(
            Sentence("failures.cannot_read", path=error.filename or folder, reason=system_reason(error))
        ) from error
    return tuple(sorted(found, key=attrgetter("written", "match"), reverse=True))


def kept_file(path: Path) -> KeptFile:
    """Return what the name and the status of a transcript's file say."""
    status = path.stat()
    written = datetime.fromtimestamp(status.st_mtime).astimezone()
    return KeptFile(path, path.name[:_ID], written, status.st_size)


def whole_part(path: Path) -> bytes:
    """Return the whole items of a transcript that may still be growing; of any other file, its content.

    Raises:
        HomeError: It is larger than a transcript can be.
        OSError: It cannot be read.
    """
    kept = read_kept(path)
    return read_file(path) if kept is None else write_transcript(kept.document, kept.records)


def verdict_on(path: Path) -> Verdict:
    """Return the verdict on the whole items of a transcript."""
    try:
        return verify(whole_part(path))
    except (HomeError, OSError):
        return verify_file(path)


def find_transcript(folder: Path, digits: str) -> Path:
    """Return the transcript of the match whose id begins with some digits; of several transcripts, the longest.

    Raises:
        HomeError: They are no such digits, or no match, or more than one, begins with them.
    """
    files = kept_files(folder)
    match = one_match(digits, (kept.match for kept in files))
    # One may have been set aside half-way; the longest proves most.
    return max((kept for kept in files if kept.match == match), key=attrgetter("size", "written")).path


def newest_transcript(folder: Path) -> Path:
    """Return the transcript written last.

    Raises:
        HomeError: There is none.
    """
    for kept in kept_files(folder):
        return kept.path
    raise HomeError(Sentence("failures.no_transcripts", folder=folder))


def one_match(digits: str, known: Iterable[str]) -> str:
    """Return the known match that some digits mean.

    Raises:
        HomeError: They are no such digits, or mean no match or several.
    """
    wanted = digits.lower()
    if not _DIGITS.fullmatch(wanted):
        raise HomeError(Sentence("failures.digits_expected", fewest=_FEWEST, got=repr(digits)))
    # The name of a file has 16 digits of the id, and somebody may give all 64.
    fitting = sorted({match for match in known if match.startswith(wanted) or wanted.startswith(match)})
    match fitting:
        case [one]:
            return one
        case []:
            raise HomeError(Sentence("failures.no_match_begins", digits=digits))
        case _:
            raise HomeError(
                Sentence(
                    "failures.several_matches_begin",
                    n=len(fitting),
                    digits=digits,
                    matches=", ".join(fitting),
                )
            )


def own_transcripts() -> Path:
    """Return the folder of the transcripts of this home, without creating it."""
    return home_as_is().transcripts


def file_meant(text: str) -> Path:
    """Return the file that a text means.

    Raises:
        UnusableError: There is no such file, and the text does not mean exactly one match.
    """
    if _is_file(text):
        return Path(text)
    try:
        return find_transcript(own_transcripts(), text)
    except HomeError as error:
        why = Sentence("replay.no_such", why=str(error))
        raise UnusableError(Sentence("failures.cannot_read", path=text, reason=why)) from error


def transcript_meant(text: str | None) -> tuple[Path, bytes]:
    """Return the transcript that a text means, and its content; without a text, that of the newest match.

    Raises:
        UnusableError: There is none, or it cannot be read.
    """
    try:
        if text is not None and _is_file(text):
            return Path(text), read_file(Path(text))
        path = newest_transcript(own_transcripts()) if text is None else file_meant(text)
        return path, whole_part(path)
    except (HomeError, OSError) as error:
        raise unusable("cannot_read", text or Sentence("replay.newest"), error) from error


def _is_file(text: str) -> bool:
    """Tell whether there is such a file, or only reading it can tell."""
    try:
        return Path(text).exists()
    # A name that is too long, or a folder that may not be read.
    except OSError:
        return True

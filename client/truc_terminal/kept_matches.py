"""The matches of a home: its transcripts, each checked again, found by the first digits of a match's id.

A transcript has no date: the time its file was last written stands for when the match was played. No earlier check is
trusted: every verdict is made anew from the file.
"""

import re
from collections.abc import Iterable
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from typing import Final, NamedTuple

from truc_client.errors import HomeError
from truc_client.home.transcripts import read_kept
from truc_client.verifying import read_file, verify_file
from truc_protocol.audit import Verdict, verify
from truc_protocol.transcript import write_transcript
from truc_terminal.verdicts import game_name, quoted_name, side_score
from truc_words import ENGLISH, Sentence, Speech, side_name

_FEWEST: Final = 4
_DIGITS: Final = re.compile(rf"[0-9a-f]{{{_FEWEST},64}}")
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
            Sentence("failures.cannot_read", path=error.filename or folder, reason=error.strerror)
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


def checked(path: Path) -> Verdict:
    """Return the verdict on the whole items of a transcript."""
    try:
        return verify(whole_part(path))
    except (HomeError, OSError):
        return verify_file(path)


class HistoryRow(NamedTuple):
    """What a list of matches says of one match."""

    written: str
    match: str
    game: str
    verdict: str
    result: str


def row_of(kept: KeptFile, verdict: Verdict, speech: Speech = ENGLISH) -> HistoryRow:
    """Return the row of a match in a list."""
    written = kept.written.strftime("%Y-%m-%d %H:%M")
    if verdict.level is None:
        return HistoryRow(written, kept.match, "-", verdict.result.value, "-")
    game = game_name(verdict.variant, is_preset=verdict.is_preset, speech=speech)
    return HistoryRow(written, kept.match, game, verdict.result.value, _result(verdict, speech))


def _result(verdict: Verdict, speech: Speech) -> str:
    """Return who played whom, how it ended, and the scores, in the order in which the sides are named."""
    said, first = speech.catalogue.history, verdict.winner or 0
    names = [quoted_name(name, seat) for seat, name in enumerate(verdict.players)]
    scores = [side_score(games, points, speech) for games, _upper, points in verdict.score]
    return said[_ending(verdict)].format(
        one=side_name(first, names, speech),
        other=side_name(1 - first, names, speech),
        how=_how(verdict, speech),
        score=scores[first],
        rest=scores[1 - first],
    )


def _ending(verdict: Verdict) -> str:
    """Return the catalogue key for how a match ended."""
    if verdict.reason is None:
        return "no_result"
    return "no_winner" if verdict.winner is None else "beat"


def _how(verdict: Verdict, speech: Speech) -> str:
    reason = speech.reason(verdict.reason or "")
    return speech.say("history.by_ruling", reason=reason) if verdict.by_ruling else reason


def find_transcript(folder: Path, digits: str) -> Path:
    """Return the transcript of the match whose id begins with some digits; of several transcripts, the longest.

    Raises:
        HomeError: They are no such digits, or no match, or more than one, begins with them.
    """
    files = kept_files(folder)
    match = one_match(digits, (kept.match for kept in files))
    return max((kept for kept in files if kept.match == match), key=attrgetter("size", "written")).path


def newest(folder: Path) -> Path:
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

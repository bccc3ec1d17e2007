"""Which match a command is about: a file, or one of the home by the first digits of its id.

A file comes first. A transcript in the home may still be growing: then its whole items count.
"""

from pathlib import Path

from truc_client.errors import HomeError
from truc_client.verifying import read_file
from truc_terminal.commands.common import home_as_is
from truc_terminal.commands.output import UnusableError, unusable
from truc_terminal.kept_matches import find_transcript, newest, whole_part
from truc_words import Sentence


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
        path = newest(own_transcripts()) if text is None else file_meant(text)
        return path, whole_part(path)
    except (HomeError, OSError) as error:
        raise unusable("cannot_read", text or Sentence("replay.newest"), error) from error


def _is_file(text: str) -> bool:
    """Tell whether there is such a file, or only reading it can tell."""
    try:
        return Path(text).exists()
    except OSError:
        return True

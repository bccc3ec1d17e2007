"""What a failed check means to a player: what went wrong, what follows from it, and what to do.

The catalogues have one entry for each of the numbered checks; a test keeps the two in step. Who is to blame is never
said here: that is a matter of the record.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from truc_words.sentences import Sentence

_SHOW: Final = "show"
_REMEDIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("C1", "C2", "C32"), "update"),
        **dict.fromkeys(("C4", "C5", "C6", "C7"), "leave"),
        "C9": "stop",
        **dict.fromkeys(("C37", "C39", "C40"), "ask_host"),
        "C38": "login",
        "C41": "again",
        "C42": "more",
    }
)
"""By check: what to do, where it is not to show the files."""


class CheckWords(NamedTuple):
    """Three sentences for people: `wrong` says what went wrong, `means` what follows from it, `do` what to do now."""

    wrong: Sentence
    means: Sentence
    do: Sentence

    def __str__(self) -> Sentence:
        return Sentence("failures.meaning", **self._asdict())


def words_of_check(check: str) -> CheckWords:
    """Return what a failed check means to a player."""
    remedy = _REMEDIES.get(check, _SHOW)
    return CheckWords(Sentence(f"wrong.{check}"), Sentence(f"means.{check}"), Sentence(f"remedies.{remedy}"))

"""Sentences of the catalogues, of which errors are made: English for programs, any language for people.

A sentence keeps what it was made of, so that it can be told again in the language of whoever reads it; it is never
parsed back from its text. Invariant: what others wrote is only filled in, never read as a sentence.

A failed check has three: what went wrong, what follows from it, and what to do. The catalogues have one entry for each
of the numbered checks; a test keeps the two in step. Who is to blame is never said here: that is a matter of the record.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, Self

from truc_words.catalogue import catalogue

_ENGLISH: Final = "en"


class Sentence(str):
    """A text of the catalogues, in English, that can be told in any language.

    Attributes:
        key: its part of the catalogue and its name there, such as `refused.muted`.
        values: what it fills in, by name; sentences among them are told in the same language.
    """

    key: str
    values: Mapping[str, object]

    def __new__(cls, key: str, /, **values: object) -> Self:
        """Make a sentence.

        Raises:
            KeyError: No catalogue has this key, or a value that it fills in is missing.
        """
        sentence = super().__new__(cls, _filled(key, values, _ENGLISH))
        sentence.key, sentence.values = key, values
        return sentence

    def __str__(self) -> Self:
        """Return the sentence itself."""
        # str's own returns plain text: str() of an error could no longer be told in another language
        return self

    def in_language(self, lang: str, words: str = "") -> str:
        """Return it in a language, as the players of a game speak it.

        Raises:
            LanguageError: There is no such language.
        """
        return _filled(self.key, self.values, lang, words)


def in_language(text: object, lang: str, words: str = "") -> str:
    """Return a sentence in a language, as the players of a game speak it, and any other text as it is."""
    return text.in_language(lang, words) if isinstance(text, Sentence) else str(text)


def _filled(key: str, values: Mapping[str, object], lang: str, words: str = "") -> str:
    part, _, name = key.partition(".")
    said: Mapping[str, str] = getattr(catalogue(lang, words), part)
    return said[name].format(**{each: in_language(value, lang, words) for each, value in values.items()})


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

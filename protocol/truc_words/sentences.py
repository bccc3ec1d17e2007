"""Sentences of the catalogues, of which errors are made: English for programs, any language for people.

A sentence keeps what it was made of, so that it can be told again in the language of whoever reads it; it is never
parsed back from its text. Invariant: what others wrote is only filled in, never read as a sentence.
"""

from collections.abc import Mapping
from typing import Final, Self

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
        """Make a sentence; raises KeyError for a name that is in no catalogue, or that it fills in and was not given."""
        sentence = super().__new__(cls, _filled(key, values, _ENGLISH))
        sentence.key, sentence.values = key, values
        return sentence

    def __str__(self) -> Self:
        """Return the sentence itself, so that `str` of an error can still be told."""
        return self

    def told(self, lang: str) -> str:
        """Return it in a language; raises LanguageError if there is no such language."""
        return _filled(self.key, self.values, lang)


def told(text: object, lang: str) -> str:
    """Return a sentence in a language, and any other text as it is."""
    return text.told(lang) if isinstance(text, Sentence) else str(text)


def _filled(key: str, values: Mapping[str, object], lang: str) -> str:
    part, _, name = key.partition(".")
    said: Mapping[str, str] = getattr(catalogue(lang), part)
    return said[name].format(**{each: told(value, lang) for each, value in values.items()})

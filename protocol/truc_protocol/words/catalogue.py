"""The catalogues: all that is said to people, in one file for each language.

Every catalogue has the same keys and fills in the same names; a test holds them together. What a game calls by a word of its
own is not here but in its local set.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

import msgspec

LANGUAGES: Final = ("en", "ca", "es", "fr", "pt")


class LanguageError(ValueError):
    """There is no catalogue in this language; the text lists those that there are."""


class MoveWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A move or a phrase: its label, in which names are filled in, and what it means."""

    label: str
    meaning: str


class Catalogue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is said in one language."""

    name: str
    """The language, in its own words."""
    singular: tuple[int, ...]
    """The numbers that the first form of a count is for."""
    moves: Mapping[str, MoveWords]
    """By kind of move; some also by what they answer, ask for or order, `accept-redeal`, `order-low`."""
    answers: Mapping[str, str]
    """What is answered, by what an answer is to."""
    facts: Mapping[str, str]
    """A sentence for what happened, by `what`; some also by a value, `ruled-pause`."""
    ranks: Mapping[str, str]
    """A card of a rank, by the rank's name."""
    signs: Mapping[str, str]
    """What is claimed, by word of the vocabulary."""
    gestures: Mapping[str, str]
    """How it is signed, by gesture; which game signs what so stands in its local set."""
    phrases: Mapping[str, MoveWords]
    """By quick phrase."""
    reasons: Mapping[str, str]
    """Why points were scored, or how a match ended."""
    terms: Mapping[str, str]
    """Roles and things of the game."""
    counts: Mapping[str, tuple[str, str]]
    """What is counted: one, several."""
    said: Mapping[str, str]
    """Pieces of sentences."""
    lessons: Mapping[str, str]
    """What is told somebody who plays for the first time."""
    screen: Mapping[str, str]
    """The lines of a player's screen."""


@cache
def catalogue(lang: str) -> Catalogue:
    """Return the catalogue of a language.

    Raises:
        LanguageError: There is none.
    """
    if lang not in LANGUAGES:
        raise LanguageError(f"expected one of the languages {', '.join(LANGUAGES)}, got {lang!r}")
    return msgspec.convert(tomllib.loads(read_text(f"{lang}.toml")), Catalogue)


def read_text(name: str) -> str:
    """Return a file that stands beside this module."""
    return files("truc_protocol.words").joinpath(name).read_text(encoding="utf-8")

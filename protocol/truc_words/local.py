"""The local sets: the words that a game has of its own, in its own tongue, by the name of the set.

A variant names its set in `words`, which changes no rule. A house variant may name a set that is not known here; that is
empty, and the game is told in the plain words of the catalogues.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Final, Literal

import msgspec

from truc_words.catalogue import read_text


class LocalWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A game's own words."""

    tongue: str | None = None
    """The language the set is in; None if there is no set."""
    leaders: Literal["captain", "governor"] = "captain"
    """What the leaders of the two sides of a hand are."""
    next_sits: Literal["left", "right"] = "right"
    """On which side of a player the next one to play sits; only for drawing a table, nothing else depends on it."""
    moves: Mapping[str, str] = {}
    """By move line, by kind and step of the stake, or by the catalogues' keys."""
    facts: Mapping[str, str] = {}
    """A word for what happened, by the catalogues' keys."""
    reasons: Mapping[str, str] = {}
    """Why points were scored."""
    signs: Mapping[str, str] = {}
    """What is claimed, by word of the vocabulary."""
    gestures: Mapping[str, str] = {}
    """Which of the catalogues' gestures signs it, by word of the vocabulary."""
    phrases: Mapping[str, str] = {}
    """By quick phrase."""
    terms: Mapping[str, str] = {}
    """Roles and things of the game."""
    counts: Mapping[str, tuple[str, str]] = {}
    """What is counted: one, several."""
    halves: Mapping[Literal["low", "high"], tuple[str, str]] = {}
    """How points of the lower and of the upper half of a game are counted: one, several."""
    names: Mapping[str, tuple[str, ...]] = {}
    """Other names of a variant, by its name."""


PLAIN: Final = LocalWords()


@cache
def local_sets() -> Mapping[str, LocalWords]:
    """Return all sets, by name."""
    return msgspec.convert(tomllib.loads(read_text("local.toml")), dict[str, LocalWords])


def local_words(name: str) -> LocalWords:
    """Return the set called `name`, an empty one if there is none."""
    return local_sets().get(name, PLAIN)

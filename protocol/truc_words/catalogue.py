"""The catalogues: all that is said to people, in three files per language: the game and the table, all around them, and the rules.

Every catalogue has the same keys and fills in the same names; a test keeps them in step. A game's own words are in its
local set, in its own tongue. A variant names its set in `words`, which changes no rule. A house variant may name a set
that is not known here; that is empty, and the game is told in the plain words of the catalogues.

A language is not spoken alike wherever it is: what the players of a game say in place of a catalogue's words is in the
game's set too, so that a trick is *baza* in Castile and *vuelta* in Argentina.

Here it is also chosen in which language a player is spoken to.
"""

import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal, cast

import msgspec

LANGUAGES: Final = ("en", "ca", "es", "fr", "pt")


class LanguageError(ValueError):
    """There is no catalogue in this language; the text lists the languages there are."""


class MoveWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A move or a phrase: its label, in which names are filled in, and what it means."""

    label: str
    meaning: str


class Catalogue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is said in one language."""

    name: str
    """The language, in its own words."""
    singular: tuple[int, ...]
    """The numbers for which the first form of a count is used."""
    yes: tuple[str, ...]
    """What may be typed for yes, besides `y`."""
    no: tuple[str, ...]
    """What may be typed for no, besides `n`."""
    moves: Mapping[str, MoveWords]
    """By kind of move; some also by what they answer, ask for or order, such as `accept-redeal`, `order-low`."""
    typed: Mapping[str, str]
    """What a player types for a command of the table, by the English word, which is understood everywhere."""
    answers: Mapping[str, str]
    """What an answer is to, in words, by what it answers."""
    facts: Mapping[str, str]
    """A sentence for what happened, by `what`; some also by a value, such as `ruled-pause`."""
    ranks: Mapping[str, str]
    """A card of a rank, by the rank's name."""
    letters: Mapping[str, str]
    """What is written on a card of a rank, by the rank's name."""
    signs: Mapping[str, str]
    """What is claimed, by word of the vocabulary."""
    gestures: Mapping[str, str]
    """How a gesture is made, by its name; which sign a game makes with it is in its local set."""
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
    closed: Mapping[str, str]
    """Why a table was closed."""
    lessons: Mapping[str, str]
    """What a first-time player is told."""
    forbidden: Mapping[str, str]
    """Why the rules do not allow what a player wants, by the rule that it breaks."""
    screen: Mapping[str, str]
    """The lines of a player's screen."""
    asked: Mapping[str, str]
    """What a command asks, and what it says to an answer."""
    connecting: Mapping[str, str]
    """What is said while a connection is made, or made again."""
    commands: Mapping[str, str]
    """What commands print outside the screen, and what they say to those who use them wrongly."""
    listing: Mapping[str, str]
    """The list of tables."""
    verdict: Mapping[str, str]
    """What the verdict on a match says."""
    results: Mapping[str, str]
    """What a verdict is called, in one word."""
    failures: Mapping[str, str]
    """What can go wrong for a player."""
    refused: Mapping[str, str]
    """What the server refuses, by error code; `words` are its own, where they say more."""
    wrong: Mapping[str, str]
    """What went wrong, by check."""
    means: Mapping[str, str]
    """What follows from a failed check."""
    remedies: Mapping[str, str]
    """What to do after a failed check."""
    records: Mapping[str, str]
    """What a record of a transcript says, and what it binds or opens."""
    together: Mapping[str, str]
    """What several files show together, and the signatures of each seat."""
    replay: Mapping[str, str]
    """What surrounds a match that is stepped through in a terminal."""
    report: Mapping[str, str]
    """What is said on the page of a match."""
    history: Mapping[str, str]
    """What is said of the matches kept in a home."""
    ratings: Mapping[str, str]
    """What is said of how players stand at a server."""
    watching: Mapping[str, str]
    """What somebody without a seat is told, where it differs from what a player is told."""


@cache
def catalogue(lang: str, words: str = "") -> Catalogue:
    """Return the catalogue of a language, as the players of a game speak it if its set of local words is given.

    Raises:
        LanguageError: There is none.
    """
    if lang not in LANGUAGES:
        raise LanguageError(f"expected one of the languages {', '.join(LANGUAGES)}, got {lang!r}")
    instead = local_words(words).instead.get(lang, {})
    # one catalogue for all games that replace no word: each is read from two files and kept for good
    if words and not instead:
        return catalogue(lang)
    return msgspec.convert(_spoken(lang, instead), Catalogue)


_ABOUT_A_MATCH: Final = ("records", "replay", "report")
"""The parts beside those of the game's own file that tell of a match."""


def read_spoken(name: str, lang: str, words: str) -> dict[str, Any]:
    """Return the texts of a file in a language, as the players of a game with this set of local words speak it."""
    said, instead = tomllib.loads(read_text(name)), local_words(words).instead.get(lang)
    return said if not instead else cast("dict[str, Any]", _each_text(said, _swap(instead)))


def _spoken(lang: str, instead: Mapping[str, str]) -> dict[str, Any]:
    """Return the content of a language's files; what tells of a match has the words that are said instead."""
    game, around = read_files(lang)
    if not instead:
        return game | around
    # of what is around the game only these tell of a match, and are spoken as its players do
    game |= {part: around.pop(part) for part in _ABOUT_A_MATCH}
    spoken: dict[str, Any] = _each_text(game, _swap(instead))
    return around | spoken


def _swap(instead: Mapping[str, str]) -> Callable[[str], str]:
    """Return what replaces whole words of a text; a capital at the beginning stays one, and no `{name}` is a word."""
    known = {_capital(plain): _capital(own) for plain, own in instead.items()} | dict(instead)
    # the first alternative that fits is taken: a long word before the one that it begins with
    longest_first = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    # placeholders come first, so that their names are never taken for words
    wanted = re.compile(rf"\{{\w*\}}|(?<!\w)(?:{longest_first})(?!\w)")
    return lambda text: wanted.sub(lambda found: known.get(found[0], found[0]), text)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _each_text(said: Any, changed: Callable[[str], str]) -> Any:
    match said:
        case dict():
            return {key: _each_text(text, changed) for key, text in said.items()}
        case list():
            return [_each_text(text, changed) for text in said]
        case str():
            return changed(said)
        case _:
            return said


def read_files(lang: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the content of a language's files: of the game, and of what is around it."""
    game, around = (tomllib.loads(read_text(name)) for name in (f"{lang}.toml", f"around/{lang}.toml"))
    return game, around


def read_text(name: str) -> str:
    """Return the text of a file beside this module."""
    return files("truc_words").joinpath(name).read_text(encoding="utf-8")


class LocalWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A game's own words."""

    tongue: str | None = None
    """The language the set is in; None if there is no set."""
    like: str | None = None
    """The set that has what this one does not say otherwise, or as empty; not its names."""
    leaders: Literal["captain", "governor"] = "captain"
    """What the leaders of the two sides of a hand are."""
    next_sits: Literal["left", "right"] = "right"
    """On which side of a player the next one to play sits; for drawing a table, and for the page of rules."""
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
    counted: Mapping[str, Mapping[str, tuple[str, str]]] = {}
    """The same, by language."""
    halves: Mapping[Literal["low", "high"], tuple[str, str]] = {}
    """How points of the lower and of the upper half of a game are counted: one, several."""
    names: Mapping[str, tuple[str, ...]] = {}
    """Other names of a variant, by its name."""
    instead: Mapping[str, Mapping[str, str]] = {}
    """By language: words of its catalogue, and what the players of this game say instead."""


PLAIN: Final = LocalWords()


@cache
def local_sets() -> Mapping[str, LocalWords]:
    """Return all sets, by name."""
    written = tomllib.loads(read_text("local.toml"))
    whole = {name: _over(written.get(own.get("like"), {}), own) for name, own in written.items()}
    return msgspec.convert(whole, dict[str, LocalWords])


def _over(like: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a set says: its own words and, group by group, those of the set it is like, without what is empty here."""
    mixed = {**{part: said for part, said in like.items() if part != "names"}, **own}
    shared = [part for part in own if isinstance(own[part], dict) and part in like and part != "names"]
    mixed |= {part: _over(like[part], own[part]) for part in shared}
    return {part: said for part, said in mixed.items() if said != ""}


def local_words(name: str) -> LocalWords:
    """Return the set called `name`, an empty one if there is none."""
    return local_sets().get(name, PLAIN)


_LOCALE: Final = ("LC_ALL", "LC_MESSAGES", "LANG")
# a list, heeded by GNU programs unless the locale is C
_PREFERRED: Final = "LANGUAGE"
_NONE: Final = ("", "c", "posix")
_DEFAULT: Final = "en"


def chosen_language(given: str | None, environment: Mapping[str, str]) -> str:
    """Return the language given, else the first in the environment that there is a catalogue for, else English.

    Raises:
        LanguageError: There is no catalogue for the language given.
    """
    if given is not None:
        catalogue(given)
        return given
    locale = next((environment[name] for name in _LOCALE if environment.get(name)), "")
    if _language_of(locale) in _NONE:
        return _DEFAULT
    wanted = map(_language_of, [*environment.get(_PREFERRED, "").split(":"), locale])
    return next((lang for lang in wanted if lang in LANGUAGES), _DEFAULT)


def _language_of(locale: str) -> str:
    """Return the language of a locale: `ca` of `ca_ES.UTF-8@valencia`."""
    for sign in ".@_-":
        locale = locale.partition(sign)[0]
    return locale.lower()

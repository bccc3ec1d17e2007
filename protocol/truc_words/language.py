"""Which language a player is spoken to in."""

from collections.abc import Mapping
from typing import Final

from truc_words.catalogue import LANGUAGES, catalogue

_LOCALE: Final = ("LC_ALL", "LC_MESSAGES", "LANG")
_PREFERRED: Final = "LANGUAGE"  # a list, heeded by GNU programs unless the locale is C
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

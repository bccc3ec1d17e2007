"""Which language a player is spoken to in."""

from collections.abc import Mapping
from typing import Final

from truc_protocol.words.catalogue import LANGUAGES, catalogue

_VARIABLES: Final = ("LC_ALL", "LANG")
_DEFAULT: Final = "en"


def chosen_language(given: str | None, environment: Mapping[str, str]) -> str:
    """Return the language given, else that of the environment if there is a catalogue for it, else English.

    Raises:
        LanguageError: There is no catalogue for the language given.
    """
    if given is not None:
        catalogue(given)
        return given
    setting = next((environment[name] for name in _VARIABLES if environment.get(name)), "")
    lang = setting.replace("-", "_").partition("_")[0].partition(".")[0].lower()
    return lang if lang in LANGUAGES else _DEFAULT

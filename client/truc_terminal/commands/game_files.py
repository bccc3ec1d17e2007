"""Variant files given to commands: read, or refused with what is wrong."""

from pathlib import Path
from typing import Final, NamedTuple

from truc_terminal.commands.common import FailedError
from truc_words import Sentence
from truc_words.house_variants import HouseVariantError, preset_called, read_variant

VARIANT_FILE: Final = ".toml"


class Game(NamedTuple):
    """A game by its name, with how many may play it, and the text that describes it unless it is a preset."""

    name: str
    players: tuple[int, ...]
    text: str | None


def read_text(file: str) -> str:
    """Read the text of a file.

    Raises:
        FailedError: It cannot be read, or is not text.
    """
    try:
        return Path(file).read_text("utf-8")
    except OSError as error:
        raise FailedError(Sentence("failures.cannot_read", path=file, reason=error.strerror)) from error
    except UnicodeDecodeError as error:
        raise FailedError(
            Sentence("failures.cannot_read", path=file, reason=Sentence("failures.no_text"))
        ) from error


def game_called(given: str) -> Game:
    """Return a preset by its name, or the game that a file describes.

    Raises:
        FailedError: There is no such game, or the file is wrong; the message says how.
    """
    try:
        if not given.endswith(VARIANT_FILE):
            variant = preset_called(given, Sentence("failures.others_in_files"))
            return Game(variant.name, variant.players, None)
        text = read_text(given)
        variant = read_variant(text, given)
        return Game(variant.name, variant.players, text)
    except HouseVariantError as error:
        raise FailedError(str(error)) from error

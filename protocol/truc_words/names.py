"""Names of players, and other text that came from others, made fit to be shown."""

from collections.abc import Sequence
from typing import Final

from truc_words.speech import ENGLISH, Speech

_LONGEST_NAME: Final = 24


def printable(text: str) -> str:
    """Return text that came from others without what a terminal would obey."""
    return "".join(sign for sign in text if sign.isprintable())


def shown_name(name: str, seat: int) -> str:
    """Return a player's name as it may be shown: printable, short, never empty."""
    return printable(name).strip()[:_LONGEST_NAME] or f"seat {seat}"


def joined(names: Sequence[str], speech: Speech) -> str:
    """Return several names as one: the last two with a word between them, those before them with commas."""
    return speech.catalogue.said["and"].join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def side_name(side: int, players: Sequence[str], speech: Speech = ENGLISH) -> str:
    """Return how a side is called: by the names of its seats."""
    return joined(players[side::2], speech)

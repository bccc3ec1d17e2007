"""Lines wrapped between words, where what belongs together stays on one line.

That is a command that people copy, and a mark that stands apart from its word, as in the French « truc » or `joue :`.

What was typed, fit to be said again: short, and without what a terminal would obey.
"""

import re
from collections.abc import Iterable
from textwrap import wrap
from typing import Final

from rich.console import Console
from rich.text import Text

from truc_words import printable

# Commands stand behind a colon in all catalogues; two of them are parted by a semicolon.
_COMMAND: Final = re.compile(r"(?<=: )truc [^;]*")
_APART: Final = re.compile(r" (?=[;:!?»])|(?<=«) ")
_STAYS: Final = "\N{NO-BREAK SPACE}"
MOST_SAID: Final = 40
"""Characters of a typed line that are said again."""


def said_again(text: str) -> str:
    """Return what was typed in quotation marks, cut off where it is long."""
    shown = printable(text[: MOST_SAID + 1])
    return repr(shown if len(shown) <= MOST_SAID else f"{shown[:MOST_SAID]}…")


def glued(text: str) -> str:
    """Return a text in which no space is left between a word and its mark."""
    return _APART.sub(_STAYS, text)


def unglued(lines: Iterable[str]) -> list[str]:
    """Return lines of such a text with their spaces again."""
    return [line.replace(_STAYS, " ") for line in lines]


def wrapped(line: str, width: int) -> list[str]:
    """Return a line wrapped between words, with all lines but the first indented further.

    What people copy stays whole, such as a command or a link. If it is too long, the terminal folds it.
    """
    indent = " " * (len(line) - len(line.lstrip()) + 3)
    parts = wrap(
        _COMMAND.sub(lambda command: command[0].replace(" ", _STAYS), glued(line)),
        # On a terminal as narrow as the indent there would
        # be no room for a character, which textwrap refuses.
        max(len(indent) + 1, width),
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return unglued(parts) or [""]


def say(console: Console, line: str, style: str = "") -> None:
    """Print a line, wrapped between words on a terminal, which nothing in it can control."""
    told = printable(line)
    for part in wrapped(told, console.width) if console.is_terminal else [told]:
        console.print(Text(part, style=style), soft_wrap=True)

"""The characters that tables and cards are drawn with: for terminals that have many, and for those with ASCII only.

Each is one column wide, except `opened` in ASCII. Which set a terminal needs is judged by its encoding and its name,
without asking it.

Text on an output without UTF-8, which lacks some characters: those it lacks are replaced by the nearest in ASCII.
"""

import codecs
import io
import unicodedata
from typing import Final, Literal, NamedTuple, TextIO

_FEW_SIGNS: Final = ("dumb", "linux", "vt")
"""The first letters of the names of terminals that lack some suits: dumb ones, the Linux console, and the oldest."""


class Frame(NamedTuple):
    """The edges of a card: its corners in reading order, the upper and lower edge, and the left and right edge."""

    corners: tuple[str, str, str, str]
    across: str
    upright: str


class Glyphs(NamedTuple):
    """A set of characters to draw with.

    Attributes:
        frame: the frame of a card.
        taking: the frame of the card that takes the trick.
        taken_by: before such a card when cards are written in a line.
        across: a horizontal rule.
        place: the place of a card not laid yet.
        back: the filling of a card's back.
        turn: before the player who must decide.
        opened: before a commitment that was opened and checked.
        sealed: before one that is not opened yet.
        left_out: in place of what is chosen later.
        too_long: how a text that is too long ends.
    """

    frame: Frame
    taking: Frame
    taken_by: str
    across: str
    place: str
    back: str
    turn: str
    opened: str
    sealed: str
    left_out: str
    too_long: Literal["ellipsis", "crop"]


MANY: Final = Glyphs(
    frame=Frame(("╭", "╮", "╰", "╯"), "─", "│"),
    taking=Frame(("┏", "┓", "┗", "┛"), "━", "┃"),
    taken_by="★",
    across="─",
    place="·",
    back="▒",
    turn="▸",
    opened="✓",
    sealed="○",
    left_out="…",
    too_long="ellipsis",
)
ASCII: Final = Glyphs(
    frame=Frame(("+", "+", "+", "+"), "-", "|"),
    taking=Frame(("*", "*", "*", "*"), "=", "*"),
    taken_by="*",
    across="-",
    place=".",
    back="#",
    turn=">",
    opened="ok",
    sealed="-",
    left_out="...",
    too_long="crop",
)


def needs_ascii(encoding: str, terminal: str) -> bool:
    """Tell whether a terminal with this encoding and name ($TERM) needs ASCII only."""
    # Not asked of the terminal itself: some never answer.
    return not encoding.lower().startswith("utf") or terminal.startswith(_FEW_SIGNS)


_ERRORS: Final = "truc-nearest"
_NEAREST: Final = {
    "“": '"',
    "”": '"',
    "«": '"',
    "»": '"',
    "\N{LEFT SINGLE QUOTATION MARK}": "'",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "…": "...",
    "·": ".",
    "¿": "",
    "¡": "",
    "œ": "oe",
    "\N{EN DASH}": "-",
    "\N{EM DASH}": "-",
}
"""Replacements for characters that are not a letter with an accent."""


def spell_nearest(output: TextIO) -> None:
    """Make sure that printing never fails because a character is missing."""
    if isinstance(output, io.TextIOWrapper) and not output.encoding.lower().startswith("utf"):
        codecs.register_error(_ERRORS, _nearest)
        output.reconfigure(errors=_ERRORS)


def _nearest(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    # Of all that failed at once, or it would be called again for each character.
    return "".join(map(_in_ascii, error.object[error.start : error.end])), error.end


def _in_ascii(sign: str) -> str:
    """Return a character in ASCII, a letter without its accents; a question mark if nothing is near."""
    plain = unicodedata.normalize("NFKD", sign).encode("ascii", "ignore").decode()
    return _NEAREST.get(sign, plain or "?")

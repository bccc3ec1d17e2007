"""The signs that tables and cards are drawn with: for terminals that have many, and for those that have ASCII alone.

Every sign is one column wide. Which of the two a terminal needs is told by its encoding and its name, not by asking it.
"""

from typing import Final, Literal, NamedTuple

_FEW_SIGNS: Final = ("dumb", "linux", "vt")
"""How the names of terminals begin that have not even all suits: none, the console of Linux, and the oldest."""


class Glyphs(NamedTuple):
    """What is drawn with.

    Attributes:
        corners: of a card, from top left as one reads.
        across: the upper and lower edge of a card, and a rule over the width.
        upright: the left and right edge of a card.
        back: what fills the back of a card.
        turn: stands before who is to decide.
        opened: stands before a commitment that was opened and checked.
        sealed: stands before one that was not opened yet.
        too_long: how a text ends that is too long.
    """

    corners: tuple[str, str, str, str]
    across: str
    upright: str
    back: str
    turn: str
    opened: str
    sealed: str
    too_long: Literal["ellipsis", "crop"]


MANY: Final = Glyphs(("╭", "╮", "╰", "╯"), "─", "│", "▒", "▸", "✓", "○", "ellipsis")
ASCII: Final = Glyphs(("+", "+", "+", "+"), "-", "|", "#", ">", "ok", "-", "crop")


def needs_ascii(encoding: str, terminal: str) -> bool:
    """Tell whether a terminal of this encoding and name ($TERM) is to be given ASCII alone."""
    return not encoding.lower().startswith("utf") or terminal.startswith(_FEW_SIGNS)

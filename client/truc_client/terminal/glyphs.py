"""The signs that tables and cards are drawn with: for terminals that have many, and for those that have ASCII alone.

Every sign is one column wide. Which of the two a terminal needs is told by its encoding and its name, not by asking it.
"""

from typing import Final, Literal, NamedTuple

_FEW_SIGNS: Final = ("dumb", "linux", "vt")
"""How the names of terminals begin that have not even all suits: none, the console of Linux, and the oldest."""


class Frame(NamedTuple):
    """The edges of a card: its corners, from top left as one reads; the upper and lower edge; the left and right one."""

    corners: tuple[str, str, str, str]
    across: str
    upright: str


class Glyphs(NamedTuple):
    """What is drawn with.

    Attributes:
        frame: of a card.
        taking: of the card that takes the trick.
        taken_by: stands before such a card where cards are written in a line.
        across: a rule over the width.
        place: where nobody has laid a card yet.
        back: what fills the back of a card.
        turn: stands before who is to decide.
        opened: stands before a commitment that was opened and checked.
        sealed: stands before one that was not opened yet.
        too_long: how a text ends that is too long.
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
    too_long="crop",
)


def needs_ascii(encoding: str, terminal: str) -> bool:
    """Tell whether a terminal of this encoding and name ($TERM) is to be given ASCII alone."""
    return not encoding.lower().startswith("utf") or terminal.startswith(_FEW_SIGNS)

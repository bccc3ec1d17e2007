"""Draw docs/session.svg: a match as one player's screen shows it, replayed from a transcript of a game that was played.

    PYTHONPATH=tests:protocol:server:client python -m vectors.session

The screen is the client's own and the options are those of the rules, so that the picture cannot show what the client does
not. Of the player's decisions two are shown as they were asked, so that the picture stays short. A test holds it to what this
makes.
"""

import io
import re
from pathlib import Path
from typing import Final

from rich.console import Console
from vectors.retold import Decision, happenings

from truc_rules import Seat
from truc_terminal.screen.menu import menu
from truc_terminal.screen.screen import Screen

TRANSCRIPT: Final = Path(__file__).with_name("session.truc")
PICTURE: Final = Path(__file__).parents[2] / "docs" / "session.svg"
SEAT: Final = Seat(0)
_WIDTH: Final = 96
_SHOWN: Final = ("envido", "raise")
"""The kinds of decisions that are shown as they were asked; of the others only what came of them."""
_FONTS: Final = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
"""Rich names fonts on somebody else's server; the reader's own do."""


def made() -> str:
    """Return the picture."""
    console = Console(
        file=io.StringIO(),
        record=True,
        width=_WIDTH,
        force_terminal=True,
        color_system="truecolor",
        highlight=False,
        _environ={},
    )
    screen = Screen(console)
    screen.say("$ truc play", "bold")
    for happening in happenings(TRANSCRIPT, SEAT):
        if not isinstance(happening, Decision):
            screen.show(happening)
        elif happening.choice.kind in _SHOWN:
            screen.show(happening.turn)
            keys = menu(happening.turn, screen.board)
            screen.say(next(option.key for option in keys if happening.choice in option.choices))
    return _FONTS.sub("", console.export_svg(title="truc", unique_id="session"))


def text_of(picture: str) -> list[str]:
    """Return what a picture says: two versions of rich may draw the same text otherwise."""
    return re.findall(r"<text [^>]*>(.*?)</text>", picture)


if __name__ == "__main__":
    PICTURE.write_text(made(), "utf-8")

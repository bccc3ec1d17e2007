"""Draw docs/session.svg: a match as one player's screen shows it, replayed from a transcript of a game that was played.

    PYTHONPATH=tests:protocol:server:client python -m vectors.session

Screen and prompt are the client's own and the options are those of the rules, so that the picture cannot show what the
client does not. Of the player's decisions two are shown as they were asked, with the table that stands above the prompt, so
that the picture stays short. A test holds it to what this makes.
"""

import io
import re
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text
from vectors.retold import Decision, happenings

from truc_rules import Seat
from truc_terminal.screen.menu import menu
from truc_terminal.screen.picture import lines_of_keys
from truc_terminal.screen.questions import Question, folded
from truc_terminal.screen.screen import Screen

TRANSCRIPT: Final = Path(__file__).with_name("session.truc")
PICTURE: Final = Path(__file__).parents[2] / "docs" / "session.svg"
SEAT: Final = Seat(0)
_WIDTH: Final = 96
_ROWS: Final = 32
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
    asked: list[Question] = []
    screen.pose = asked.append
    screen.say("$ truc play", "bold")
    for happening in happenings(TRANSCRIPT, SEAT):
        if not isinstance(happening, Decision):
            screen.show(happening)
        elif happening.choice.kind in _SHOWN:
            screen.show(happening.turn)
            screen.offer(happening.turn)
            keys = menu(happening.turn, screen.board)
            _show_asked(
                asked[-1], next(option.key for option in keys if happening.choice in option.choices), console
            )
    return _FONTS.sub("", console.export_svg(title="truc", unique_id="session"))


def _show_asked(question: Question, typed: str, console: Console) -> None:
    """Print what a prompt shows on a terminal: the table, the options and the question, answered."""
    assert question.draw is not None
    for line in question.draw(_WIDTH, _ROWS):
        console.print(line, soft_wrap=True)
    for keys in folded(question.keys, _WIDTH, lines_of_keys(_ROWS)):
        console.print(Text("  ").join(Text.assemble((f" {key.typed} ", "bold"), key.label) for key in keys))
    console.print(Text.assemble((f"{question.text} ", "bold"), typed, "\n"))


def text_of(picture: str) -> list[str]:
    """Return what a picture says: two versions of rich may draw the same text otherwise."""
    return re.findall(r"<text [^>]*>(.*?)</text>", picture)


if __name__ == "__main__":
    PICTURE.write_text(made(), "utf-8")

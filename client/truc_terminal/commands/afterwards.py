"""What a player is told after a match: how to look at it again."""

from pathlib import Path
from typing import Final

from truc_terminal.screen.screen import Screen

_DIGITS: Final = 6
"""How many digits of a match's id are shown: enough to find it in a home, few enough for a line of 80 columns."""


def tell_commands(screen: Screen, transcript: Path) -> None:
    """Name the commands that show the match of a transcript kept in the home."""
    match = transcript.name[:_DIGITS]
    screen.note(
        "look_again", "dim", replay=f"truc replay {match}", report=f"truc report {match} -o {match}.html"
    )

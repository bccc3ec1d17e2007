"""Questions with yes or no, at a terminal or to a script."""

from typing import Final

from truc_client.terminal.person import Lines
from truc_client.terminal.screen import Screen

_YES: Final = ("y", "yes")
_NO: Final = ("n", "no")


async def asked(screen: Screen, lines: Lines, key: str, *, default: bool, **values: object) -> bool | None:
    """Ask until the answer is yes or no; an empty line is the default, the end of the input None."""
    while True:
        screen.note(key, "bold", **values)
        text = (await lines.receive()).text
        match text and text.lower():
            case None:
                return None
            case "":
                return default
            case word if word in _YES:
                return True
            case word if word in _NO:
                return False
            case _:
                screen.note("y_or_n", "red")

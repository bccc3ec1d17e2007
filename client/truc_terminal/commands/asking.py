"""Yes-or-no questions, at a terminal or to a script: in the player's language, with `y` and `n` valid in every one."""

import click

from truc_terminal.screen.person import QUIT, Lines
from truc_terminal.screen.screen import Screen
from truc_words import Sentence, catalogue, told


def meant(text: str, lang: str) -> bool | None:
    """Return whether an answer means yes; None if it means neither yes nor no."""
    words, answer = catalogue(lang), text.strip().casefold()
    if answer in ("y", *words.yes):
        return True
    return False if answer in ("n", *words.no) else None


async def asked(screen: Screen, lines: Lines, key: str, *, default: bool, **values: object) -> bool | None:
    """Ask until the answer is yes or no; an empty line means the default; None if the player leaves."""
    while True:
        screen.note(key, "bold", **values)
        text = (await lines.receive()).text
        if not text:
            return default if text is not None else None
        if text.strip().casefold() in QUIT:
            return None
        answer = meant(text, screen.lang)
        if answer is not None:
            return answer
        screen.note("y_or_n", "red")


def confirmed(question: Sentence, lang: str) -> bool:
    """Ask on standard input, before there is a screen; an empty line means no, end of input ends the command."""
    while True:
        text = click.prompt(told(question, lang), default="", show_default=False, prompt_suffix=" ", err=True)
        answer = meant(text, lang) if text else False
        if answer is not None:
            return answer
        click.echo(told(Sentence("screen.y_or_n"), lang), err=True)

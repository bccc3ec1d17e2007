"""Lines that are longer than the terminal: broken between words, but for what may be copied."""

import io

from rich.console import Console

from truc_terminal.screen.screen import Screen


def folded(text: str) -> list[str]:
    """Return what a terminal of 30 columns is given for a text."""
    out = io.StringIO()
    Screen(Console(file=out, force_terminal=True, width=30, color_system=None)).say(text)
    return out.getvalue().splitlines()


def test_line_longer_than_the_terminal_is_broken_between_words() -> None:
    assert folded("  east bets two on the best pair (“envido”)") == [
        "  east bets two on the best",
        "     pair (“envido”)",
    ]


def test_empty_line_is_a_line() -> None:
    assert folded("one\n\ntwo") == ["one", "", "two"]

"""Lines that are longer than the terminal: broken between words, but for what may be copied."""

from client.viewed import screen_of


def folded(text: str) -> list[str]:
    """Return what a terminal of 30 columns is given for a text."""
    screen, out = screen_of(terminal=True, width=30)
    screen.say(text)
    return out.getvalue().splitlines()


def test_line_longer_than_the_terminal_is_broken_between_words() -> None:
    assert folded("  east bets two on the best pair (“envido”)") == [
        "  east bets two on the best",
        "     pair (“envido”)",
    ]


def test_empty_line_is_a_line() -> None:
    assert folded("one\n\ntwo") == ["one", "", "two"]

"""Lines wrapped between words, where a mark that stands apart stays with its word."""

from client.viewed import screen_of
from rich.text import Text
from rows import each_row

from truc_terminal.screen import blocks
from truc_terminal.screen.questions import OptionKey, folded
from truc_terminal.screen.wrapping import wrapped


@each_row(
    "text, width, lines",
    [
        (
            "refuser ; l'autre camp marque 1",
            9,  # no line begins with a mark
            ["refuser ;", "   l'autre", "   camp", "   marque", "   1"],
        ),
        ("bot 1 demande 3 (« retruco »)", 19, ["bot 1 demande 3", "   (« retruco »)"]),
        ("Pour revenir : truc play localhost", 16, ["Pour revenir :", "   truc play localhost"]),
        (
            "De nou: truc replay f6364a; com a pàgina: truc report f6364a",
            30,
            ["De nou: truc replay f6364a;", "   com a pàgina:", "   truc report f6364a"],
        ),
    ],
)
def test_line_is_broken_between_words_but_for_marks_quotations_and_commands_to_copy(text, width, lines):
    assert wrapped(text, width) == lines


def test_no_line_of_an_option_begins_with_a_mark() -> None:
    label = "no quiero (refuser ; l'autre camp marque 2)"
    lines = folded((OptionKey("2", label, "decline"),), 22, 9)
    labels = [key.label for line in lines for key in line]
    assert labels == ["no quiero", "(refuser ;", "l'autre camp", "marque 2)"]


def test_no_line_of_the_picture_begins_with_a_mark() -> None:
    text = Text("bot 1 demande 3 « retruco »")
    assert [line.plain for line in blocks.wrapped(text, 17)] == ["bot 1 demande 3", "« retruco »"]


def on_a_terminal(text: str) -> list[str]:
    """Return what a terminal of 30 columns is given for a text."""
    screen, out = screen_of(terminal=True, width=30)
    screen.say(text)
    return out.getvalue().splitlines()


def test_line_longer_than_the_terminal_is_broken_between_words_and_an_empty_one_is_a_line() -> None:
    lines = ["  east bets two on the best", "     pair (“envido”)"]
    assert on_a_terminal("  east bets two on the best pair (“envido”)") == lines
    assert on_a_terminal("one\n\ntwo") == ["one", "", "two"]

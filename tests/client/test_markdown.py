"""The pages of rules and words, as they are read on a terminal."""

import pytest
from client.terminals import Terminal
from rows import each_row

from truc_rules import preset, presets
from truc_terminal.replay_model.faces import Faces
from truc_terminal.screen.markdown import rendered
from truc_words import LANGUAGES
from truc_words.rules_page import rules_page
from truc_words.words_page import words_page

SPANISH, FRENCH = (Faces(is_spanish=is_spanish, is_plain=False) for is_spanish in (True, False))
TABLE = """| raise to | players say | worth |
|---|---|---|
| 2 | *truco* | 2 |
| 3 | *retruco* | 3 |"""


@each_row(
    "line, faces, shown",
    [
        ("## The stake", SPANISH, "The stake"),
        (
            "* The seat after the dealer is *eldest*; `accept` takes it.",
            SPANISH,
            "* The seat after the dealer is eldest; accept takes it.",
        ),
        ("the [common rules](README.md#rules) and **all**", SPANISH, "the common rules and all"),
        ("12 in `o` (oros), `e` (espadas): 1e, 10o, 7.", SPANISH, "12 in ◉ (oros), † (espadas): 1†, 10◉, 7."),
        ("3 in `s` (spades): 4c, 7h, As, 7d, 3", FRENCH, "3 in ♠ (spades): 4♣, 7♥, A♠, 7♦, 3"),
        ("As soon as a card, as 7d, lies there", FRENCH, "As soon as a card, as 7♦, lies there"),
        ("in `o` (oros): 1e", Faces(is_spanish=True, is_plain=True), "in o (oros): 1e"),
    ],
)
def test_marks_are_gone_and_suits_are_those_of_the_table(line, faces, shown) -> None:
    assert [*rendered([line], faces, 80)] == [shown]


@each_row(
    "width, shown",
    [
        (80, ["raise to  players say  worth", "2         truco        2", "3         retruco      3"]),
        (20, ["* 2: truco; 2", "* 3: retruco; 3"]),
    ],
)
def test_table_is_in_columns_where_it_fits_and_else_row_by_row(width, shown) -> None:
    assert [*rendered(TABLE.splitlines(), SPANISH, width)] == shown


@each_row("name", presets())
def test_no_mark_is_left_of_any_page(name) -> None:
    variant = preset(name)
    page = "".join((rules_page(variant), *(words_page(variant, lang) for lang in LANGUAGES)))
    told = "\n".join(rendered(page.splitlines(), Faces("`o`" in page, is_plain=False), 80))
    assert [mark for mark in ("`", "|", "**", "\n#", "](") if mark in told] == []


@pytest.mark.slow
def test_help_on_a_terminal_has_no_marks(tmp_path) -> None:
    terminal = Terminal(tmp_path / "home", "--lang", "es", "--help")
    assert terminal.end() == 0
    told = " ".join(" ".join(terminal.lines).split())
    assert "Empieza con truc demo, que no necesita servidor" in told


@pytest.mark.slow
def test_rules_on_a_terminal_are_rendered(tmp_path) -> None:
    terminal = Terminal(
        tmp_path / "home", "--lang", "es", "rules", "truco-argentino", PYTHONIOENCODING="utf-8"
    )
    assert terminal.end() == 0
    told = "\n".join(terminal.lines)
    assert ("1†, 1♣, 7†, 7◉" in told, "|---" in told, "`" in told) == (True, False, False)

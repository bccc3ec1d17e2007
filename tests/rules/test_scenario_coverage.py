"""Every row, decision and point of rules.md that a scenario can prove is cited by one; a named test proves the rest."""

import ast
import re
from itertools import pairwise
from pathlib import Path

from rows import each_row

from truc_rules import TABLE_OPTIONS, presets

TESTS = Path(__file__).parents[1]
LINES = [
    line
    for path in sorted((TESTS / "scenarios").glob("*.scenario"))
    for line in path.read_text(encoding="utf-8").splitlines()
]
CITED = [cited for title, cited in pairwise(LINES) if title.startswith("scenario ")]

TRICKS = (
    *("A A", "A B A", "A B B", "A B =", "A =", "= A", "= = A"),
    *("B B", "B A B", "B A A", "B A =", "B =", "= B", "= = B", "= = ="),
)
STAKES = (
    *("Catalan", "Lanes", "Le Truc", "Le Truc by two", "Le Truc by any", "French Truc", "Sackson", "Trut"),
    *("Argentine", "Brazil", "Mineiro local", "Venezuela", "Put"),
)
ENVIDO = ("E", "R", "F", "E E", "E R", "E F", "R F", "E E R", "E E F", "E R F", "E E R F")
FLOR = (
    *("only one side", "nobody challenges", "contraflor accepted", "al resto accepted"),
    *(f"con flor me achico, to {word}" for word in ("flor", "contraflor", "al resto")),
)
CLAUSES = ((17, 9), (18, 10), (19, 10), (20, 2))
PARAGRAPHS = (
    *(f"13.{number}" for number in range(1, 38)),
    *(f"13b.{number}" for number in range(1, 19)),
    *(f"15 Test vectors {number}" for number in range(1, 16)),
    *(f"1.5 row {row}{column}" for row in TRICKS for column in ("", ", Put column")),
    *(f"1.6 row {row}" for row in STAKES),
    *(f"8.4 row {row}, {answer}" for row in ENVIDO for answer in ("quiero", "no quiero")),
    *(f"8.6 row {row}" for row in FLOR),
    *(f"{clause}.{number}" for clause, last in CLAUSES for number in range(1, last + 1)),
)

ELSEWHERE = {
    "13b.17": "protocol/test_word_catalogues.py::test_local_names_are_those_of_the_sources",
    "18.10": "protocol/test_words.py::test_game_calls_its_move_by_its_own_word",
    "19.10": "protocol/test_words.py::test_game_calls_its_move_by_its_own_word",
    "17.9": "protocol/test_word_catalogues.py::test_a_set_that_is_like_another_has_its_words_but_not_its_names",
    "13b.18": "rules/test_seat_counts.py::test_no_truc_is_offered_for_other_seats_than_the_sources_describe",
}
"""Paragraphs that no scenario can prove: labels, and games that are not offered."""


def is_cited(paragraph):
    # a row ends with its whole name, a number with its digits
    end = r"(?! ?[\w=])(?!, Put column)" if " row " in paragraph else r"(?!\w)"
    whole = re.compile(rf"(?<![\w.]){re.escape(paragraph)}{end}")
    return any(whole.search(cited) for cited in CITED)


@each_row("paragraph", [each for each in PARAGRAPHS if each not in ELSEWHERE])
def test_paragraph_is_cited_by_a_scenario(paragraph):
    assert is_cited(paragraph)


def test_a_paragraph_that_nobody_cites_is_found():
    assert not is_cited("13.38")
    assert not is_cited("1.5 row A A A")
    assert not is_cited("1.6 row Le")


@each_row("paragraph, test", ELSEWHERE.items())
def test_paragraph_without_a_scenario_has_a_test(paragraph, test):
    path, _, name = test.partition("::")
    tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
    assert paragraph in PARAGRAPHS
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_preset_has_a_scenario():
    assert {line.removeprefix("variant ") for line in LINES if line.startswith("variant ")} == set(presets())


def test_every_table_option_has_a_scenario():
    assert {line.split()[1] for line in LINES if line.startswith("rule ")} == set(TABLE_OPTIONS)

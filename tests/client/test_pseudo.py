"""The language for tests shows what stands in no catalogue."""

import pytest
from client.pseudo import LANG, bracketed, unsaid
from rows import each_row

from truc_words import Sentence, chosen_language

pytestmark = pytest.mark.usefixtures("spoken")


def test_pieces_stand_in_brackets_and_values_between_them() -> None:
    assert bracketed("{server}: no answer of {n}.") == "{server}⟦: no answer of ⟧{n}⟦.⟧"


def test_it_is_a_language_like_others() -> None:
    assert chosen_language(None, {"LANG": f"{LANG}.UTF-8"}) == LANG


def test_sentence_of_the_catalogues_has_nothing_unsaid() -> None:
    reason = Sentence("failures.nothing_answers")
    told = Sentence("failures.cannot_reach", server="host:1", reason=reason).in_language(LANG)
    assert unsaid(told, ["host:1"]) == []


def test_english_that_is_filled_in_shows() -> None:
    told = Sentence("failures.cannot_reach", server="host:1", reason="no answer").in_language(LANG)
    assert unsaid(told, ["host"]) == ["no", "answer"]


@each_row("told", ["⟦a text\nof two lines⟧ and", "⟦a long te…\nand ⟦no⟧"])
def test_text_in_brackets_may_break_over_lines_or_be_cut_off_with_its_line(told) -> None:
    assert unsaid(told) == ["and"]

"""What a failed check means to a player: every check has its words."""

import pytest
from rows import each_row

from truc_protocol.checks import CHECKS
from truc_words import LANGUAGES, catalogue, told, words_of_check


def test_every_check_has_its_words():
    words = catalogue("en")
    assert list(words.wrong) == list(words.means) == list(CHECKS)


@each_row("lang", LANGUAGES)
@each_row("check", CHECKS)
def test_words_are_three_whole_sentences(check, lang):
    for sentence in (told(words, lang) for words in words_of_check(check)):
        assert sentence[0].isupper()
        assert sentence.endswith(".")
        assert sentence.isprintable()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_two_checks_say_the_same(lang):
    assert len(set(catalogue(lang).wrong.values())) == len(CHECKS)


def test_every_remedy_is_one_for_a_check():
    assert {words_of_check(check).do.key for check in CHECKS} == {
        f"remedies.{name}" for name in catalogue("en").remedies
    }


def test_words_are_told_as_one_text():
    words = words_of_check("C19")
    assert told(str(words), "es") == " ".join(told(sentence, "es") for sentence in words)


@each_row("check", CHECKS)
def test_words_are_those_of_players(check):
    told = str(words_of_check(check)).lower()
    assert not [
        word for word in ("hash", "leaf", "ed25519", "canonical", "anchor", "msgpack") if word in told
    ]

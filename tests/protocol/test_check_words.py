"""What a failed check means to a player: every check has its words."""

import pytest

from truc_protocol.checks import CHECKS
from truc_protocol.words import check_words
from truc_protocol.words.checks import CHECK_WORDS


def test_every_check_has_its_words():
    assert list(CHECK_WORDS) == list(CHECKS)


@pytest.mark.parametrize("check", CHECKS)
def test_words_are_three_whole_sentences(check):
    for sentence in check_words(check):
        assert sentence[0].isupper()
        assert sentence.endswith(".")
        assert sentence.isprintable()


def test_no_two_checks_say_the_same():
    assert len({words.wrong for words in CHECK_WORDS.values()}) == len(CHECKS)


@pytest.mark.parametrize("check", CHECKS)
def test_words_are_those_of_players(check):
    told = str(check_words(check)).lower()
    assert not [
        word for word in ("hash", "leaf", "ed25519", "canonical", "anchor", "msgpack") if word in told
    ]

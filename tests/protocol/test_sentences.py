"""Sentences: English as they stand, any language when they are told; among them what a failed check means to a player."""

import pytest
from rows import each_row

from truc_protocol.checks import CHECKS
from truc_words import LANGUAGES, LanguageError, Sentence, catalogue, in_language, words_of_check

REASON = Sentence("failures.nothing_answers")
LOST = Sentence("failures.cannot_reach", server="host:7373", reason=REASON)


def test_sentence_is_its_text_in_english_and_told_in_a_language_with_those_that_it_fills_in() -> None:
    assert LOST == "cannot reach host:7373: no answer"
    assert in_language(LOST, "fr") == "impossible de joindre host:7373 : pas de réponse"
    assert in_language(str(ValueError(LOST)), "es") == "no se puede llegar a host:7373: sin respuesta"
    with pytest.raises(LanguageError):
        in_language(LOST, "xx")


def test_what_is_no_sentence_stays_as_it_is_also_where_it_is_filled_in() -> None:
    assert in_language("Connection reset by peer", "ca") == "Connection reset by peer"
    assert in_language(7, "ca") == "7"
    sentence = Sentence("failures.at", server="{error}", error="failures.at {0} {server}")
    assert in_language(sentence, "ca") == "{error}: failures.at {0} {server}"


@each_row(
    "key, values",
    [
        ("failures.unheard_of", {}),  # in no catalogue
        ("refused", {}),
        ("failures.at", {"server": "host:7373"}),  # which has an error to fill in too
    ],
)
def test_sentence_that_cannot_be_told_is_a_mistake(key, values) -> None:
    with pytest.raises(KeyError):
        Sentence(key, **values)


def test_every_check_has_its_words_and_every_remedy_is_one_for_a_check():
    words = catalogue("en")
    assert list(words.wrong) == list(words.means) == list(CHECKS)
    assert {words_of_check(check).do.key for check in CHECKS} == {
        f"remedies.{name}" for name in words.remedies
    }


@each_row("lang", LANGUAGES)
@each_row("check", CHECKS)
def test_words_are_three_whole_sentences(check, lang):
    words = words_of_check(check)
    told = [in_language(sentence, lang) for sentence in words]
    assert in_language(str(words), lang) == " ".join(told)
    assert list(catalogue(lang).wrong.values()).count(catalogue(lang).wrong[check]) == 1
    for sentence in told:
        assert sentence[0].isupper()
        assert sentence.endswith(".")
        assert sentence.isprintable()


@each_row("check", CHECKS)
def test_words_are_those_of_players(check):
    told = str(words_of_check(check)).lower()
    assert not [
        word for word in ("hash", "leaf", "ed25519", "canonical", "anchor", "msgpack") if word in told
    ]

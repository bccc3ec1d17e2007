"""Every language says everything, and fills in the same."""

import re
import string
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from rows import each_row

from truc_protocol.ledger.facts import RECORD_FACTS, fact_name
from truc_rules import Event, Kind, preset, presets
from truc_rules.errors import RuleKey
from truc_rules.variants.vocabulary import SIGNS
from truc_words import LANGUAGES, LanguageError, catalogue, chosen_language, local_sets, local_words
from truc_words.catalogue import read_spoken

SHOWN_OTHERWISE = {"called", "released", "hands_committed", "hand_closed", "hands_opened", "acked"}
OTHERS = [lang for lang in LANGUAGES if lang != "en"]
TONGUES = {
    "catalan": "ca",
    "lanes": "fr",
    "explained": "en",
    "french": "fr",
    "trut": "fr",
    "argentine": "es",
    "uruguayan": "es",
    "venezuelan": "es",
    "valencian": "ca",
    "gauderio": "pt",
    "paulista": "pt",
    "mineiro": "pt",
    "put": "en",
}


def said(lang: str, words: str = "") -> dict[str, str]:
    """Return everything a catalogue says, by the path of its key; with a set, as the players of its game say it."""
    rules = read_spoken(f"rules/{lang}.toml", lang, words)
    page = read_spoken(f"page/{lang}.toml", lang, words)
    return dict(_said("", {**msgspec.to_builtins(catalogue(lang, words)), "rules": rules, **page}))


def _said(path: str, value: object) -> Iterator[tuple[str, str]]:
    match value:
        case dict():
            for name, inner in value.items():
                yield from _said(f"{path}/{name}", inner)
        case list() | tuple() if path not in ("/singular", "/yes", "/no"):
            for number, inner in enumerate(value):
                yield from _said(f"{path}/{number}", inner)
        case str():
            yield path, value
        case _:
            pass


def filled_in(text: str) -> list[str]:
    """Return the names that a text fills in, each once."""
    return sorted({name for _, name, _, _ in string.Formatter().parse(text) if name is not None})


def fact_names() -> set[str]:
    return {fact_name(event.__name__) for event in get_args(Event)}


@each_row("lang", OTHERS)
def test_catalogue_has_the_keys_of_the_english_one_and_fills_in_the_same(lang) -> None:
    english, other = said("en"), said(lang)
    assert other.keys() == english.keys()
    assert [path for path, text in other.items() if filled_in(text) != filled_in(english[path])] == []


@each_row("lang", LANGUAGES)
def test_nothing_is_left_unsaid_and_everything_said_can_be_printed_in_composed_letters(lang) -> None:
    assert [path for path, text in said(lang).items() if not text.strip() or not text.isprintable()] == []
    assert not re.search("[\u0300-\u036f]", "".join(said(lang).values()))
    assert catalogue(lang).answers.keys() == {"stake", "rest", "envido", "flor", "redeal", "last-point"}


SENTENCES = (
    *("facts", "moves", "lessons", "screen", "watching", "closed"),
    *("asked", "connecting", "commands", "verdict", "failures", "refused", "wrong", "means", "remedies"),
    *(
        *("records", "together", "replay", "report", "history", "ratings", "page", "proof", "errors"),
        *("learn", "replay_page"),
    ),
)


@each_row("lang", OTHERS)
def test_sentences_are_translated(lang) -> None:
    english, other = said("en"), said(lang)
    spoken = {path for path in english if path.split("/")[1] in SENTENCES and is_sentence(english[path])}
    assert {path for path in spoken if other[path] == english[path]} == set()


def is_sentence(text: str) -> bool:
    """Tell whether a text has words beside what it fills in, and they are not those of machines."""
    words = "".join(plain for plain, _, _, _ in string.Formatter().parse(text))
    return " " in text and re.search("[a-z]{2}", words) is not None


@each_row("lang", LANGUAGES)
def test_no_answer_means_yes_and_no(lang) -> None:
    answers = (*catalogue(lang).yes, *catalogue(lang).no, "y", "n")
    assert len({*answers}) == len(answers)


@each_row("lang", LANGUAGES)
def test_questions_name_an_answer_that_is_taken(lang) -> None:
    words = catalogue(lang)
    hints = {
        path: re.search(r"\[(\w+)/(\w+)\]$", text)
        for path, text in said(lang).items()
        if re.search(r"\[.*/.*\]$", text)
    }
    assert len(hints) == 5
    for found in hints.values():
        assert found is not None
        assert found[1].lower() in (*words.yes, "y")
        assert found[2].lower() in (*words.no, "n")


def used(what: str) -> set[str]:
    """Return what the sets of words of the games have of something."""
    return {each for words in local_sets().values() for each in getattr(words, what)}


@each_row(
    "needed, words",
    lambda: [
        (set(map(str, Kind)), catalogue("en").moves),
        (fact_names(), catalogue("en").facts),
        (
            {"hand", "declined", "conceded", "game", "envido", "flor", "claim", "trut"},
            catalogue("en").reasons,
        ),
        ({card[:-1] for name in presets() for card in preset(name).pack}, catalogue("en").ranks),
        ({preset(name).words for name in presets()}, local_sets()),
        (used("names"), presets()),
    ],
)
def test_everything_that_a_game_has_to_say_has_its_words(needed, words) -> None:
    assert needed <= {*words}


@each_row(
    "needed, words",
    lambda: [
        (set(get_args(RuleKey)), catalogue("en").forbidden),
        (set(SIGNS), catalogue("en").signs),
        ({phrase for name in presets() for phrase in preset(name).phrases}, catalogue("en").phrases),
        (
            {gesture for words in local_sets().values() for gesture in words.gestures.values()},
            catalogue("en").gestures,
        ),
        (RECORD_FACTS.keys() - SHOWN_OTHERWISE, RECORD_FACTS.keys() & catalogue("en").facts.keys()),
    ],
)
def test_catalogue_has_words_for_these_and_no_others(needed, words) -> None:
    assert needed == {*words}


def test_words_for_answers_orders_and_the_remainder_belong_to_a_kind() -> None:
    special = {key for key in catalogue("en").moves if key not in set(Kind)}
    assert special == {
        *("envido-envido", "accept-redeal", "accept-last-point", "accept-flor", "accept-rest"),
        *("raise-rest", "raise-rest-same", "decline-redeal", "decline-last-point", "decline-envido"),
        *("decline-flor", "order-low", "order-high", "order-leave"),
    }


@each_row("lang", LANGUAGES)
def test_every_move_and_phrase_is_explained_in_sentences(lang) -> None:
    words = catalogue(lang)
    assert all(move.meaning.endswith(".") for move in (*words.moves.values(), *words.phrases.values()))


def test_no_sentence_is_for_an_unknown_fact() -> None:
    known = fact_names() | RECORD_FACTS.keys()
    assert {key.partition("-")[0] for key in catalogue("en").facts} <= known


@each_row("event", get_args(Event))
def test_sentence_fills_in_fields_of_its_event_only(event) -> None:
    what = fact_name(event.__name__)
    assert {*filled_in(catalogue("en").facts[what])} <= {*event._fields, "unit", "partner"}


def test_french_has_a_space_before_a_semicolon() -> None:
    assert [path for path, text in said("fr").items() if re.search("[^ ];", text)] == []


def test_each_set_is_in_the_tongue_of_its_game() -> None:
    assert {name: words.tongue for name, words in local_sets().items()} == TONGUES


INSTEAD = [(lang, name) for name, words in local_sets().items() for lang in words.instead]


@each_row("lang, name", INSTEAD)
def test_every_word_said_instead_is_one_of_the_catalogue_and_changes_no_place_to_fill_in(lang, name) -> None:
    plain, spoken = "\n".join(said(lang).values()), said(lang, name)
    words = local_words(name).instead[lang]
    assert [word for word in words if not re.search(rf"(?i)(?<!\w){re.escape(word)}(?!\w)", plain)] == []
    assert {path: filled_in(text) for path, text in spoken.items()} == {
        path: filled_in(text) for path, text in said(lang).items()
    }


@each_row("lang", LANGUAGES)
def test_a_verdict_begins_with_its_result_in_that_language(lang) -> None:
    words = catalogue(lang)
    for key in ("proven", "proven_by_ruling", "refuted", "incomplete", "unreadable"):
        assert words.verdict[key].startswith(words.results[key.partition("_")[0]])
    assert len(set(words.results.values())) == 4


@each_row("name", TONGUES)
def test_local_set_overrides_keys_of_the_catalogues_only(name) -> None:
    words, plain = local_words(name), catalogue("en")
    kinds = {key.partition(" ")[0] for key in words.moves}
    assert kinds <= plain.moves.keys()
    assert words.facts.keys() <= plain.facts.keys()
    assert words.signs.keys() | words.gestures.keys() <= plain.signs.keys()
    assert {*words.gestures.values()} <= plain.gestures.keys()
    assert words.phrases.keys() <= plain.phrases.keys()
    assert words.terms.keys() <= plain.terms.keys()
    assert words.reasons.keys() <= plain.reasons.keys()
    assert words.counts.keys() <= plain.counts.keys()


@each_row("name", ["truc-catalan", "truc-partnership", "truco-argentino"])
def test_every_sign_that_the_sources_describe_has_its_gesture(name) -> None:
    variant = preset(name)
    assert local_words(variant.words).gestures.keys() >= {*variant.signals.vocabulary}


@each_row(
    "words, variant, names",
    [
        ("lanes", "truc-lanes", ("tru", "truka")),
        ("argentine", "truco-argentino", ("sin flor", "sin jardinera")),
        ("paulista", "truco-paulista", ("ponto acima",)),
        ("mineiro", "truco-mineiro", ("manilha velha",)),
    ],
)
def test_local_names_are_those_of_the_sources(words, variant, names) -> None:
    # rules.md 13b.17
    assert local_words(words).names[variant] == names


def test_a_set_that_is_like_another_has_its_words_but_not_its_names() -> None:
    # rules.md 17.9
    argentine, own = local_words("argentine"), local_words("uruguayan")
    assert own.moves == argentine.moves
    assert (own.terms["turn-up"], own.terms["eldest"]) == ("muestra", "mano")
    assert (argentine.gestures["ace-clubs"], own.gestures.get("ace-clubs")) == ("wink", None)
    assert own.names == {}


@each_row("choose", [catalogue, lambda lang: chosen_language(lang, {"LANG": "es"})])
def test_unknown_language_is_an_error_that_lists_the_known(choose) -> None:
    with pytest.raises(LanguageError, match="expected one of the languages en, ca, es, fr, pt, got 'xx'"):
        choose("xx")


@each_row(
    "given, environment, lang",
    [
        ("pt", {"LC_ALL": "fr_FR.UTF-8"}, "pt"),
        (None, {"LC_ALL": "fr_FR.UTF-8", "LANG": "es_ES.UTF-8"}, "fr"),
        (None, {"LC_ALL": "", "LANG": "ca_ES.UTF-8"}, "ca"),
        (None, {"LANG": "es"}, "es"),
        (None, {"LANG": "pt-BR"}, "pt"),
        (None, {"LANG": "pt_BR.UTF-8"}, "pt"),
        (None, {"LC_MESSAGES": "ca_ES.UTF-8@valencia", "LANG": "es_ES.UTF-8"}, "ca"),
        (None, {"LANG": "ca@valencia"}, "ca"),
        (None, {"LC_ALL": "fr_FR.UTF-8", "LC_MESSAGES": "ca_ES.UTF-8"}, "fr"),
        (None, {"LANG": "de_DE.UTF-8", "LANGUAGE": "de:ca_ES:es"}, "ca"),
        (None, {"LANG": "es_ES.UTF-8", "LANGUAGE": "eu"}, "es"),
        (None, {"LC_ALL": "C.UTF-8", "LANGUAGE": "ca"}, "en"),
        (None, {"LC_ALL": "C", "LANG": "ca_ES.UTF-8"}, "en"),
        (None, {"LANG": "POSIX"}, "en"),
        (None, {"LANGUAGE": "ca"}, "en"),
        (None, {"LANG": "C.UTF-8"}, "en"),
        (None, {"LANG": "de_DE.UTF-8"}, "en"),
        (None, {}, "en"),
    ],
)
def test_language_is_the_one_given_or_that_of_the_environment(given, environment, lang) -> None:
    assert chosen_language(given, environment) == lang


def test_page_on_words_names_every_catalogue_and_every_set() -> None:
    page = (Path(__file__).parents[2] / "docs/clients/words.md").read_text("utf-8")
    assert [name for name in (*LANGUAGES, *TONGUES) if f"`{name}`" not in page] == []

"""The language a player is spoken to in, from the command line."""

import pytest
from client.viewed import screen_of, typing
from rows import each_row

from truc_client.home.home import master_seed, open_home
from truc_rules import preset
from truc_terminal.commands.terminal import ask_yes_or_no
from truc_words.rules_page import rules_page


def test_unknown_language_is_one_line_that_lists_the_known(truc) -> None:
    told = truc("create", "localhost:1", "truc-french", "--lang", "xx")
    expected = "truc: --lang: expected one of the languages en, ca, es, fr, pt, got 'xx'\n"
    assert (told.exit_code, told.stderr) == (1, expected)


@each_row(
    "words, told",
    [
        (("--lang", "es", "keys", "show"), "todavía no hay clave"),
        (("--lang=es", "keys", "show"), "todavía no hay clave"),
        (("--lang", "fr", "keys", "show", "--lang", "pt"), "ainda não há chave"),
        (("--lang", "es", "--help"), "--lang en|ca|es|fr|pt La lengua"),
        (("--help", "--lang", "es"), "--lang en|ca|es|fr|pt La lengua"),
        (("--lang", "fr", "play", "--help"), "La langue dans laquelle"),
    ],
)
def test_language_is_named_before_the_command_or_after_it(truc, words, told) -> None:
    assert told in " ".join(truc(*words).stdout.split())


def test_rules_are_told_in_the_readers_language_and_end_with_the_words_of_the_game(truc, monkeypatch) -> None:
    assert truc("rules", "truc-catalan").output == rules_page(preset("truc-catalan"))
    told = truc("rules", "truc-catalan", "--lang", "es").output
    assert told.startswith(rules_page(preset("truc-catalan"), "es"))
    assert "| `raise 2` | **truc**: pedir 2 |" in told
    monkeypatch.setenv("LC_ALL", "fr_FR.UTF-8")
    assert "| `raise 2` | **truc**: demander 2 |" in truc("rules", "truc-catalan").output


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"LC_ALL": "", "LC_MESSAGES": "fr_FR.UTF-8", "LANG": "es_ES.UTF-8"}, "pas encore de clé"),
        ({"LC_ALL": "", "LC_MESSAGES": "", "LANG": "pt_BR.UTF-8"}, "ainda não há chave"),
        ({"LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de:es"}, "todavía no hay clave"),
        ({"LC_ALL": "C", "LANGUAGE": "es"}, "no key yet"),
    ],
)
def test_commands_go_by_the_locale(truc, monkeypatch, variables, told) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert truc("keys", "show").stdout.startswith(told)


@each_row(
    "words, told",
    [
        (("keys", "show", "--lang", "xx"), "--lang: cal una de les llengües en, ca, es, fr, pt, no 'xx'\n"),
        (
            ("play", "127.0.0.1:1", "--guest", "--lang", "pt"),
            "truc: não é possível alcançar 127.0.0.1:1: conexão recusada\n",
        ),
        (
            ("play", "host", "--rekey", "--guest", "--lang", "fr"),
            "--rekey et --guest s'excluent : un invité n'a pas de chaîne",
        ),
    ],
)
def test_what_goes_wrong_is_told_in_the_language_asked_for_or_met(truc, monkeypatch, words, told):
    monkeypatch.setenv("LC_ALL", "ca_ES.UTF-8@valencia")
    assert told in truc(*words).stderr


@each_row(
    "lang, text, answer",
    [
        ("ca", "s", True),
        ("ca", "Sí", True),
        ("es", "si", True),
        ("fr", "oui", True),
        ("fr", "O", True),
        ("fr", "non", False),
        ("pt", "sim", True),
        ("pt", "não", False),
        ("pt", "y", True),
        ("en", "yes", True),
        ("en", "n", False),
    ],
)
async def test_questions_are_answered_in_the_own_language_and_with_y(lang, text, answer) -> None:
    assert await answered(lang, text) == (answer, 0)
    assert await answered("en", "oui", "s", "y") == (True, 2)  # those of another language are asked again


async def answered(lang: str, *typed: str) -> tuple[bool | None, int]:
    """Return what an answer means, and how often it was asked for again."""
    (_, lines), (screen, out) = typing(*typed), screen_of(lang)
    answer = await ask_yes_or_no(screen, lines, "another", default=not typed)
    return answer, out.getvalue().count("Please type")


def test_who_wants_to_be_forgotten_says_so_in_their_language(truc, tmp_path) -> None:
    master_seed(open_home(tmp_path / "home"))
    told = truc("forget", "127.0.0.1:1", "--lang", "pt")
    assert (told.exit_code, told.stderr.endswith("Interrompido.\n")) == (1, True)
    refused = truc("forget", "127.0.0.1:1", "--lang", "pt", input="não\n")
    assert (refused.exit_code, "truc: Nada foi feito." in refused.stderr) == (1, True)
    agreed = truc("forget", "127.0.0.1:1", "--lang", "pt", input="sim\n")
    assert "truc: não é possível alcançar 127.0.0.1:1: conexão recusada" in agreed.stderr

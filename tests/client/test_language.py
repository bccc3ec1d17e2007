"""The language a player is spoken to in, from the command line."""

import pytest
from click.testing import CliRunner

from truc_client.main import main
from truc_protocol.rules_page import preset_page


@pytest.fixture
def truc(tmp_path, monkeypatch):
    """Return a way to run a command in a home of its own."""
    monkeypatch.setenv("TRUC_HOME", str(tmp_path / "home"))
    return lambda *arguments: CliRunner().invoke(main, arguments)


@pytest.mark.parametrize("command", [("play", "localhost:1"), ("demo",), ("rules", "truc-catalan")])
def test_unknown_language_is_one_line_that_lists_the_known(truc, command) -> None:
    told = truc(*command, "--lang", "xx")
    expected = "truc: --lang: expected one of the languages en, ca, es, fr, pt, got 'xx'\n"
    assert (told.exit_code, told.stderr) == (1, expected)


def test_rules_end_with_the_words_of_the_game_in_another_language(truc) -> None:
    told = truc("rules", "truc-catalan", "--lang", "es").output
    assert told.startswith(preset_page("truc-catalan"))
    assert "| `raise 2` | **truc**: pedir 2 |" in told


def test_rules_go_by_the_language_of_the_environment(truc, monkeypatch) -> None:
    monkeypatch.setenv("LC_ALL", "fr_FR.UTF-8")
    assert "| `raise 2` | **truc**: demander 2 |" in truc("rules", "truc-catalan").output


def test_rules_in_english_are_the_page_alone(truc) -> None:
    assert truc("rules", "truc-catalan").output == preset_page("truc-catalan")


@pytest.mark.slow
def test_demo_speaks_the_language_that_was_asked_for(truc) -> None:
    told = truc("demo", "--variant", "truc-french", "--style", "careful", "--lang", "ca")
    assert told.exit_code == 0
    assert "Comença una partida de truc-french" in told.output

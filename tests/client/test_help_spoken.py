"""`--help`, usage errors and what stands in their files: every text of every command, in every language."""

import gettext
import re
from collections.abc import Iterator

import click
import pytest
from client.running import truc
from rows import each_row

from truc_commands.program import paragraphs
from truc_terminal.commands import helping
from truc_terminal.commands.helping import Help, click_in, help_in
from truc_terminal.main import main
from truc_words import LANGUAGES

USAGE = {"ca": "Ús: ", "es": "Uso: ", "fr": "Usage : ", "pt": "Uso: "}
OTHERS = [lang for lang in LANGUAGES if lang != "en"]
KEPT = re.compile(r"`[^`]+`|--?[a-z]+|\$[A-Z_]+|\b[A-Z]{4,}\b|\b[a-z]+://|[<>~]")
"""What a text has in common with its translation: commands, options, placeholders, addresses."""


def commands(command: click.Command, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    for name, inner in command.commands.items() if isinstance(command, click.Group) else ():
        yield from commands(inner, *path, name)


def texts() -> set[str]:
    """Return every text that the commands have themselves."""
    found = set()
    for _, command in commands(main):
        found |= {*paragraphs(command.help), *paragraphs(command.short_help)}
        options = (param for param in command.params if isinstance(param, click.Option))
        found |= {" ".join((option.help or "").split()) for option in options}
    return found - {""}


def bracketed(said: dict[str, object]) -> dict[str, object]:
    return {
        text: f"⟦{text}⟧" if isinstance(known, str) else (f"⟦{text}⟧",) * 2 for text, known in said.items()
    }


@pytest.fixture
def made_up(monkeypatch) -> None:
    """Let all that can be translated come in brackets."""
    known = help_in("es")
    said = Help(bracketed(known.commands), bracketed(known.manual), bracketed(known.click))
    monkeypatch.setattr(helping, "help_in", lambda _lang: said)


def outside(told: str) -> list[str]:
    before = None
    while before != told:
        before, told = told, re.sub("⟦[^⟦⟧]*⟧", " ", told)
    return re.findall(r"[^\W\d_]{2,}", told)


@each_row("lang", OTHERS)
def test_every_text_of_a_command_is_translated_and_no_other(lang) -> None:
    said = help_in(lang)
    assert said.commands.keys() ^ texts() == set()
    assert [text for text, told in said.commands.items() if text == told or not told.strip()] == []
    assert said.click.keys() == help_in("ca").click.keys()
    assert said.manual.keys() == help_in("ca").manual.keys()


@each_row("lang", OTHERS)
def test_translation_has_the_commands_options_and_placeholders_of_its_text(lang) -> None:
    said = help_in(lang).commands
    wrong = {told for text, told in said.items() if {*KEPT.findall(text)} - {*KEPT.findall(told)}}
    assert wrong == set()


@each_row("lang", OTHERS)
def test_translation_of_click_fills_in_nothing_that_it_does_not_give(lang) -> None:
    def filled(text: object) -> set[str]:
        return {*re.findall(r"\{(\w+)", str(text))}

    assert [text for text, told in help_in(lang).click.items() if not filled(told) <= given(text)] == []


def given(text: str) -> set[str]:
    """Return what click fills in: of what it counts also what the second text has."""
    counted = {"possibilities"} if "possibility" in text else {"nargs"} if "requires" in text else set()
    return {*re.findall(r"\{(\w+)", text)} | counted | ({"choices"} if "choice}" in text else set())


@each_row("path, command", [*commands(main)])
def test_help_says_nothing_that_is_not_translated(made_up, path, command) -> None:
    told = truc(*path, "--help").output
    assert "`" not in told
    asked = helping.translated(command, "en")  # click keeps in a command the help that it was first asked for
    context = click.Context(asked)
    names = [row[0] for param in asked.get_params(context) if (row := param.get_help_record(context))]
    usage = " ".join(["truc", *path, *asked.collect_usage_pieces(context), *names])
    known = {*re.findall(r"\w+", usage), *getattr(command, "commands", ())}
    told = re.sub(r"⟦[^⟦⟧\n]*\.\.\.$", " ", told, flags=re.MULTILINE)  # cut short in a list of commands
    assert [word for word in outside(told) if word not in known and not word.isupper()] == []


@each_row(
    "words, data",
    [
        (("rply",), {"truc", "rply", "play", "replay"}),
        (("replay", "--frob"), {"truc", "replay", "frob"}),
        (("leaderboard",), {"truc", "leaderboard"}),
        (("leaderboard", "a", "b", "--top", "0"), {"truc", "leaderboard", "top"}),
        (("leaderboard", "a", "b", "--top", "x"), {"truc", "leaderboard", "top"}),
        (("replay", "--hand"), {"hand"}),
        (("replay", "--plain=yes"), {"plain"}),
        (("keys", "show", "xx", "yy"), {"truc", "keys", "show", "xx", "yy"}),
        (("completion",), {"truc", "completion", "bash", "zsh", "fish"}),
        (("completion", "ksh"), {"truc", "completion", "bash", "zsh", "fish", "ksh"}),
    ],
)
def test_wrong_usage_is_told_in_the_language_too(made_up, words, data) -> None:
    told = truc(*words)
    left = {word for word in outside(told.stderr) if not word.isupper()}  # placeholders
    assert (told.exit_code, left - data) == (2, set())
    assert "⟦" in told.stderr


@each_row(
    "asked, locale, lang, heading",
    [
        *((("replay",), f"{lang}_XX.UTF-8", lang, f"{said}truc replay") for lang, said in USAGE.items()),
        (("replay",), "C", "en", "Usage: truc replay"),
        (("replay", "--lang", "pt"), "fr_FR.UTF-8", "pt", "Uso: truc replay"),
        (("replay", "--lang=pt"), "fr_FR.UTF-8", "pt", "Uso: truc replay"),
    ],
)
def test_help_goes_by_the_command_line_and_then_by_the_locale(asked, locale, lang, heading) -> None:
    told = truc(*asked, "--help", env={"LC_ALL": locale}).output
    first, *_ = paragraphs(main.commands["replay"].help)
    assert told.startswith(heading)
    assert help_in(lang).commands.get(first, first) in told


def test_click_speaks_as_before_when_a_command_is_done() -> None:
    before = gettext.gettext("Usage:"), gettext.dgettext, gettext.dngettext
    with click_in("fr"):
        assert gettext.gettext("Usage:") == "Usage :"
    assert (gettext.gettext("Usage:"), gettext.dgettext, gettext.dngettext) == before

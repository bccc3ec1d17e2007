"""Which match a command is about: a file, one of the home by the first digits of its id, or the newest."""

import re
import shutil
from pathlib import Path

import pytest
from client.running import truc
from client.viewed import FRENCH, screen_of
from rows import each_row

from truc_client.home.home import open_home
from truc_terminal.commands.terminal import tell_commands
from truc_words import LANGUAGES


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("TRUC_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


COMMANDS = ("show", "verify", "report", "replay")


@pytest.fixture
def kept(home) -> Path:
    """Return the transcript of the one match in the home."""
    return Path(shutil.copy(FRENCH, open_home(home).transcripts / "495bf62a608386d7.truc"))


@each_row("command", COMMANDS)
def test_match_of_the_home_is_found_by_its_first_digits_and_the_newest_needs_no_name(kept, command) -> None:
    by_file, by_digits = truc(command, kept), truc(command, "495BF62A")
    assert (by_digits.exit_code, by_digits.output) == (0, by_file.output)
    assert "PROVEN" in by_digits.output
    assert command == "verify" or truc(command).output == by_digits.output


@each_row("command", COMMANDS)
def test_what_is_neither_file_nor_match_is_told_and_no_home_is_made(command, home) -> None:
    for text, why in (
        ("beef", "No such file; no match begins with beef; `truc history` lists them"),
        (
            "no.truc",
            "No such file; expected the first 4 or more digits of a match's id, 0-9 and a-f, got 'no.truc'",
        ),
        ("12", "No such file; expected the first 4 or more digits of a match's id"),
    ):
        told = truc(command, text)
        assert (told.exit_code, told.stderr.startswith(f"truc: cannot read {text}: {why}")) == (2, True)
    assert command == "verify" or "there is no transcript in" in truc(command).stderr
    assert not home.exists()


def test_page_of_a_match_is_named_after_it_and_a_file_comes_before_a_match(kept) -> None:
    assert truc("report", "495b").stdout.startswith("495bf62a608386d7.html: PROVEN")
    Path("495bf62a").write_bytes(b"nothing")
    assert truc("verify", "495bf62a").exit_code == 2


@each_row("lang", LANGUAGES)
def test_commands_that_show_a_match_stand_on_one_line_and_find_it(lang, home) -> None:
    kept = open_home(home).transcripts / "495bf62a608386d7-watched.truc"
    shutil.copy(FRENCH, kept)
    screen, out = screen_of(lang, width=400)
    tell_commands(screen, kept)
    (line,) = out.getvalue().splitlines()
    assert len(line) < 80
    command = re.search(r"truc (report \w+ -o [\w.]+)", line)[1].split()
    assert truc(*command).stdout.startswith("495bf6.html: PROVEN")

"""What a shell is told when somebody presses the tab key: asked as its script asks."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from truc_client.home import open_home
from truc_client.main import main
from truc_client.store import Pin, Store
from truc_protocol.rules_page import games
from truc_protocol.setup import Opts
from truc_protocol.words import LANGUAGES


def completed(*arguments: str) -> list[str]:
    """Return what the last argument may become."""
    found = ShellComplete(main, {}, "truc", "_TRUC_COMPLETE").get_completions(
        list(arguments[:-1]), arguments[-1]
    )
    return [item.value for item in found if item.type == "plain"]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("TRUC_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_every_command_is_completed() -> None:
    assert completed("") == sorted(main.commands)


@pytest.mark.parametrize("command", [("demo", "--variant"), ("bot", "--create"), ("rules",)])
def test_games_are_completed(command) -> None:
    assert completed(*command, "") == list(games())


def test_file_may_stand_where_a_game_may() -> None:
    found = ShellComplete(main, {}, "truc", "_TRUC_COMPLETE").get_completions(["rules"], "club")
    assert [(item.type, item.value) for item in found] == [("file", "club")]


def test_languages_are_completed() -> None:
    assert completed("play", "--lang", "") == list(LANGUAGES)


def test_table_options_are_completed_up_to_their_value() -> None:
    assert completed("play", "--option", "gone") == ["gone=", "gone_after="]
    assert {f"{name}=" for name in (*Opts._fields, "target", "match")} <= {*completed("play", "--option", "")}


def test_known_servers_are_completed(home) -> None:
    store = Store(open_home(home).state)
    store.keep_pin("cards.example:7373", Pin(bytes(32), bytes(32), 0))
    store.close()
    assert completed("play", "car") == ["cards.example:7373"]
    assert completed("keys", "forget", "") == ["cards.example:7373"]


def test_home_that_does_not_exist_is_not_made(home) -> None:
    assert completed("play", "") == []
    assert not home.exists()


@pytest.mark.parametrize(
    ("shell", "mark"),
    [("bash", "complete -o nosort"), ("zsh", "#compdef truc"), ("fish", "complete --no-files")],
)
def test_script_is_printed_for_each_shell(shell, mark) -> None:
    told = CliRunner().invoke(main, ["completion", shell])
    assert (told.exit_code, mark in told.output) == (0, True)


def test_unknown_shell_is_told_which_are_known() -> None:
    told = CliRunner().invoke(main, ["completion", "csh"])
    assert (told.exit_code, "'bash', 'zsh', 'fish'" in told.stderr) == (2, True)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_by_the_script(tmp_path) -> None:
    truc = tmp_path / "truc"
    truc.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m truc_client "$@"\n')
    truc.chmod(0o755)
    script = (
        'eval "$(truc completion bash)"; COMP_WORDS=(truc demo --variant truc-p); COMP_CWORD=3;'
        ' _truc_completion truc; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    told = subprocess.run(
        ["bash", "--norc", "-c", script],
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=40,
        check=False,
    )
    assert (told.stdout.split(), told.stderr) == (["truc-partnership"], "")

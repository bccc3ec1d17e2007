"""What a shell is told when somebody presses the tab key: asked as its script asks."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from client.playing import know
from client.running import truc
from client.terminals import Terminal

from truc_client.home.home import open_home
from truc_protocol.setup import Opts
from truc_rules import presets
from truc_terminal.main import main
from truc_words import LANGUAGES


def completed(*arguments: str) -> list[str]:
    """Return what the last argument may become."""
    *before, last = arguments
    found = ShellComplete(main, {}, "truc", "_TRUC_COMPLETE").get_completions(before, last)
    return [item.value for item in found if item.type == "plain"]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("TRUC_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_games_and_languages_are_completed() -> None:
    for command in (("demo", "--variant"), ("bot", "--create"), ("rules",)):
        assert completed(*command, "") == list(presets())
    assert completed("play", "--lang", "") == list(LANGUAGES)
    found = ShellComplete(main, {}, "truc", "_TRUC_COMPLETE").get_completions(["rules"], "club")
    assert [(item.type, item.value) for item in found] == [("file", "club")]  # where a game may stand


def test_table_options_are_completed_up_to_their_value() -> None:
    assert completed("play", "--option", "gone") == ["gone=", "gone_after="]
    assert {f"{name}=" for name in (*Opts._fields, "target", "match")} <= {*completed("play", "--option", "")}


def test_known_servers_are_completed_from_a_home_that_is_not_made_for_it(home) -> None:
    assert (completed("play", ""), home.exists()) == ([], False)
    know(open_home(home), "cards.example:7373")
    assert completed("play", "car") == ["cards.example:7373"]
    assert completed("keys", "forget", "") == ["cards.example:7373"]


def test_own_matches_are_completed_the_newest_first_each_once(home) -> None:
    folder = open_home(home).transcripts
    for age, name in enumerate(("beef0123456789ab-watched", "cafe0123456789ab", "beef0123456789ab", "notes")):
        (folder / f"{name}.truc").touch()
        os.utime(folder / f"{name}.truc", (10**9 - age, 10**9 - age))
    both = ["beef0123456789ab", "cafe0123456789ab"]
    for command in (("replay",), ("report",), ("show",), ("verify", "some.truc")):
        assert completed(*command, "") == both
    assert completed("replay", "ca") == both[1:]


@pytest.fixture
def program(tmp_path, home) -> Path:
    """Return the folder of the program by its name, for a home in which a match was played."""
    (open_home(home).transcripts / "beef0123456789ab.truc").touch()
    called = tmp_path / "bin" / "truc"
    called.parent.mkdir()
    called.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m truc_terminal "$@"\n')
    called.chmod(0o755)
    return called.parent


def script_for(shell: str, folder: Path) -> Path:
    """Return the file of a shell's script."""
    script = folder / f"truc.{shell}"
    script.write_text(truc("completion", shell).output)
    return script


def needs(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shell", "options", "before"),
    [
        pytest.param("bash", ("--norc", "-i"), b"", marks=needs("bash")),
        pytest.param("zsh", ("-f", "-i"), b"autoload -U compinit && compinit -u -D && ", marks=needs("zsh")),
    ],
)
def test_shell_completes_by_the_script(program, home, shell, options, before) -> None:
    path = f"{program}:{os.environ['PATH']}"
    terminal = Terminal(home, *options, program=(shell,), PATH=path, PS1="ask> ")
    terminal.wait_shown("ask>")
    script = script_for(shell, program)
    terminal.type(before + b". %s && echo now=$((6*7))\r" % bytes(script))
    terminal.wait_shown("now=42")
    terminal.type(b"truc demo --variant truc-p\t")
    terminal.wait_shown("--variant truc-partnership")
    terminal.type(b"\x15truc replay \t")
    terminal.wait_shown("beef0123456789ab")
    terminal.type(b"\x15exit\r")
    assert terminal.end() == 0


@pytest.mark.slow
@needs("fish")
def test_fish_completes_by_the_script(program, tmp_path) -> None:
    script = f"""
        source {script_for("fish", program)}
        complete -C "truc demo --variant truc-p"
        complete -C "truc replay "
    """
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "some.truc").touch()
    told = subprocess.run(
        ["fish", "--no-config", "-c", script],
        cwd=tmp_path / "here",
        env={**os.environ, "HOME": str(tmp_path), "PATH": f"{program}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=40,
        check=False,
    )
    offered = [line.split("\t")[0] for line in told.stdout.splitlines()]
    assert (sorted(offered), told.stderr) == (["beef0123456789ab", "some.truc", "truc-partnership"], "")

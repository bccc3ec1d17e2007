"""Files that cannot be opened, and findings that cannot be written: neither is ever taken for a verdict."""

import errno
import io
import os
import sys
from pathlib import Path

import pytest
from client.running import run, truc
from protocol.forge import small
from protocol.peers import Table
from rich.console import Console
from rows import each_row

from truc_terminal.commands.output import FailedError, tell
from truc_terminal.screen.wrapping import say


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("output") / "a.truc"
    path.write_bytes(Table(small()).run().file())
    return str(path)


@each_row("is_terminal, lines", [(True, ["one two", "   three"]), (False, ["one two three"])])
def test_finding_is_wrapped_between_words_on_a_terminal_alone(is_terminal, lines) -> None:
    out = io.StringIO()
    say(Console(file=out, width=8, force_terminal=is_terminal, no_color=True), "one two three")
    assert out.getvalue().splitlines() == lines


def test_seats_are_labelled_as_the_language_does(path) -> None:
    lines = truc("verify", path, "--lang", "fr").stdout.splitlines()
    assert [line for line in lines if line.startswith("  siège 0 : ") and " (clé) : " in line]


@each_row("command", ["keys show", "forget"])
def test_file_of_the_home_that_the_system_refuses_is_named(monkeypatch, tmp_path, command) -> None:
    monkeypatch.setenv("TRUC_HOME", str(tmp_path))

    def refuse(path: Path) -> bool:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(Path, "exists", refuse)
    told = truc(*command.split())
    assert (told.exit_code, told.stderr.startswith(f"truc: cannot use {tmp_path}/")) == (1, True)


@pytest.mark.parametrize("command", ["verify", "show", "replay"])
def test_finding_is_told_where_there_is_no_column(monkeypatch, path, command) -> None:
    told = truc(command, path).stdout
    monkeypatch.setenv("COLUMNS", "0")
    assert told
    assert truc(command, path).stdout == told


@each_row("name", ["missing", "."])
@each_row("command", ["verify", "show"])
def test_file_that_cannot_be_opened_is_one_line_and_no_finding(tmp_path, command, name) -> None:
    told = truc(command, tmp_path / name)
    assert (told.exit_code, told.stdout, told.stderr.count("\n")) == (2, "", 1)
    assert told.stderr.startswith("truc: cannot read ")


def printed(folder: Path, path: str, command: str, stdout: int) -> tuple[int, str]:
    ran = run(folder, *command.split(), path, stdout=stdout)
    return ran.returncode, ran.stderr


COMMANDS = ["verify", "show --json"]


@pytest.mark.parametrize("command", COMMANDS)
def test_output_that_cannot_be_written_is_one_line_and_no_verdict(tmp_path, path, full, command) -> None:
    told = printed(tmp_path, path, command, full)
    assert told == (2, "truc: cannot write what was found: No space left on device\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_reader_that_has_gone_is_told_nothing_and_no_verdict(tmp_path, path, command) -> None:
    read, written = os.pipe()
    os.close(read)
    try:
        assert printed(tmp_path, path, command, written) == (2, "")
    finally:
        os.close(written)


class Wide(io.StringIO):
    """Standard error that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "told", "error"),
    [
        (Wide, "one two three\n   four\n", "truc: one two\n   three\n"),
        (io.StringIO, "one two three four\n", "truc: one two three\n"),
    ],
)
def test_line_is_broken_between_words_on_a_terminal_alone(monkeypatch, stream, told, error) -> None:
    monkeypatch.setenv("COLUMNS", "14")
    for speak, shown in (
        (lambda: tell("one two three four", err=True), told),
        (FailedError("one two three").show, error),
    ):
        monkeypatch.setattr(sys, "stderr", stream())
        speak()
        assert sys.stderr.getvalue() == shown


def test_commands_are_listed_as_they_are_met() -> None:
    told = truc("--help").stdout.partition("Commands:")[2]
    assert [line.split()[0] for line in told.strip().splitlines()][:3] == ["demo", "play", "create"]

"""What a shell completes of each program, asked as its script asks; what else it does of `truc`, client/test_completion.py has."""

import os
import subprocess
import sys

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner
from client.test_completion import needs
from rows import each_row

from truc_conform import server_cases
from truc_conform.main import main as conform
from truc_server.main import main as server
from truc_terminal.main import main as truc

PROGRAMS = {"truc": truc, "truc-server": server, "truc-conform": conform}


def completed(program: str, *arguments: str) -> list[str]:
    """Return what the last argument may become."""
    found = ShellComplete(PROGRAMS[program], {}, program, "_").get_completions(
        list(arguments[:-1]), arguments[-1]
    )
    return [item.value for item in found if item.type == "plain"]


@each_row("program", PROGRAMS)
def test_every_command_is_completed(program) -> None:
    assert sorted(completed(program, "")) == sorted(PROGRAMS[program].commands)


def test_words_of_settings_are_completed() -> None:
    assert completed("truc-server", "run", "--log-level", "") == ["debug", "info", "warning", "error"]
    assert completed("truc-server", "run", "--log-format", "j") == ["json"]


def test_names_of_cases_are_completed_for_what_is_judged() -> None:
    assert completed("truc-conform", "server", "--case", "S2.") == [
        case.name for case in server_cases.CASES if case.name.startswith("S2.")
    ]
    assert completed("truc-conform", "client", "--case", "S") == []


@each_row("program", PROGRAMS)
@each_row(
    "shell, mark",
    [("bash", "complete -o nosort"), ("zsh", "#compdef {}"), ("fish", "complete --no-files --command {}")],
)
def test_script_is_printed_for_each_shell_and_for_no_other(program, shell, mark) -> None:
    told, other = (CliRunner().invoke(PROGRAMS[program], ["completion", word]) for word in (shell, "csh"))
    assert (told.exit_code, mark.format(program) in told.output) == (0, True)
    assert (other.exit_code, "'bash', 'zsh', 'fish'" in other.output) == (2, True)


@pytest.mark.slow
@needs("bash")
def test_bash_completes_by_the_script(tmp_path) -> None:
    program = tmp_path / "truc-server"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m truc_server "$@"\n')
    program.chmod(0o755)
    script = (
        'eval "$(truc-server completion bash)"; COMP_WORDS=(truc-server admin rel); COMP_CWORD=2;'
        ' _truc_server_completion truc-server; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    told = subprocess.run(
        ["bash", "--norc", "-c", script],
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=40,
        check=False,
    )
    assert (told.stdout.split(), told.stderr) == (["reload"], "")

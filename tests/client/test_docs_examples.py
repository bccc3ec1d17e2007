import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

import truc_client
from truc_client.cli.verify import verify
from truc_client.main import main

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("quickstart.md", "playing.md", "clients/README.md")


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)


def command_lines() -> list[str]:
    lines = [line for page in PAGES for block in blocks(page, "sh") for line in block.splitlines()]
    return [line for line in lines if line.startswith("truc ")]


@pytest.mark.parametrize("line", command_lines())
def test_command_line_of_the_docs_is_understood(line) -> None:
    command, arguments = main, shlex.split(line)[1:]
    while isinstance(command, click.Group):
        command, arguments = command.commands[arguments[0]], arguments[1:]
    context = click.Context(command)
    _, left, _ = command.make_parser(context).parse_args(arguments)
    assert left == []


def test_every_command_is_in_the_docs() -> None:
    named = {line.split()[1] for line in command_lines()}
    assert named == set(main.commands)


def test_exit_statuses_of_the_docs_are_those_of_verify() -> None:
    rows = re.findall(r"^\| (\d) \| (\w+)", (DOCS / "playing.md").read_text(), re.MULTILINE)
    told = re.search(r"Exit status: (.*)\.", verify.help)[1]
    assert ", ".join(f"{status} {verdict}" for status, verdict in rows) == told


def test_every_happening_and_error_of_the_docs_is_exported() -> None:

    page = (DOCS / "clients" / "README.md").read_text()
    named = {
        name
        for row in re.findall(r"^\| (`[A-Z].*?`) \|", page, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    }
    assert named <= set(truc_client.__all__)


def test_every_link_of_the_pages_within_this_folder_leads_somewhere() -> None:
    for page in PAGES:
        folder = (DOCS / page).parent
        for link in re.findall(r"\]\(([^)#]+)\)", (DOCS / page).read_text()):
            missing = not (folder / link).exists()
            assert not missing, f"{page}: {link}"


@pytest.mark.slow
def test_bot_of_the_docs_plays_a_match(real_server, tmp_path) -> None:
    (example,) = blocks("clients/README.md", "python")
    (tmp_path / "bot.py").write_text(example)
    command = [sys.executable, str(tmp_path / "bot.py"), real_server.url]
    first = subprocess.Popen([*command, str(tmp_path / "first")], stdout=subprocess.PIPE, text=True)
    code = first.stdout.readline().strip()
    second = subprocess.run(
        [*command, str(tmp_path / "second"), code], capture_output=True, text=True, timeout=30, check=True
    )
    told, _ = first.communicate(timeout=30)
    assert [told.split()[0], second.stdout.split()[1]] == ["proven", "proven"]

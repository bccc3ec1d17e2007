"""The pages for `man`: one for each command, with all that its help says, and as roff has it."""

import re
import shutil
import subprocess
from collections.abc import Iterator

import click
import pytest

from truc_client.main import main
from truc_client.manual import pages

CHECKERS = {
    "groff": ["groff", "-man", "-Tutf8", "-ww", "-z"],
    "mandoc": ["mandoc", "-man", "-T", "lint", "-W", "error"],
}


def commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    for word, inner in command.commands.items() if isinstance(command, click.Group) else ():
        yield from commands(inner, f"{name}-{word}")


def read(page: str) -> str:
    """Return what a page says, without roff's own marks."""
    plain = page.replace(r"\-", "-").replace(r"\(ga", "`").replace(r"\(aq", "'").replace(r"\&", "")
    return re.sub(r"\\f[BR]", "", plain)


def test_every_command_has_a_page() -> None:
    assert {f"{name}.1" for name, _ in commands(main, "truc")} == set(pages())


@pytest.mark.parametrize(("name", "command"), [*commands(main, "truc")])
def test_page_says_every_option_with_its_help(name, command) -> None:
    page = read(pages()[f"{name}.1"])
    options = [param for param in command.params if isinstance(param, click.Option)]
    assert all(f"{option.opts[0]}" in page and option.help in page for option in options)


@pytest.mark.parametrize("checker", CHECKERS)
def test_page_is_accepted(checker, tmp_path) -> None:
    if shutil.which(checker) is None:
        pytest.skip(f"{checker} is not installed")
    for name, page in pages().items():
        (tmp_path / name).write_text(page, "utf-8")
    files = sorted(tmp_path.iterdir())
    told = subprocess.run([*CHECKERS[checker], *files], capture_output=True, text=True, check=False)
    assert (told.returncode, told.stderr) == (0, "")

"""The pages for `man`: one for each command, of `truc` in every language, with all that its help says, and as roff has it."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from rows import each_row

from truc_commands.manual import pages, write_pages
from truc_conform.main import main as conform
from truc_server.main import main as server
from truc_terminal.commands.helping import help_in
from truc_terminal.main import main as truc
from truc_terminal.manual import pages as pages_in
from truc_terminal.manual import write
from truc_words import LANGUAGES

PROGRAMS = {"truc": truc, "truc-server": server, "truc-conform": conform}
WRITE = (sys.executable, "-m", "truc_commands.manual")
CHECKERS = {
    "groff": ["groff", "-Kutf8", "-man", "-Tutf8", "-ww", "-z"],
    "mandoc": ["mandoc", "-man", "-T", "lint", "-W", "error"],
}


def commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    for word, inner in command.commands.items() if isinstance(command, click.Group) else ():
        yield from commands(inner, f"{name}-{word}")


@cache
def pages_of(program: str, lang: str = "en") -> dict[str, str]:
    return pages_in(lang) if program == "truc" else pages(PROGRAMS[program], program)


def read(page: str) -> str:
    """Return what a page says, without roff's own marks."""
    plain = page.replace(r"\-", "-").replace(r"\(ga", "`").replace(r"\(aq", "'").replace(r"\&", "")
    return re.sub(r"\\f[BR]", "", plain)


MADE = [*((program, "en") for program in PROGRAMS), *(("truc", lang) for lang in LANGUAGES if lang != "en")]
ALL = [
    (program, name, command)
    for program, main in PROGRAMS.items()
    for name, command in commands(main, program)
]


@each_row("program, name, command", ALL)
def test_list_of_commands_is_cut_off_nowhere(program, name, command) -> None:
    shown = command.get_help(click.Context(command, info_name=name, max_content_width=80, terminal_width=80))
    assert "..." not in shown.partition("\nCommands:\n")[2]


@each_row("program, name, command", ALL)
def test_help_has_no_marks_of_markdown_and_breaks_nothing_that_is_to_be_typed(program, name, command) -> None:
    words = name.removeprefix(program).replace("-", " ").split()
    told = CliRunner().invoke(PROGRAMS[program], [*words, "--help"])
    assert (told.exit_code, "`" in told.output) == (0, False), told.output
    typed = re.findall("`([^`]+-[^`]+)`", command.help or "")
    whole = " ".join(told.output.split())
    assert [each for each in typed if " ".join(each.split()) not in whole] == []


@each_row("program, lang", MADE)
def test_every_command_has_a_page(program, lang) -> None:
    assert {f"{name}.1" for name, _ in commands(PROGRAMS[program], program)} == set(pages_of(program, lang))


@each_row("program, name, command", ALL)
def test_page_says_every_option_with_its_help(program, name, command) -> None:
    page = read(pages_of(program)[f"{name}.1"])
    options = [each for each in command.params if isinstance(each, click.Option) and not each.hidden]
    assert all(f"{option.opts[0]}" in page and (option.help or "") in page for option in options)


def test_page_says_what_stands_below_the_help() -> None:
    assert "Levels: C0" in read(pages_of("truc-conform")["truc-conform-client.1"])


def test_pages_are_written_where_man_looks_for_them(tmp_path) -> None:
    write(tmp_path)
    places = {path.parent.relative_to(tmp_path) for path in tmp_path.rglob("*.1")}
    assert places == {Path("man1"), *(Path(lang, "man1") for lang in LANGUAGES if lang != "en")}
    assert (tmp_path / "es" / "man1" / "truc.1").read_text("utf-8") == pages_of("truc", "es")["truc.1"]


@pytest.mark.parametrize("program", ["truc-server", "truc-conform"])
def test_program_writes_the_pages_of_another(tmp_path, program) -> None:
    subprocess.run([*WRITE, program, tmp_path / "man1"], check=True)
    written = {file.name: file.read_text("utf-8") for file in (tmp_path / "man1").iterdir()}
    assert set(written) == set(pages_of(program))
    assert written[f"{program}.1"].startswith(f'.TH "{program.upper()}" "1"')


@each_row("module", ["truc_terminal.manual", "truc_commands.manual"])
def test_folder_that_is_missing_is_named(module) -> None:
    more = ["truc"] if module == "truc_commands.manual" else []
    told = subprocess.run([sys.executable, "-m", module, *more], capture_output=True, text=True, check=False)
    assert (told.returncode, told.stderr.splitlines()[-1]) == (2, "Error: Missing argument 'FOLDER'.")


@each_row("module", ["truc_terminal.manual", "truc_commands.manual"])
def test_folder_that_cannot_be_made_is_said_with_the_reason(module) -> None:
    more = ["truc"] if module == "truc_commands.manual" else []
    words = [sys.executable, "-m", module, *more, "/dev/null/man"]
    told = subprocess.run(words, capture_output=True, text=True, check=False)
    assert told.returncode == 1
    assert re.fullmatch("Error: Could not open file '/dev/null/man.*': Not a directory\n", told.stderr)


def test_program_that_is_not_installed_is_refused(tmp_path) -> None:
    told = subprocess.run([*WRITE, "trucs", tmp_path / "man1"], capture_output=True, text=True, check=False)
    assert told.returncode == 2
    assert told.stderr.endswith("Error: expected the name of a program that is installed, got trucs\n")


def test_page_in_another_language_is_in_it_throughout() -> None:
    page = read(pages_of("truc", "ca")["truc-verify.1"])
    heads = re.findall(r"^\.SH (.*)$", page, re.MULTILINE)
    assert heads == ["NOM", "SINOPSI", "DESCRIPCIÓ", "CODI DE SORTIDA", "OPCIONS", "VEGEU TAMBÉ"]
    assert "Mostra aquest missatge i surt." in page
    assert [text for text in help_in("ca").commands if text in page] == []


@pytest.mark.parametrize("checker", CHECKERS)
@pytest.mark.parametrize(("program", "lang"), MADE)
def test_page_is_accepted(checker, program, lang, tmp_path) -> None:
    if shutil.which(checker) is None:
        pytest.skip(f"{checker} is not installed")
    write_pages(pages_of(program, lang), tmp_path / "man1")
    files = sorted((tmp_path / "man1").iterdir())
    told = subprocess.run([*CHECKERS[checker], *files], capture_output=True, text=True, check=False)
    assert (told.returncode, told.stderr) == (0, "")

"""The pages for `man`: one for each command, with all that its help says, and as roff has it."""

import re
import shutil
import subprocess
from pathlib import Path

import click
import pytest
from client.test_help_spoken import commands
from rows import each_row

from truc_terminal.commands.helping import help_in
from truc_terminal.main import main
from truc_terminal.manual import pages, write
from truc_words import LANGUAGES

CHECKERS = {
    "groff": ["groff", "-Kutf8", "-man", "-Tutf8", "-ww", "-z"],
    "mandoc": ["mandoc", "-man", "-T", "lint", "-W", "error"],
}


def page_of(path: tuple[str, ...]) -> str:
    return f"{'-'.join(('truc', *path))}.1"


def read(page: str) -> str:
    """Return what a page says, without roff's own marks."""
    plain = page.replace(r"\-", "-").replace(r"\(ga", "`").replace(r"\(aq", "'").replace(r"\&", "")
    return re.sub(r"\\f[BR]", "", plain)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_command_has_a_page_in_every_language(lang) -> None:
    assert {page_of(path) for path, _ in commands(main)} == set(pages(lang))


def test_pages_are_written_where_man_looks_for_them(tmp_path) -> None:
    write(tmp_path)
    places = {path.parent.relative_to(tmp_path) for path in tmp_path.rglob("*.1")}
    assert places == {Path("man1"), *(Path(lang, "man1") for lang in LANGUAGES if lang != "en")}
    assert (tmp_path / "es" / "man1" / "truc.1").read_text("utf-8") == pages("es")["truc.1"]


def test_page_in_another_language_is_in_it_throughout() -> None:
    page = read(pages("ca")["truc-verify.1"])
    heads = re.findall(r"^\.SH (.*)$", page, re.MULTILINE)
    assert heads == ["NOM", "SINOPSI", "DESCRIPCIÓ", "CODI DE SORTIDA", "OPCIONS", "VEGEU TAMBÉ"]
    assert "Mostra aquest missatge i surt." in page
    english = [text for text in help_in("ca").commands if text in page]
    assert english == []


def commands_with_pages() -> list[tuple[click.Command, str]]:
    made = pages()
    return [(command, read(made[page_of(path)])) for path, command in commands(main)]


@each_row("command, page", commands_with_pages)
def test_page_says_every_option_with_its_help(command, page) -> None:
    options = [each for each in command.params if isinstance(each, click.Option) and not each.hidden]
    assert all(f"{option.opts[0]}" in page and option.help in page for option in options)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("checker", CHECKERS)
def test_page_is_accepted(checker, lang, tmp_path) -> None:
    if shutil.which(checker) is None:
        pytest.skip(f"{checker} is not installed")
    for name, page in pages(lang).items():
        (tmp_path / name).write_text(page, "utf-8")
    files = sorted(tmp_path.iterdir())
    told = subprocess.run([*CHECKERS[checker], *files], capture_output=True, text=True, check=False)
    assert (told.returncode, told.stderr) == (0, "")

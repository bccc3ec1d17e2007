"""Pages for `man`, one for each command of a program, made from what its `--help` says.

`python -m truc_commands.manual PROGRAM FOLDER` writes them; those of `truc` have a program of their own, in all languages.
Invariant: a page says nothing that the command does not say, so that the two cannot diverge.
"""

from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Final

import click

from truc_commands.program import paragraphs

SECTION: Final = 1
_PACKAGE: Final = "truc"
_ENDS: Final = "Exit status: "


def pages(main: click.Command, program: str, headings: Mapping[str, str] = {}) -> dict[str, str]:
    """Return every page by the name of its file: that of the program, then those of its commands.

    `headings` gives, for each English heading and for the beginning of the paragraph on exit statuses, the words of
    another language.
    """
    context = click.Context(main, info_name=program, **main.context_settings)
    return {f"{name}.{SECTION}": page for name, page in _pages(main, context, headings)}


def write_pages(made: Mapping[str, str], folder: Path) -> None:
    """Write pages to a folder, which is created if missing.

    Raises:
        click.FileError: It cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in made.items():
            (folder / file).write_text(text, "utf-8")
    except OSError as error:
        raise click.FileError(str(folder), error.strerror) from error


def _pages(
    command: click.Command, context: click.Context, headings: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    yield _name(context), "\n".join(_page(command, context, headings)) + "\n"
    for inner, its_context in _inner(command, context):
        yield from _pages(inner, its_context, headings)


def _inner(command: click.Command, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    for name, inner in sorted(command.commands.items()) if isinstance(command, click.Group) else ():
        yield inner, click.Context(inner, parent=context, info_name=name)


def _page(command: click.Command, context: click.Context, headings: Mapping[str, str]) -> Iterator[str]:
    def head(text: str) -> str:
        return f".SH {headings.get(text, text)}"

    path = " ".join(_names(context))
    yield f'.TH "{_name(context).upper()}" "{SECTION}" "" "{_PACKAGE} {version(_PACKAGE)}" "Truc"'
    yield from (head("NAME"), rf"{_text(_name(context))} \- {_text(_summary(command))}")
    usage = " ".join(command.collect_usage_pieces(context))
    yield from (head("SYNOPSIS"), rf"\fB{_text(path)}\fR {_text(usage)}")
    yield head("DESCRIPTION")
    yield from _described(command, head("EXIT STATUS"), headings.get(_ENDS, _ENDS))
    yield from _listed(head("OPTIONS"), _options(command, context))
    yield from _listed(head("COMMANDS"), _commands(command, context))
    yield from _related(context, head("SEE ALSO"))


def _name(context: click.Context) -> str:
    return "-".join(_names(context))


def _names(context: click.Context) -> list[str]:
    """Return the words by which a command is called, the program first."""
    before = [] if context.parent is None else _names(context.parent)
    return [*before, context.info_name or ""]


def _summary(command: click.Command) -> str:
    """Return what a command does in one line, as the list of commands has it."""
    # in full: click cuts at 45 characters by default
    return command.get_short_help_str(limit=1000).removesuffix(".")


def _described(command: click.Command, heading: str, ends: str) -> Iterator[str]:
    """Yield what a command does, with the paragraph on its exit status under a heading of its own."""
    for number, paragraph in enumerate(paragraphs(command.help)):
        if paragraph.startswith(ends):
            yield heading
        elif number:
            yield ".PP"
        yield _text(paragraph.removeprefix(ends))
    if command.epilog:
        yield from (".PP", _text(command.epilog))


def _options(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    for param in command.get_params(context):
        record = param.get_help_record(context)
        # arguments, which have no help of their own, are explained in the description
        if record is not None and record[1]:
            yield record


def _commands(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    for inner, its_context in _inner(command, context):
        yield " ".join(_names(its_context)), inner.get_short_help_str(limit=1000)


def _listed(heading: str, rows: Iterator[tuple[str, str]]) -> Iterator[str]:
    for number, (term, meaning) in enumerate(rows):
        yield from () if number else (heading,)
        yield from (".TP", rf"\fB{_text(term)}\fR", _text(meaning))


def _related(context: click.Context, heading: str) -> Iterator[str]:
    if context.parent is not None:
        yield from (heading, rf"\fB{_text(_name(context.parent))}\fR({SECTION})")


def _text(text: str) -> str:
    """Return a text escaped so that roff prints it letter by letter, and takes no line of it for a request."""
    # roff turns plain signs into typographic ones, which cannot be pasted into a shell
    plain = text.replace("\\", r"\e").replace("-", r"\-").replace("`", r"\(ga").replace("'", r"\(aq")
    return rf"\&{plain}" if plain.startswith(".") else plain


@click.command()
@click.argument("program")
@click.argument("folder", type=click.Path(path_type=Path))
def _write(program: str, folder: Path) -> None:
    """Write the pages of a PROGRAM that is installed to a FOLDER."""
    for found in entry_points(group="console_scripts", name=program):
        write_pages(pages(found.load(), program), folder)
        return
    raise click.UsageError(f"expected the name of a program that is installed, got {program}")


if __name__ == "__main__":
    _write()

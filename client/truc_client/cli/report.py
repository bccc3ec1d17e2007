"""`truc report`: a match as one page of HTML, to look at and to step through."""

from pathlib import Path

import click

from truc_client.cli.common import lang_option, language
from truc_client.cli.output import FindingCommand, Output, UnusableError, say
from truc_client.course.stages import course_of
from truc_client.errors import HomeError
from truc_client.verifying import EXIT_CODES, read_file, shortened, trouble, verdict_lines
from truc_protocol.audit import Result
from truc_protocol.words import printable


@click.command(cls=FindingCommand, short_help="Make a page of a match, to look at and step through.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The page to write; else FILE's name with .html, in the folder one is in.",
)
@lang_option
def report(file: Path, output: Path | None, lang: str | None) -> None:
    """Make one page of HTML of the match in the transcript FILE: the verdict, the score, and every hand on the table.

    The page needs nothing beside itself and no script to be read; with script it is stepped through, by its buttons or the
    arrow keys. Every record is checked on the way; one that fails is the last that is shown.

    What players say and do is told in the language asked for, all else in English.

    Exit status: 0 written, 2 not readable to its end, or not written.
    """
    from truc_client.report import page  # slow to import, and of no use to another command

    spoken = language(lang)
    try:
        course = course_of(read_file(file), lang=spoken)
    except (HomeError, OSError) as error:
        raise UnusableError(f"cannot read {file}: {trouble(error)}") from error
    if course.unreadable is not None:
        click.echo(f"truc: {printable(shortened(str(course.unreadable)))}", err=True)
        raise click.exceptions.Exit(EXIT_CODES[Result.UNREADABLE])
    path = output or Path(f"{file.stem}.html")
    try:
        path.write_text(page(course, lang=spoken), encoding="utf-8")
    except OSError as error:
        raise UnusableError(f"cannot write {path}: {trouble(error)}") from error
    say(Output(), f"{path}: {next(verdict_lines(course.verdict))}")

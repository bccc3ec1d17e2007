"""`truc report`: a match as one page of HTML, to look at and to step through."""

from pathlib import Path

import click

from truc_protocol.audit import Result
from truc_terminal.commands.kept_matches import transcript_meant
from truc_terminal.commands.language import lang_option, spoken
from truc_terminal.commands.output import FindingCommand, Output, UnusableError, unusable
from truc_terminal.replay_model.stages import replay_of
from truc_terminal.screen.wrapping import say
from truc_terminal.verdicts import EXIT_CODES, shortened, verdict_lines
from truc_words import Speech


@click.command(cls=FindingCommand)
@click.argument("match", required=False, metavar="[FILE|MATCH]")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The page to write; by default the transcript's name with .html, in the present folder.",
)
@lang_option
def report(match: str | None, output: Path | None) -> None:
    """Make one page of HTML of a match: the verdict, the score, and every hand on the table.

    FILE is a transcript, MATCH one of your matches by the first digits of its id; without either it is your newest match.

    The page stands alone, and can be read without script; with script you step through it, with its buttons or the
    arrow keys. Every record is checked on the way; one that fails is the last that is shown.

    Exit status: 0 written, 1 written and refuted, 2 not readable to its end, or not written.
    """
    from truc_terminal.report.page import page

    speech = Speech(spoken())
    file, content = transcript_meant(match)
    replayed = replay_of(content, lang=speech.lang)
    # Nothing is written then: a page would look like a whole match.
    if replayed.unreadable is not None:
        raise UnusableError(shortened(str(replayed.unreadable)))
    path = output or Path(f"{file.stem}.html")
    try:
        path.write_text(page(replayed, lang=speech.lang), encoding="utf-8")
    except OSError as error:
        raise unusable("cannot_write", path, error) from error
    say(Output(), f"{path}: {next(verdict_lines(replayed.verdict, speech))}")
    if replayed.verdict.result is Result.REFUTED:
        raise click.exceptions.Exit(EXIT_CODES[Result.REFUTED])

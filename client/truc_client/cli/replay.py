"""`truc replay`: a match step by step, at a terminal in both directions."""

import os
import sys
from pathlib import Path

import click

from truc_client.cli.common import lang_option, language, own_home
from truc_client.cli.output import FindingCommand, Output, UnusableError
from truc_client.course.stages import Course, course_of
from truc_client.errors import HomeError
from truc_client.history import find_transcript, newest, whole_part
from truc_client.terminal.glyphs import needs_ascii
from truc_client.terminal.replaying import Replay, hand_begins, page
from truc_client.verifying import EXIT_CODES, read_file, shortened, trouble
from truc_protocol.audit import Result
from truc_protocol.words import printable


@click.command(cls=FindingCommand, short_help="Step through a match.")
@click.argument("match", required=False, metavar="[FILE|MATCH]")
@click.option(
    "--seat", type=click.IntRange(min=0), help="Show it as this seat saw it, from 0; else all cards open."
)
@click.option("--hand", type=click.IntRange(min=1), help="Begin with this hand; with --plain print it alone.")
@click.option("--plain", is_flag=True, help="Print every stage, as is done where there is no terminal.")
@lang_option
def replay(match: str | None, *, seat: int | None, hand: int | None, plain: bool, lang: str | None) -> None:
    """Step through a match record by record.

    FILE is a transcript, MATCH one of your matches by the first digits of its id; without either it is your newest match.

    Keys: n or space goes on, p back, ] and [ to the next hand and back, a number and Enter to that hand, < and > to the
    beginning and the end, s changes whose eyes see it, q leaves. The arrows right and left go on and back too.

    Every record is checked on the way; one that fails is the last that is shown. What players say and do is told in the
    language asked for, all else in English.

    Exit status: 0 shown, 2 not readable to its end, or not written.
    """
    spoken = language(lang)
    course = course_of(_content(match), lang=spoken)
    _check(course, seat, hand)
    if plain or not (sys.stdin.isatty() and sys.stdout.isatty()):
        status = _print(Replay(course, spoken, is_plain=True, seat=seat), hand)
    else:
        is_ascii = needs_ascii(sys.stdout.encoding, os.environ.get("TERM", ""))
        status = _walk(Replay(course, spoken, is_ascii, seat), hand)
    if course.unreadable is not None:
        click.echo(f"truc: {printable(shortened(str(course.unreadable)))}", err=True)
        status = status or EXIT_CODES[Result.UNREADABLE]
    raise click.exceptions.Exit(status)


def _content(match: str | None) -> bytes:
    """Return the transcript that is meant: a file, or else a match of the home, the newest if none is named."""
    try:
        if match is not None and Path(match).exists():
            return read_file(Path(match))
        folder = own_home().transcripts
        return whole_part(find_transcript(folder, match) if match else newest(folder))
    except (HomeError, OSError) as error:
        raise UnusableError(f"cannot read {match or 'the newest match'}: {trouble(error)}") from error


def _check(course: Course, seat: int | None, hand: int | None) -> None:
    if not course.stages:
        raise UnusableError(f"there is no record in it: {shortened(str(course.unreadable))}")
    seats = course.terms.table.seats if course.terms else 0
    if seat is not None and seat >= seats:
        raise UnusableError(f"expected a seat from 0 to {seats - 1}, got {seat}")
    if hand is not None and hand_begins(course, hand) is None:
        raise UnusableError(f"expected a hand from 1 to {len(course.hands)}, got {hand}")


def _walk(shown: Replay, hand: int | None) -> int:
    from truc_client.terminal.stepping import step_through

    _, status = step_through(shown, hand_begins(shown.course, hand) or 0 if hand else 0)
    return status


def _print(shown: Replay, hand: int | None) -> int:
    console = Output(color_system=None)
    for stage in shown.course.stages:
        if hand in (None, stage.hand):
            console.print(page(shown, stage.number), soft_wrap=True)
            console.print()
    return 0

"""What a bot prints: how a match has ended on standard output, and what went wrong on standard error."""

import click

from truc_client.happenings import Happening, Interrupted, MatchEnded, TranscriptSetAside
from truc_client.verifying import result_line
from truc_protocol.words import printable, shown_name


def complain(text: str) -> None:
    """Say what went wrong; nothing in it is obeyed by the terminal."""
    click.echo(printable(text), err=True)


def tell_trouble(happening: Happening) -> None:
    """Say what went wrong at a table without ending it."""
    match happening:
        case Interrupted(reason):
            complain(f"{reason}; connecting again")
        case TranscriptSetAside(path, reason):
            complain(f"{reason}; the transcript was set aside as {path}")
        case _:
            pass


def result_of(ended: MatchEnded) -> str:
    """Return the line that says how a match has ended, and where its transcript is."""
    verdict = ended.verdict
    names = [shown_name(name, seat) for seat, name in enumerate(verdict.players)]
    return f"{verdict.result}, level {verdict.level}: {result_line(verdict, names)}; {ended.transcript}"

"""`truc verify`: the verdict on transcript files, alone, beside evidence, and compared with each other."""

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import assert_never

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from truc_client.cli.output import FindingCommand, Output, UnusableError, say
from truc_client.plain_values import agreement_facts, contradiction_facts, evidence_facts, verdict_facts
from truc_client.verifying import (
    EXIT_CODES,
    agreement_lines,
    contradiction_lines,
    evidence_line,
    examine_files,
    seat_rows,
    shortened,
    trouble,
    verdict_lines,
)
from truc_protocol.audit import EvidenceExamined, Examined, Result, Together, TranscriptExamined, Verdict

_SEVERITY = (1, 2, 3)


@click.command(cls=FindingCommand, short_help="Check transcripts, every record of them.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object for each file, and for what two show."
)
def verify(files: tuple[Path, ...], as_json: bool) -> None:
    """Check transcript FILES, every record of them, with files of evidence beside them.

    Transcripts of one match are compared with each other.

    Exit status: 0 proven, 1 refuted, 2 unreadable, 3 incomplete.

    It is 2 also if a file cannot be opened or the verdict not be written.

    Without a transcript among the files nothing is proven, and the status is 3.
    """
    together = _examined(files)
    if as_json:
        _print_json(together, files)
    else:
        _print(together, files, Output())
    if not _has_transcript(together):
        click.echo("truc: there is no transcript among these files: nothing is proven", err=True)
    raise click.exceptions.Exit(_exit_code(together))


def _examined(files: tuple[Path, ...]) -> Together:
    try:
        return examine_files(files)
    except OSError as error:
        raise UnusableError(f"cannot read {error.filename}: {trouble(error)}") from error


def _has_transcript(together: Together) -> bool:
    return any(isinstance(file, TranscriptExamined) for file in together.files)


def _exit_code(together: Together) -> int:
    results = [file.result for file in together.files if file.result is not None]
    codes = {EXIT_CODES[result] for result in results}
    if together.contradictions:
        codes.add(EXIT_CODES[Result.REFUTED])
    if not _has_transcript(together):
        codes.add(EXIT_CODES[Result.INCOMPLETE])
    return severest(codes)


def severest(codes: Collection[int]) -> int:
    """Return the status of several files, each of which has one."""
    return next((code for code in _SEVERITY if code in codes), 0)


def _print(together: Together, files: tuple[Path, ...], console: Console) -> None:
    for line in contradiction_lines(together, files):
        say(console, line)
    for path, file in zip(files, together.files, strict=True):
        first, *rest = _lines(file, together)
        say(console, f"{path}: {first}")
        for line in rest:
            say(console, f"  {line}")
        if isinstance(file, TranscriptExamined):
            _print_seats(file.verdict, console)
    for line in agreement_lines(together):
        say(console, line)


def _lines(file: Examined, together: Together) -> Iterator[str]:
    match file:
        case TranscriptExamined():
            yield from verdict_lines(file.verdict)
        case EvidenceExamined():
            yield from _evidence_lines(file, together)
        case _:
            assert_never(file)


def _evidence_lines(file: EvidenceExamined, together: Together) -> Iterator[str]:
    if file.unreadable is not None:
        yield f"UNREADABLE: {shortened(str(file.unreadable))}"
    else:
        yield f"evidence, {len(file.weighed)} {'item' if len(file.weighed) == 1 else 'items'}"
    for each in file.weighed:
        yield evidence_line(each, together)


def _print_seats(verdict: Verdict, console: Console) -> None:
    """Print where the signatures of each seat end: as a table on a terminal, else a line for each."""
    rows = list(seat_rows(verdict))
    if not console.is_terminal:
        for row in rows:
            say(console, f"  seat {row.seat}: {row.name} ({row.kind}): {row.signed}")
        return
    table = Table("seat", "name", "", "signatures")
    for row in rows:
        table.add_row(str(row.seat), Text(row.name), row.kind, row.signed)
    if rows:
        console.print(table)


def _print_json(together: Together, files: tuple[Path, ...]) -> None:
    for path, file in zip(files, together.files, strict=True):
        match file:
            case TranscriptExamined():
                facts = verdict_facts(file.verdict)
            case EvidenceExamined():
                facts = evidence_facts(file, files)
            case _:
                assert_never(file)
        click.echo(json.dumps({"file": str(path), **facts}))
    for each in together.contradictions:
        click.echo(json.dumps(contradiction_facts(each, files)))
    for agreement in together.agreements:
        click.echo(json.dumps(agreement_facts(agreement, files)))

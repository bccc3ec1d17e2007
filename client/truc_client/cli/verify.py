"""`truc verify`: the verdict on transcript files, alone, beside evidence, and compared with each other."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import assert_never

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from truc_client.verifying import (
    EXIT_CODES,
    contradiction_facts,
    contradiction_lines,
    evidence_facts,
    examine_files,
    refutation_line,
    seat_rows,
    shortened,
    verdict_facts,
    verdict_lines,
)
from truc_protocol.audit import EvidenceExamined, Examined, Result, Together, TranscriptExamined, Verdict
from truc_protocol.words import printable

_SEVERITY = (1, 2, 3)


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object for each file, and for what two show."
)
def verify(files: tuple[Path, ...], as_json: bool) -> None:
    """Check transcript FILES, every record of them, with files of evidence beside them.

    Transcripts of one match are compared with each other.

    Exit status: 0 proven, 1 refuted, 2 unreadable, 3 incomplete.

    Without a transcript among the files nothing is proven, and the status is 3.
    """
    together = examine_files(files)
    if as_json:
        _print_json(together, files)
    else:
        _print(together, files, Console())
    if not _has_transcript(together):
        click.echo("truc: there is no transcript among these files: nothing is proven", err=True)
    raise click.exceptions.Exit(_exit_code(together))


def _has_transcript(together: Together) -> bool:
    return any(isinstance(file, TranscriptExamined) for file in together.files)


def _exit_code(together: Together) -> int:
    results = [file.result for file in together.files if file.result is not None]
    codes = {EXIT_CODES[result] for result in results}
    if together.contradictions:
        codes.add(EXIT_CODES[Result.REFUTED])
    if not _has_transcript(together):
        codes.add(EXIT_CODES[Result.INCOMPLETE])
    return next((code for code in _SEVERITY if code in codes), 0)


def _print(together: Together, files: tuple[Path, ...], console: Console) -> None:
    for path, file in zip(files, together.files, strict=True):
        first, *rest = _lines(file)
        _say(console, f"{path}: {first}")
        for line in rest:
            _say(console, f"  {line}")
        if isinstance(file, TranscriptExamined):
            _print_seats(file.verdict, console)
    for line in contradiction_lines(together, files):
        _say(console, line)


def _say(console: Console, line: str) -> None:
    console.print(Text(printable(line)), soft_wrap=True)


def _lines(file: Examined) -> Iterator[str]:
    match file:
        case TranscriptExamined():
            yield from verdict_lines(file.verdict)
        case EvidenceExamined():
            yield from _evidence_lines(file)
        case _:
            assert_never(file)


def _evidence_lines(file: EvidenceExamined) -> Iterator[str]:
    if file.unreadable is not None:
        yield f"UNREADABLE: {shortened(str(file.unreadable))}"
    else:
        yield f"evidence, {len(file.weighed)} items"
    for each in file.weighed:
        yield (
            each.message if each.refutation is None else f"{each.message}: {refutation_line(each.refutation)}"
        )


def _print_seats(verdict: Verdict, console: Console) -> None:
    """Print where the signatures of each seat end: as a table on a terminal, else a line for each."""
    rows = list(seat_rows(verdict))
    if not console.is_terminal:
        for row in rows:
            _say(console, f"  seat {row.seat}: {row.name} ({row.kind}): {row.signed}")
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

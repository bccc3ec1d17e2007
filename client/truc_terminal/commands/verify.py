"""`truc verify`: the verdict on transcript files, alone, with evidence, and compared with each other."""

import json
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from shutil import copyfile
from time import monotonic
from typing import Final, Self, assert_never

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from truc_client.all_cores import WorkerLostError, cores
from truc_client.home.transcripts import evidence_beside
from truc_client.verifying import examine_files
from truc_protocol.audit import CrossAudit, EvidenceExamined, Examined, Result, Verdict
from truc_terminal.commands.kept_matches import file_meant
from truc_terminal.commands.language import lang_option, spoken
from truc_terminal.commands.output import FindingCommand, Output, UnusableError, tell, unusable
from truc_terminal.commands.player import INTERRUPTED, home_as_is
from truc_terminal.plain_values import agreement_facts, contradiction_facts, evidence_facts, verdict_facts
from truc_terminal.screen.wrapping import say
from truc_terminal.verdicts import (
    EXIT_CODES,
    agreement_lines,
    contradiction_lines,
    evidence_line,
    seat_name,
    seat_rows,
    shortened,
    verdict_lines,
)
from truc_words import Sentence, Speech

# specification.md, "Transcript file and verdict": of several files the worst verdict counts, in this order.
_SEVERITY = (1, 2, 3)


@click.command(cls=FindingCommand)
@click.argument("files", nargs=-1, required=True, metavar="FILE|MATCH...")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object for each file, and for what two show."
)
@click.option(
    "--export",
    "folder",
    type=click.Path(path_type=Path),
    help="Copy the files into this new folder, with what this home holds, to hand them on.",
)
@lang_option
def verify(files: tuple[str, ...], *, as_json: bool, folder: Path | None) -> None:
    """Check transcripts, every record of them, with files of evidence beside them.

    FILE is a transcript or evidence, MATCH one of your matches by the first digits of its id. Transcripts of one match are compared with each other.

    Evidence that this home holds about a match is added; if it refutes nothing it changes no exit status.

    Exit status: 0 proven, 1 refuted, 2 unreadable, 3 incomplete.

    It is also 2 if a file cannot be opened or the verdict cannot be written.

    Without a transcript among the files nothing is proven, and the status is 3.
    """
    speech = Speech(spoken())
    paths = given = tuple(file_meant(text) for text in files)
    try:
        with Bar() as bar:
            cross_audit = examine_files(paths, processes=cores(), progress=bar.show)
            # Only an audit tells which matches the files are of;
            # the evidence of their matches is weighed with them.
            if kept := _kept_beside(cross_audit, given):
                paths = (*given, *kept)
                cross_audit = examine_files(paths, processes=cores(), progress=bar.show)
        if folder is not None:
            _export(paths, folder)
    except KeyboardInterrupt:
        raise click.exceptions.Exit(INTERRUPTED) from None  # 1 would be a finding
    except WorkerLostError as error:
        raise UnusableError(Sentence("failures.worker_lost")) from error
    except OSError as error:
        raise unusable("cannot_read", error.filename, error) from error
    if as_json:
        _print_json(cross_audit, paths)
    else:
        _print(cross_audit, paths, Output(), speech)
    if not _has_transcript(cross_audit):
        tell(f"truc: {speech.say('together.no_transcript')}", err=True)
    raise click.exceptions.Exit(_exit_code(cross_audit, len(given)))


def _kept_beside(cross_audit: CrossAudit, given: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the evidence that this home holds about the matches of the files given."""
    verdicts = (file for file in cross_audit.files if isinstance(file, Verdict))
    matches = {verdict.match for verdict in verdicts if verdict.match is not None}
    return evidence_beside(home_as_is(), matches, given)


def _export(paths: tuple[Path, ...], folder: Path) -> None:
    """Copy files into a new folder; of two with one name the second has its number before it.

    Raises:
        UnusableError: It cannot be written, or is there already.
    """
    try:
        folder.mkdir()
        for number, path in enumerate(paths, 1):
            name = folder / path.name
            copyfile(path, folder / f"{number}-{path.name}" if name.exists() else name)
    except OSError as error:
        raise unusable("cannot_write", error.filename or folder, error) from error


def _has_transcript(cross_audit: CrossAudit) -> bool:
    return any(isinstance(file, Verdict) for file in cross_audit.files)


def _exit_code(cross_audit: CrossAudit, given: int) -> int:
    """Return the exit status; files after those given were added, and count only if they refute something."""
    results = [file.result for file in cross_audit.files[:given] if file.result is not None]
    # What this home has added can convict, but a file that the user has not named is not to spoil the status.
    results += [Result.REFUTED for file in cross_audit.files[given:] if file.result is Result.REFUTED]
    codes = {EXIT_CODES[result] for result in results}
    if cross_audit.contradictions:
        codes.add(EXIT_CODES[Result.REFUTED])
    if not _has_transcript(cross_audit):
        codes.add(EXIT_CODES[Result.INCOMPLETE])
    return severest(codes)


def severest(codes: Collection[int]) -> int:
    """Return the exit status for several files, from those of each."""
    return next((code for code in _SEVERITY if code in codes), 0)


def _print(cross_audit: CrossAudit, files: tuple[Path, ...], console: Console, speech: Speech) -> None:
    for line in contradiction_lines(cross_audit, files, speech):
        say(console, line)
    for path, file in zip(files, cross_audit.files, strict=True):
        first, *rest = _lines(file, cross_audit, speech)
        say(console, f"{path}: {first}")
        for line in rest:
            say(console, f"  {line}")
        if isinstance(file, Verdict):
            _print_seats(file, console, speech)
    for line in agreement_lines(cross_audit, speech):
        say(console, line)


def _lines(file: Examined, cross_audit: CrossAudit, speech: Speech) -> Iterator[str]:
    match file:
        case Verdict():
            yield from verdict_lines(file, speech)
        case EvidenceExamined():
            yield from _evidence_lines(file, cross_audit, speech)
        case _:
            assert_never(file)


def _evidence_lines(file: EvidenceExamined, cross_audit: CrossAudit, speech: Speech) -> Iterator[str]:
    if file.unreadable is not None:
        yield speech.say("verdict.unreadable", failed=shortened(str(file.unreadable)))
    else:
        items = speech.counted("item", len(file.weighed))
        yield speech.say("together.evidence", items=items)
    for each in file.weighed:
        yield evidence_line(each, cross_audit, speech)


def _print_seats(verdict: Verdict, console: Console, speech: Speech) -> None:
    """Print how far the signatures of each seat reach: as a table on a terminal, else a line for each."""
    said, rows = speech.catalogue.together, list(seat_rows(verdict, speech))
    if not console.is_terminal:
        for row in rows:
            seat = seat_name(row.seat, speech)
            signed = speech.labelled(f"{row.name} ({row.kind})", row.signed)
            say(console, f"  {speech.labelled(seat, signed)}")
        return
    table = Table(said["head_seat"], said["name"], "", said["signatures"])
    for row in rows:
        table.add_row(str(row.seat), Text(row.name), row.kind, row.signed)
    if rows:
        console.print(table)


def _print_json(cross_audit: CrossAudit, files: tuple[Path, ...]) -> None:
    for path, file in zip(files, cross_audit.files, strict=True):
        match file:
            case Verdict():
                facts = verdict_facts(file)
            case EvidenceExamined():
                facts = evidence_facts(file, files)
            case _:
                assert_never(file)
        click.echo(json.dumps({"file": str(path), **facts}))
    for each in cross_audit.contradictions:
        click.echo(json.dumps(contradiction_facts(each, files)))
    for agreement in cross_audit.agreements:
        click.echo(json.dumps(agreement_facts(agreement, files)))


# Seconds; most files are done by then, and a bar that flashes up tells nothing.
_AFTER_S: Final = 2.0


class Bar:
    """A bar of bytes, which goes away when the work is done."""

    def __init__(self) -> None:
        self._from = monotonic() + _AFTER_S
        self._shown: Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        if self._shown is not None:
            self._shown.stop()

    def show(self, done: int, whole: int) -> None:
        """Show how many bytes are done, and how many there are."""
        if self._shown is None:
            if monotonic() < self._from or not sys.stderr.isatty():
                return
            columns = BarColumn(), DownloadColumn(), TimeRemainingColumn()
            self._shown = Progress(*columns, console=Console(stderr=True), transient=True)
            self._shown.add_task("", total=whole)
            self._shown.start()
        self._shown.update(self._shown.task_ids[0], completed=done)

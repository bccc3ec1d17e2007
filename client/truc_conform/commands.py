"""The commands of the kit: `truc-conform client -- CMD`, `truc-conform server HOST:PORT` and `truc-conform cases`.

What they say about a run: lines on a terminal, JSON that is the same for equal runs, one HTML page.
"""

import html
import json
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from posixpath import normpath
from typing import Final, NamedTuple

import click
import trio

from truc_commands.completion import Values, complete_values
from truc_conform import client_cases, server_cases
from truc_conform.client_cases import JudgingOrder, chosen, fits, in_order, perform_all
from truc_conform.result import (
    MEANINGS,
    Case,
    CaseResult,
    CaseVerdict,
    Level,
    ProgramTrace,
    is_failure,
    tally,
)

SPECIFICATION: Final = "docs/protocol/"
_MARGIN: Final = 14
_LAST_LINES: Final = 10
_STYLE: Final = (
    "body{font:15px/1.5 sans-serif;max-width:75em;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse;width:100%}td,th{border-bottom:1px solid #ddd;padding:.3em .6em;"
    "text-align:left;vertical-align:top}td:first-child{font-weight:bold;white-space:nowrap}"
    ".PASS{color:#176f2c}.FAIL,.UNIMPLEMENTED{color:#a40e26}.NON-STRICT{color:#8a6100}.INFO{color:#555}"
    "pre{white-space:pre-wrap;background:#f4f4f4;padding:.5em;margin:.3em 0}"
)


class Report(NamedTuple):
    """A run of the kit.

    Attributes:
        subject: what was judged: a command, or the address of a server.
        level: what it was judged at, as "C2" or "server".
        seed: what everything random was drawn from.
        cases: how many cases there are at this level; the results may be of some of them.
    """

    subject: str
    level: str
    seed: int
    results: Sequence[CaseResult]
    cases: int

    @property
    def is_passed(self) -> bool:
        """Whether no result counts against the level asked for; a server need not have every capability."""
        if self.level == "server":
            return all(result.verdict is not CaseVerdict.FAIL for result in self.results)
        return not any(map(is_failure, self.results))


def line(result: CaseResult, *, is_traced: bool = True) -> str:
    """Return a result as lines of text: one if it passed, else what was expected, what came, and what shows why."""
    head = (
        f"{result.verdict:<{_MARGIN}}{result.case.name:<24} {result.seconds:6.2f} s  {result.case.expected}"
    )
    if result.verdict is CaseVerdict.PASS:
        return head
    rows = [("came", result.outcome.came), ("see", normpath(SPECIFICATION + result.case.clause))]
    if is_traced:
        rows += _traced(result)
    return "\n".join((head, *(f"{'':<{_MARGIN}}{f'{name}:':<6}{text}" for name, text in rows)))


def _traced(result: CaseResult) -> Iterator[tuple[str, str]]:
    """Yield what shows why a client failed, under short names: how it ended, its last words, the last frames."""
    trace = result.trace
    if trace is None or not is_failure(result):
        return
    yield "end", trace.ended
    for name, written in (("err", trace.stderr), ("out", trace.stdout)):
        for row in written.splitlines()[-_LAST_LINES:]:
            yield name, row
    for frame in trace.frames:
        yield "wire", frame


def summary(report: Report) -> str:
    """Return the last line: what was judged, whether it passed, and how many there are of each verdict."""
    judged = len(report.results)
    some = f"{judged} of {report.cases} cases of " if judged < report.cases else ""
    counts = ", ".join(f"{number} {verdict}" for verdict, number in tally(report.results).items() if number)
    return f"{some}{report.level}: {'passed' if report.is_passed else 'not passed'} ({counts or 'no case'})"


def as_json(report: Report) -> str:
    """Return a report as JSON; two runs in which the same cases pass, and none fails, give the same text."""
    # Without the seconds, which differ from run to run.
    rows = [
        {
            "case": result.case.name,
            "clause": result.case.clause,
            "expected": result.case.expected,
            "verdict": result.verdict,
            "came": result.outcome.came,
        }
        | ({"trace": result.trace._asdict()} if result.trace and is_failure(result) else {})
        for result in report.results
    ]
    whole = {"subject": report.subject, "level": report.level, "seed": report.seed, "cases": report.cases}
    return json.dumps({**whole, "passed": report.is_passed, "results": rows}, indent=1) + "\n"


def as_html(report: Report) -> str:
    """Return a report as one self-contained page."""
    subject, said = html.escape(report.subject), html.escape(summary(report))
    rows = "\n".join(map(_row, report.results))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{said}</title>'
        f"<style>{_STYLE}</style></head><body>\n<h1>{said}</h1>\n<p>Judged: <code>{subject}</code>; "
        f"seed {report.seed}.</p>\n<table><tr>{_cells('th', _HEADINGS)}</tr>\n{rows}\n</table>\n</body></html>\n"
    )


_HEADINGS: Final = ("verdict", "case", "expected", "came", "clause", "seconds")


def _row(result: CaseResult) -> str:
    case, came = result.case, html.escape(result.outcome.came)
    traced = "\n".join(f"{name + ':':<6}{text}" for name, text in _traced(result))
    if traced:
        came += f"<details><summary>what was said last</summary><pre>{html.escape(traced)}</pre></details>"
    texts = map(html.escape, (case.name, case.expected))
    cells = (*texts, came, html.escape(case.clause), f"{result.seconds:.2f}")
    return f'<tr><td class="{result.verdict}">{result.verdict}</td>{_cells("td", cells)}</tr>'


def _cells(kind: str, texts: Iterable[str]) -> str:
    return "".join(f"<{kind}>{text}</{kind}>" for text in texts)


_SERVER: Final = "server"
_LEVELS: Final = "; ".join(f"{level} {meaning}" for level, meaning in MEANINGS.items())

_seed = click.option("--seed", default=1, show_default=True, help="The seed of everything random.")
_cases = click.option(
    "--case", "patterns", multiple=True, metavar="GLOB", help="Only cases whose names match, as in 'C2.*'."
)
_json = click.option("--json", "as_data", type=click.Path(path_type=Path), help="Write a report as JSON.")
_page = click.option("--html", "page", type=click.Path(path_type=Path), help="Write a report as a page.")
_jobs = click.option(
    "--jobs", default=1, show_default=True, type=click.IntRange(1, 64), help="How many cases run at once."
)


def _run_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of every run."""
    return _cases(_seed(_json(_page(_jobs(command)))))


@click.command(epilog=f"Levels: {_LEVELS}.")
@click.option(
    "--level",
    type=click.Choice(list(Level), case_sensitive=False),
    help="The level to ask for; C2 if no case is named.",
)
@_run_options
@click.option(
    "--timeout",
    default=20.0,
    show_default=True,
    type=click.FloatRange(1, 600),
    help="Seconds for each start, anew with each record of the match.",
)
@click.argument("command", nargs=-1, required=True)
def client(
    *,
    level: str | None,
    patterns: tuple[str, ...],
    seed: int,
    as_data: Path | None,
    page: Path | None,
    jobs: int,
    timeout: float,
    command: tuple[str, ...],
) -> None:
    """Start COMMAND at scripted servers, once and more for each case, and judge what it does there.

    In COMMAND {url} is truc://HOST:PORT/TABLE#FINGERPRINT; {host}, {port}, {table} and {fingerprint} are its parts,
    {home} is a fresh folder for each start. It takes a seat at the table, or watches it at level C1, and ends with the
    match.
    """
    asked = Level(level.upper()) if level else None if patterns else Level.C2
    scenes = chosen(asked, patterns)
    if not scenes:
        raise click.UsageError("no case at this level has a matching name")
    order = JudgingOrder(command, seed=seed, patience_s=timeout, jobs=jobs)
    results = trio.run(perform_all, scenes, order, _teller())
    # All cases of the level: the report of a part says of how many it is.
    cases = sum(len(scene.judged) for scene in chosen(asked))
    _conclude(Report(shlex.join(command), asked or "all levels", seed, results, cases), as_data, page)


@click.command()
@_run_options
@click.option(
    "--timeout",
    default=5.0,
    show_default=True,
    type=click.FloatRange(0.1, 600),
    help="Seconds for each answer.",
)
@click.option("--hands", default=server_cases.HANDS, show_default=True, help="Hands whose deals are checked.")
@click.argument("address")
def server(
    *,
    patterns: tuple[str, ...],
    seed: int,
    as_data: Path | None,
    page: Path | None,
    jobs: int,
    timeout: float,
    hands: int,
    address: str,
) -> None:
    """Visit the server at ADDRESS, HOST:PORT or a truc:// link, with scripted clients, attacks among them."""
    cases = [case for case in server_cases.CASES if fits(case, patterns)]
    if not cases:
        raise click.UsageError("no case has a matching name")

    tell = _teller()

    async def visit(case: Case) -> CaseResult:
        began = time.monotonic()
        outcome = await server_cases.judge(case, address, seed=seed, patience_s=timeout, hands=hands)
        result = CaseResult(case, outcome, time.monotonic() - began)
        tell(result)
        return result

    try:
        results = trio.run(in_order, cases, visit, jobs)
    # An address that cannot be read, or a server that is not there: no verdict, but status 2.
    except* (ValueError, OSError) as group:
        raise click.UsageError(str(group.exceptions[0])) from None
    _conclude(Report(address, _SERVER, seed, results, len(server_cases.CASES)), as_data, page)


@click.command(name="cases")
@click.argument("pattern", default="*")
def list_cases(pattern: str) -> None:
    """List the cases whose names match PATTERN, as in 'C2.*': what each expects, and the clause it is about."""
    for case in (*client_cases.CASES, *server_cases.CASES):
        if fits(case, (pattern,)):
            click.echo(f"{case.name:<24} {case.expected} ({case.clause})")


def _teller() -> Callable[[CaseResult], None]:
    """Return a function that prints results; several cases that one start has failed show once what it left."""
    shown: list[ProgramTrace | None] = []

    def tell(result: CaseResult) -> None:
        click.echo(line(result, is_traced=not any(trace is result.trace for trace in shown)))
        if is_failure(result):
            # The cases of one scene share what its start has left.
            shown[:] = [result.trace]

    return tell


def _conclude(report: Report, as_data: Path | None, page: Path | None) -> None:
    """Write the reports asked for, and end with the exit code."""
    click.echo(summary(report))
    try:
        if as_data is not None:
            as_data.write_text(as_json(report))
        if page is not None:
            page.write_text(as_html(report))
    except OSError as error:
        raise click.FileError(str(error.filename), error.strerror or "cannot be written") from error
    raise click.exceptions.Exit(0 if report.is_passed else 1)


def _names(cases: tuple[Case, ...]) -> Values:
    return lambda: (case.name for case in cases)


complete_values(client, {"patterns": _names(client_cases.CASES)})
complete_values(server, {"patterns": _names(server_cases.CASES)})

"""The commands of the kit: `truc-conform client -- CMD`, `truc-conform server HOST:PORT` and `truc-conform cases`."""

import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click
import trio

from truc_commands.completion import Values, complete_values
from truc_conform import client_cases, server_cases
from truc_conform.client_cases import chosen, fits
from truc_conform.report import Report, as_html, as_json, line, summary
from truc_conform.result import MEANINGS, Case, CaseResult, Level, Trace, is_failure
from truc_conform.running import Order, in_order, perform_all

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
    order = Order(command, seed=seed, patience_s=timeout, jobs=jobs)
    results = trio.run(perform_all, scenes, order, _teller())
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
    shown: list[Trace | None] = []

    def tell(result: CaseResult) -> None:
        click.echo(line(result, is_traced=not any(trace is result.trace for trace in shown)))
        if is_failure(result):
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

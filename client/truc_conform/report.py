"""What the kit says about a run: lines on a terminal, JSON that is the same for equal runs, one HTML page."""

import html
import json
from collections.abc import Iterable, Iterator, Sequence
from posixpath import normpath
from typing import Final, NamedTuple

from truc_conform.result import CaseResult, CaseVerdict, is_failure, tally

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

"""What the kit says about a run: lines on a terminal, JSON that is the same for equal runs, one HTML page."""

import html
import json
from collections.abc import Iterable, Sequence
from posixpath import normpath
from typing import Final, NamedTuple

from truc_conform.result import CaseResult, CaseVerdict, is_failure, tally

SPECIFICATION: Final = "docs/protocol/"
_MARGIN: Final = 14
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
    """

    subject: str
    level: str
    seed: int
    results: Sequence[CaseResult]

    @property
    def is_passed(self) -> bool:
        """Whether no result counts against the level asked for; a server need not have every capability."""
        if self.level == "server":
            return all(result.verdict is not CaseVerdict.FAIL for result in self.results)
        return not any(map(is_failure, self.results))


def line(result: CaseResult) -> str:
    """Return a result as lines of text: one if it passed, else what was expected and what came."""
    head = (
        f"{result.verdict:<{_MARGIN}}{result.case.name:<24} {result.seconds:6.2f} s  {result.case.expected}"
    )
    if result.verdict is CaseVerdict.PASS:
        return head
    came = f"{'':<{_MARGIN}}came: {result.outcome.came}"
    where = normpath(SPECIFICATION + result.case.clause)
    return "\n".join((head, came, f"{'':<{_MARGIN}}see:  {where}"))


def summary(report: Report) -> str:
    """Return the last line: whether it passed, and how many there are of each verdict."""
    counts = ", ".join(f"{number} {verdict}" for verdict, number in tally(report.results).items() if number)
    return f"{report.level}: {'passed' if report.is_passed else 'not passed'} ({counts or 'no case'})"


def as_json(report: Report) -> str:
    """Return a report as JSON; two runs with the same outcomes give the same text."""
    rows = [
        {
            "case": result.case.name,
            "clause": result.case.clause,
            "expected": result.case.expected,
            "verdict": result.verdict,
            "came": result.outcome.came,
        }
        for result in report.results
    ]
    whole = {"subject": report.subject, "level": report.level, "seed": report.seed}
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
    if result.output and result.verdict is not CaseVerdict.PASS:
        came += f"<details><summary>its output</summary><pre>{html.escape(result.output)}</pre></details>"
    texts = map(html.escape, (case.name, case.expected))
    cells = (*texts, came, html.escape(case.clause), f"{result.seconds:.2f}")
    return f'<tr><td class="{result.verdict}">{result.verdict}</td>{_cells("td", cells)}</tr>'


def _cells(kind: str, texts: Iterable[str]) -> str:
    return "".join(f"<{kind}>{text}</{kind}>" for text in texts)

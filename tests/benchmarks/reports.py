"""The report of a run: a table for the terminal and for a page, and everything in JSON."""

import json
import os
import platform
import re
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import trio
from benchmarks.proc import cores
from benchmarks.targets import Row

BEGIN: Final = "<!-- report: begin -->"
END: Final = "<!-- report: end -->"
BUSY: Final = 0.8  # of its core; a generator that is busier may be what is measured
HEADINGS: Final = ("what", "figure", "ratio", "must", "goal", "reached")


class PageError(Exception):
    """A page has no place for the report."""


def machine() -> dict[str, Any]:
    """Say what it was measured on."""
    ours, theirs = cores()
    return {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "server_core": min(ours),
        "generator_core": max(theirs),
        "load_before": os.getloadavg()[0],
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "trio": trio.__version__,
        "sqlite": sqlite3.sqlite_version,
    }


def _processor() -> str:
    found = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else platform.machine()


def told(machine_: dict[str, Any]) -> str:
    """Say in one line what it was measured on."""
    return (
        f"{machine_['when'][:10]}, {machine_['processor']}, {machine_['cores']} cores, {machine_['system']}, "
        f"Python {machine_['python']}, Trio {machine_['trio']}, SQLite {machine_['sqlite']}; "
        f"load before the run {machine_['load_before']:.1f}"
    )


def figure(value: float | None) -> str:
    """Write a figure with three digits that count."""
    if value is None:
        return ""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def cells(row: Row) -> tuple[str, ...]:
    """Return a row's cells."""
    target, sign = row.target, ">=" if row.target.is_least else "<="
    wanted = ("" if bound is None else f"{sign} {figure(bound)}" for bound in (target.must, target.goal))
    came = f"{figure(row.figure)} {target.unit}"
    return (target.name, came, figure(row.ratio), *wanted, row.reached)


def table(rows: Sequence[Row]) -> str:
    """Return the table, in columns."""
    lines = [HEADINGS, *map(cells, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def write_page(page: Path, rows: Sequence[Row], machine_: dict[str, Any]) -> None:
    """Replace the report in a page, where only the rows stand that have something to reach.

    Raises:
        PageError: The page does not say where it stands.
    """
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise PageError(f"{page}: expected {BEGIN} and, after it, {END}; nothing was written")
    bound = [row for row in rows if row.target.must is not None or row.target.goal is not None]
    report = f"{told(machine_)}.\n\n```text\n{table(bound)}\n```"
    page.write_text(f"{before}{begin}\n{report}\n{end}{after}", encoding="utf-8")


def write_json(file: Path, results: dict[str, Any], rows: Sequence[Row], machine_: dict[str, Any]) -> None:
    """Write everything that was measured."""
    of_target = ("section", "name", "unit", "must", "goal", "is_least")
    told_rows = [
        {name: getattr(row.target, name) for name in of_target}
        | {"figure": row.figure, "ratio": row.ratio, "reached": row.reached}
        for row in rows
    ]
    whole = {"machine": machine_, "rows": told_rows, "results": results}
    file.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


def doubts(results: dict[str, Any]) -> list[str]:
    """Say which loads are to be doubted: a generator without time, clients that were cut, a schedule that was not kept."""
    found = list[str]()
    for name, load in loads(results):
        share = load["own_share"]
        if share > BUSY:
            found.append(f"{name}: the generator used {share:.0%} of its core")
        if load.get("faults"):
            found.append(f"{name}: {load['faults'][0]}")
        if load.get("behind", 0) > load.get("clients", 0) / 4:
            found.append(f"{name}: {load['behind']} tables were behind their schedule at the end")
    return found


def loads(results: dict[str, Any], name: str = "") -> list[tuple[str, dict[str, Any]]]:
    """Return every load in results, with where it stands there."""
    if "own_share" in results:
        return [(name, results)]
    found = list[tuple[str, dict[str, Any]]]()
    for key, value in results.items():
        inner = (
            {f"{each.get('pace', i)}/s": each for i, each in enumerate(value)}
            if isinstance(value, list)
            else value
        )
        if isinstance(inner, dict):
            found += loads(inner, f"{name} {key}".strip())
    return found

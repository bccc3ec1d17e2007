"""The benchmark of a server and of what it is made of: `python -m tests.benchmarks`, from the root of the project.

Server and load generator are processes with a core each; the floor (a bare echo under Trio, one durable commit, one signature) is measured in
the same run, and figures are told as ratios to it. With --short it takes a minute or two, and the exit status is 1 if a figure is
several times worse than it must be: generous enough for a machine that does other things. Linux only.
"""

import argparse
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import trio
from benchmarks import reports
from benchmarks.calls import told
from benchmarks.picture import DRAWN, draw
from benchmarks.running import BenchmarkError, MissingError
from benchmarks.scenarios import FULL, SECTIONS, SHORT, Scale, measure_floor
from benchmarks.targets import Row, rows


async def measure(
    folder: Path, scale: Scale, sections: Sequence[str], keep: Callable[[dict[str, Any]], object]
) -> dict[str, Any]:
    """Measure the floor, then one section after the other; one that cannot be measured is told of and left out.

    What there is so far is kept after each: a run takes long, and no end of it may cost what was measured before.
    """
    _tell("floor")
    results: dict[str, Any] = {"floor": await measure_floor(folder, scale)}
    for name in sections:
        keep(results)
        _tell(name)
        try:
            results[name] = await SECTIONS[name](folder, scale)
        except BenchmarkError as error:
            results.setdefault("failed", {})[name] = str(error)
        except MissingError as missing:
            results.setdefault("left_out", {})[name] = str(missing)
        except Exception as error:  # whatever it is, the other sections can be measured
            traceback.print_exc()
            results.setdefault("failed", {})[name] = f"{type(error).__name__}: {error}"
    return results


def _tell(section: str) -> None:
    print(f"measuring: {section}", file=sys.stderr, flush=True)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--short", action="store_true", help="a minute or two; exit status 1 if a gate fails")
    parser.add_argument("--only", action="append", choices=[*SECTIONS], help="this section; may be repeated")
    parser.add_argument(
        "--calls", action="store_true", help="count function calls instead, and show where they go"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured")
    parser.add_argument(
        "--picture", type=Path, metavar="FILE", help="draw latency against load, and growth, as SVG"
    )
    parser.add_argument("--write", type=Path, metavar="PAGE", help="replace the report in a page")
    chosen = parser.parse_args(arguments)
    if chosen.picture and chosen.only and not {*DRAWN} & {*chosen.only}:
        parser.error(f"--picture needs a section that is drawn: {' or '.join(DRAWN)}")
    return chosen


def publish(
    chosen: argparse.Namespace, results: dict[str, Any], machine: dict[str, Any], found: list[Row]
) -> None:
    """Write what was asked for."""
    print(f"{reports.told(machine)}\n\n{reports.table(found)}")
    if chosen.json:
        reports.write_json(chosen.json, results, found, machine)
    if chosen.write:
        reports.write_page(chosen.write, found, machine)
    if chosen.picture and any(name in results for name in DRAWN):
        draw(chosen.picture, results, machine)


def verdict(results: dict[str, Any], found: Sequence[Row], *, is_gated: bool) -> int:
    """Say what is to be doubted, what was left out or could not be measured, and which gates fail; return the exit status."""
    failed = [f"{name} could not be measured: {why}" for name, why in results.get("failed", {}).items()]
    left_out = [f"{name} is left out: {why}" for name, why in results.get("left_out", {}).items()]
    gates = [
        f"{row.target.name}: far beyond what it must reach" for row in found if is_gated and not row.passes
    ]
    for line in (*reports.doubts(results), *left_out, *failed, *gates):
        print(line, file=sys.stderr)
    return 1 if failed or gates else 0


def main(arguments: Sequence[str] | None = None, *, scale: Scale | None = None) -> int:
    """Measure, print, write; return the exit status."""
    chosen = parse(arguments)
    if chosen.calls:
        print(*told(), sep="\n")
        return 0
    scale = scale or (SHORT if chosen.short else FULL)
    machine = reports.machine()

    def keep(results: dict[str, Any]) -> None:
        if chosen.json:
            reports.write_json(chosen.json, results, rows(results), machine)

    with tempfile.TemporaryDirectory() as folder:
        results = trio.run(measure, Path(folder), scale, chosen.only or [*SECTIONS], keep)
    found = rows(results)
    publish(chosen, results, machine, found)
    return verdict(results, found, is_gated=chosen.short)


if __name__ == "__main__":
    sys.exit(main())

"""Servers, clients, network and database simulated in one process, each run from one seed: `python -m tests.simulation`.

The same seed makes the same run, byte for byte. A seed that fails is printed, with why; `--seed N --trace` plays its run
again and prints everything that happens in it. The exit status is 1 if any failed.
"""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from simulation.runs import Run, run, runs
from simulation.simulation import simulate
from simulation.world import StuckError, ViolationError


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--seeds",
        default="0:1000",
        metavar="FROM:TO",
        help="these seeds, the last not included; default %(default)s",
    )
    which.add_argument("--seed", type=int, help="this seed alone")
    parser.add_argument("--trace", action="store_true", help="with --seed: print everything that happens")
    parser.add_argument(
        "--processes", type=int, default=os.cpu_count() or 1, help="at the same time; default: %(default)s"
    )
    parser.add_argument("--digests", action="store_true", help="print the digest of each run")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the runs that are asked for; return the exit status."""
    asked = parse(arguments)
    if asked.seed is not None and asked.trace:
        return _traced(asked.seed)
    first, _, end = asked.seeds.partition(":")
    seeds = [asked.seed] if asked.seed is not None else range(int(first), int(end))
    began, figures, failed, count = perf_counter(), Counter[str](), 0, 0
    found = map(run, seeds) if len(seeds) == 1 else runs(seeds, processes=asked.processes)
    for made in found:
        count += 1
        failed += made.outcome is None
        figures.update({} if made.outcome is None else made.outcome.figures)
        _tell(made, digests=asked.digests)
    told = ", ".join(f"{name} {figures[name]}" for name in sorted(figures))
    print(f"{count} runs in {perf_counter() - began:.0f} s, {failed} failed: {told}")
    return 1 if failed else 0


def _traced(seed: int) -> int:
    try:
        print(simulate(seed, trace=print))
    except (StuckError, ViolationError) as error:
        print(f"seed {seed}: {type(error).__name__}: {error}")
        return 1
    return 0


def _tell(made: Run, *, digests: bool) -> None:
    if made.outcome is None:
        print(f"seed {made.seed}: {made.why}", file=sys.stderr, flush=True)
    elif digests:
        print(f"{made.seed} {made.outcome.digest}", flush=True)


if __name__ == "__main__":
    sys.exit(main())

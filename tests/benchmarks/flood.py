"""How long an act takes to reach the opponent while garbage floods the server: `PYTHONPATH=tests python tests/benchmarks/flood.py`.

Honest tables at human pace, quiet and flooded in turns; the median round's p50 and p99, and their ratios, of which that of
p99 is to be at most 2. The server has one core to itself where there are two; who plays and what floods share the other, as two
processes, and who plays goes first there: what is measured is how long the server takes, not how long a core does. Linux only: the flood comes from many addresses of 127.0.0.0/8.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import trio
from benchmarks.proc import cores, pin
from chaos.flood import SETTINGS, honest_tables
from chaos.measures import cpu_s
from chaos.servers import ServerProcess, serving
from chaos.thin import Tally

BOUND = 2.0
TABLES = 200
PAUSE_S = 2.0
WARM_UP_S = 2.0
LAST = 19  # the lowest priority
FOLDER = Path(__file__).resolve().parent.parent


class Round(NamedTuple):
    """What one round gave: milliseconds from an act to the opponent, how many acts, and the server's share of its core."""

    p50: float
    p99: float
    acts: int
    busy: float


def percentile(figures: Sequence[float], part: int) -> float:
    """Return the figure below which so many of a hundred lie."""
    return statistics.quantiles(figures, n=100)[part - 1]


async def measured(server: ServerProcess, tally: Tally, seconds: float) -> Round:
    """Measure one round."""
    await trio.sleep(min(WARM_UP_S, seconds))
    tally.forget_times()
    begun = cpu_s(server)
    await trio.sleep(seconds)
    busy = (cpu_s(server) - begun) / seconds
    others = tally.others
    return Round(percentile(others, 50), percentile(others, 99), len(others), busy)


@contextmanager
def on(core: set[int]) -> Iterator[None]:
    """This process runs on a core."""
    before = os.sched_getaffinity(0)
    pin(os.getpid(), core)
    try:
        yield
    finally:
        pin(os.getpid(), before)


@asynccontextmanager
async def flooded(port: int, seed: int, core: set[int]):
    """Flood the server from another process."""
    command = [sys.executable, "-m", "chaos.attacks", str(port), "--seconds", "3600", "--seed", str(seed)]
    environment = {**os.environ, "PYTHONPATH": str(FOLDER)}
    process = await trio.lowlevel.open_process(command, stdout=subprocess.DEVNULL, env=environment)
    pin(process.pid, core)
    os.setpriority(os.PRIO_PROCESS, process.pid, LAST)
    try:
        yield
    finally:
        process.kill()
        await process.wait()


async def rounds_of(folder: Path, *, tables: int, rounds: int, seconds: float) -> dict[str, list[Round]]:
    """Measure quiet and flooded rounds in turns, on one server."""
    found: dict[str, list[Round]] = {"quiet": [], "flooded": []}
    tally, (ours, theirs) = Tally(is_timed=True), cores()
    async with serving(folder / "data", SETTINGS, level="info") as server:
        pin(server.pid, ours)
        async with honest_tables(server.port, tables, tally, seed=1, pause_s=PAUSE_S):
            with on(theirs):
                for i in range(rounds):
                    found["quiet"].append(await measured(server, tally, seconds))
                    async with flooded(server.port, i + 1, theirs):
                        found["flooded"].append(await measured(server, tally, seconds))
    if tally.faults:
        raise ConnectionError(tally.faults[0])
    return found


def row(name: str, rounds: Sequence[Round]) -> str:
    """Write the median of each figure."""
    p50, p99, acts, busy = (statistics.median(figures) for figures in zip(*rounds, strict=True))
    return f"{name:8} {p50:8.2f} {p99:8.2f} {acts:6.0f} {busy:9.2f}"


def ratios(found: dict[str, list[Round]]) -> tuple[float, float]:
    """Return how many times as long it takes in a flood: p50 and p99."""
    quiet, flooded_ = (
        [statistics.median(figures) for figures in zip(*rounds, strict=True)] for rounds in found.values()
    )
    return flooded_[0] / quiet[0], flooded_[1] / quiet[1]


def main() -> None:
    """Print a row for the quiet and one for the flooded rounds, and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--tables", type=int, default=TABLES)
    chosen = parser.parse_args()
    allowed = os.sched_getaffinity(0)
    measuring = partial(rounds_of, tables=chosen.tables, rounds=chosen.rounds, seconds=chosen.seconds)
    try:
        with tempfile.TemporaryDirectory() as folder:
            found = trio.run(measuring, Path(folder))
    finally:
        os.sched_setaffinity(0, allowed)
    print(f"{'round':8} {'p50 ms':>8} {'p99 ms':>8} {'acts':>6} {'core used':>9}")
    print(*(row(name, rounds) for name, rounds in found.items()), sep="\n")
    middle, high = ratios(found)
    print(f"{'ratio':8} {middle:8.2f} {high:8.2f}   <= {BOUND}: {'yes' if high <= BOUND else 'no'}")


if __name__ == "__main__":
    main()

"""What the system says of a server that runs: memory, open files, processor time, its database; and whether figures grow.

Linux only: what concerns the process comes from /proc.
"""

import os
import re
import statistics
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from chaos.servers import ServerProcess
from chaos.stored import database_bytes

LEAST: Final = 8  # samples that a quarter must have to say anything
SPARE_MB: Final = 4.0
GROWTH: Final = 1.1

_RSS: Final = re.compile(r"VmRSS:\s+(\d+) kB")


class Sample(NamedTuple):
    """What a server takes up at one moment; `done` says how much was played until then.

    `files` leaves the database out, which each thread that reads may have open for itself.
    """

    done: int
    rss_mb: float
    files: int
    database_bytes: int


def sample(server: ServerProcess, done: int = 0) -> Sample:
    """Look at a server now."""
    found = _RSS.search((_proc(server) / "status").read_text())
    rss_kb = int(found[1]) if found else 0
    return Sample(done, rss_kb / 1024, _open_files(_proc(server) / "fd"), database_bytes(server.data))


def cpu_s(server: ServerProcess) -> float:
    """Return the processor time that a server has taken so far."""
    fields = (_proc(server) / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _proc(server: ServerProcess) -> Path:
    return Path("/proc") / str(server.pid)


def _open_files(numbers: Path) -> int:
    count = 0
    for number in os.listdir(numbers):
        with suppress(FileNotFoundError):  # closed since it was listed
            count += "truc.db" not in os.readlink(numbers / number)
    return count


def growth(figures: Sequence[float]) -> str | None:
    """Say how figures grow; None if they are flat, or too few to tell.

    The last quarter is set beside the second: the first is the warm-up.
    """
    quarter = len(figures) // 4
    if quarter < LEAST:
        return None
    early, late = statistics.median(figures[quarter : 2 * quarter]), statistics.median(figures[-quarter:])
    return None if late <= GROWTH * early + SPARE_MB else f"from {early:.1f} to {late:.1f}"


def slope(points: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """Return the slope of the straight line through points, and the share of their spread that it explains."""
    xs, ys = zip(*points, strict=True)
    line = statistics.linear_regression(xs, ys)
    return line.slope, statistics.correlation(xs, ys) ** 2

"""What the system says of a process that is measured: processor time in nanoseconds, by thread, and memory. Linux only."""

import os
import re
import resource
from pathlib import Path
from typing import Final, NamedTuple

_RSS: Final = re.compile(r"^Rss:\s+(\d+) kB", re.MULTILINE)


class Usage(NamedTuple):
    """Seconds of processor time so far: of the main thread, and of all others that still are."""

    main_s: float
    others_s: float

    def __sub__(self, earlier: "Usage") -> "Usage":
        """Return what was used since."""
        return Usage(self.main_s - earlier.main_s, max(0.0, self.others_s - earlier.others_s))


def usage(pid: int) -> Usage:
    """Return what a process has used so far."""
    tasks = Path(f"/proc/{pid}/task")
    spent = {task: _spent_s(tasks / task) for task in os.listdir(tasks)}
    main = spent.pop(str(pid))
    return Usage(main, sum(spent.values()))


def _spent_s(task: Path) -> float:
    try:
        return int((task / "schedstat").read_text().split()[0]) / 1e9
    except FileNotFoundError:  # the thread has ended since it was listed
        return 0.0


def rss_kib(pid: int) -> int:
    """Return the resident memory of a process."""
    found = _RSS.search(Path(f"/proc/{pid}/smaps_rollup").read_text())
    return int(found[1]) if found else 0


def raise_file_limit() -> None:
    """Let this process, and those it starts, open as many files as the system allows."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def cores() -> tuple[set[int], set[int]]:
    """Return the core of what is measured, and that of who measures; the same if there is but one."""
    allowed = sorted(os.sched_getaffinity(0))
    return {allowed[0]}, {allowed[-1]}


def pin(pid: int, to: set[int]) -> None:
    """Keep a process on these cores, with all threads it has and will have.

    It is told by its number when it runs: who starts a process inherits the cores of some thread of ours to it, not of this one.
    """
    for task in os.listdir(f"/proc/{pid}/task"):
        os.sched_setaffinity(int(task), to)

"""Many runs, in as many processes as are asked for; each process makes a few and ends, so that nothing piles up."""

import gc
import multiprocessing
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from server.stored import new_database
from simulation.simulation import Outcome, simulate
from simulation.world import StuckError, ViolationError

_OF_ONE_PROCESS: Final = 20


class Run(NamedTuple):
    """A seed, and what became of its run: the outcome, or why it failed."""

    seed: int
    outcome: Outcome | None
    why: str | None


def run(seed: int) -> Run:
    """Make one run."""
    try:
        return Run(seed, simulate(seed), None)
    except (StuckError, ViolationError) as error:
        return Run(seed, None, f"{type(error).__name__}: {error}")


def runs(seeds: Iterable[int], *, processes: int) -> Iterator[Run]:
    """Make a run of each seed, and yield them in the order of the seeds."""
    new_database()
    gc.collect()
    gc.freeze()  # what is there already is no garbage of any run
    try:
        if processes == 1:
            yield from map(run, seeds)
            return
        context = multiprocessing.get_context("fork")
        with context.Pool(processes, maxtasksperchild=_OF_ONE_PROCESS) as pool:
            yield from pool.imap(run, seeds)
    finally:
        gc.unfreeze()

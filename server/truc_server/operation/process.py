"""What the process asks of the system and of Python: enough open files, and a garbage collector that runs when it pays.

Invariant: the limit of open files, one for each connection and some more, is never lowered.
"""

import gc
import resource
import time
from typing import Final

import structlog
import trio

from truc_server.settings.settings import Settings

# Open files beside the connections. In a flood most are of those who are turned away and read why, of browsers
# and of strangers at the inner door, each of whom has a limit of their own; the rest is the server's own:
# database, lock, listeners, worker threads.
SPARE: Final = 512


def needed_files(settings: Settings) -> int:
    """Return how many files a server with these settings may come to have open: each client of a node may have a link to another."""
    for_each = 2 if settings.cluster.node else 1
    return for_each * settings.limits.connections + SPARE


def raise_file_limit(needed: int) -> None:
    """Raise the process's limit of open files to `needed`, or as far as it goes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < needed:
        allowed = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))


def allowed_files() -> int | None:
    """Return how far the limit of open files can be raised; None if it has no end."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if hard == resource.RLIM_INFINITY else hard


EVERY_S: Final = 1.0
LITTLE: Final = 100_000  # objects, of some 150 bytes each

log = structlog.get_logger()


async def collect_when_grown() -> None:
    """Run the collector's rounds in place of the interpreter; what exists already is never walked."""
    # Decision 19: with 4,000 tables each full round of the interpreter's halted the server for three quarters
    # of a second, and found nothing, as what the server lets go never refers to itself (test_collecting.py).
    gc.freeze()
    gc.disable()
    known = 0
    try:
        while True:
            await trio.sleep(EVERY_S)
            if is_due(known):
                known = _collect()
    finally:
        # What was frozen stays so: a last round over all of it took longer than the rest of stopping.
        gc.enable()


def is_due(known: int) -> bool:
    """Tell whether enough objects have come for another round, after one that left `known`."""
    # While the collector is off, this first count is of the objects that have come and are still there.
    grown, *_ = gc.get_count()
    # As many again as the last round has left: so what rounds walk grows no faster than what is made.
    return grown > max(LITTLE, known)


def _collect() -> int:
    """Walk everything once; return how many objects are left."""
    began = time.perf_counter()
    found = gc.collect()
    left = len(gc.get_objects())
    log.info("collected", garbage=found, objects=left, seconds=round(time.perf_counter() - began, 3))
    return left

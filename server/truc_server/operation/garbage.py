"""The cyclic garbage collector: it runs only when there may be something for it to find.

What the server lets go of is in no cycle, and is freed at once; the collector is there for what was overlooked. A round
halts every table, and with thousands of tables it takes most of a second. Invariant: no round begins by itself, and what
only a round could free is never more than what the last one left, or a little.
"""

import gc
import time
from typing import Final

import structlog
import trio

EVERY_S: Final = 1.0
LITTLE: Final = 100_000  # objects, of some 150 bytes each

log = structlog.get_logger()


async def collect_when_grown() -> None:
    """Run the rounds in place of the interpreter; what exists already stays, and no round walks it."""
    gc.freeze()
    gc.disable()
    known = 0
    try:
        while True:
            await trio.sleep(EVERY_S)
            if is_due(known):
                known = _collect()
    finally:
        gc.enable()
        gc.unfreeze()


def is_due(known: int) -> bool:
    """Tell whether so many objects have come since a round that left `known` that another is due."""
    grown, *_ = gc.get_count()
    return grown > max(LITTLE, known)


def _collect() -> int:
    """Walk everything once; return how many objects are left."""
    began = time.perf_counter()
    found = gc.collect()
    left = len(gc.get_objects())
    log.info("collected", garbage=found, objects=left, seconds=round(time.perf_counter() - began, 3))
    return left

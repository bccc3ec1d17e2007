"""What the benchmarks that run in their own process share: the processor time of an action, and the price of a signature."""

import gc
import statistics
import time
from collections.abc import Callable

from truc_protocol.crypto import keys

_BATCH = 20
_IN_A_ROW = 5
_BODY = b"x" * 200


def spent_us(action: Callable[..., object], *arguments: object) -> float:
    """Return the microseconds of processor time that an action takes: the fastest of a few in a row.

    Whatever else runs on the machine only ever adds to it. The garbage collector waits, as in the library's `timeit`: what it
    walks is mostly the benchmark's own.
    """
    gc.disable()
    try:
        return min(_once_us(action, *arguments) for _ in range(_IN_A_ROW))
    finally:
        gc.enable()


def _once_us(action: Callable[..., object], *arguments: object) -> float:
    begun = time.process_time()
    action(*arguments)
    return (time.process_time() - begun) * 1e6


def each_us(action: Callable[..., object], *arguments: object) -> float:
    """Return the microseconds of one of many calls in a row."""

    def often() -> None:
        for _ in range(_BATCH):
            action(*arguments)

    return spent_us(often) / _BATCH


def signatures_us(rounds: int = 5) -> tuple[float, float]:
    """Return the microseconds to sign, and to check a signature: medians."""
    signer = keys.generate_signing_key()
    signature = signer.sign(_BODY)
    return (
        statistics.median(each_us(signer.sign, _BODY) for _ in range(rounds)),
        statistics.median(each_us(keys.verify, signer.public, _BODY, signature) for _ in range(rounds)),
    )

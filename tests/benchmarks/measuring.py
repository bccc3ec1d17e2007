"""What the benchmarks of the fairness work share: medians of timed rounds, and the cost of the crypto primitives.

The primitives are timed in the run that uses them. A figure that was taken on another machine is set beside ours by the
primitives it consists of: as many signatures, verifications and so on, at the price of either machine.
"""

import gc
import hashlib
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

from truc_protocol.crypto import keys

_BATCH = 20
_IN_A_ROW = 5
_BODY = b"x" * 200


class Primitives(NamedTuple):
    """A number for each primitive: how often it occurs, or how many microseconds it costs."""

    sign: float = 0.0
    verify: float = 0.0
    exchange: float = 0.0
    derive: float = 0.0
    hash: float = 0.0
    seal: float = 0.0

    def __mul__(self, costs: "Primitives") -> float:
        """Return the microseconds that these counts take at these costs."""
        return sum(count * cost for count, cost in zip(self, costs, strict=True))


PROTOTYPE = Primitives(sign=31.5, verify=103.1, exchange=30.6, derive=3.0, hash=0.36, seal=1.7)
"""The microseconds of the machine that the prototype's figures were taken on."""


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


def _each_us(action: Callable[..., object], *arguments: object) -> float:
    """Return the microseconds of one of many calls in a row."""

    def often() -> None:
        for _ in range(_BATCH):
            action(*arguments)

    return spent_us(often) / _BATCH


def primitives() -> Primitives:
    """Time each primitive once, at the sizes at which they were timed for the prototype."""
    signer, ours, theirs = keys.generate_signing_key(), keys.generate_box_key(), keys.generate_box_key()
    signature = signer.sign(_BODY)
    secret, nonce = _BODY[: keys.KEY_BYTES], _BODY[: keys.NONCE_BYTES]
    return Primitives(
        sign=_each_us(signer.sign, _BODY),
        verify=_each_us(keys.verify, signer.public, _BODY, signature),
        exchange=_each_us(lambda: keys.box_key(ours.secret).exchange(theirs.public)),
        derive=_each_us(keys.derive, secret, secret, _BODY[:40]),
        hash=_each_us(lambda: hashlib.sha256(_BODY[:64]).digest()),
        seal=_each_us(keys.seal, secret, nonce, _BODY[:64]),
    )


def median_of(measured: list[Primitives]) -> Primitives:
    """Return the median of each primitive."""
    return Primitives(*map(statistics.median, zip(*measured, strict=True)))

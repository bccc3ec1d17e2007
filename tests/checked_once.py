"""Signatures and points that several parties in one process check or multiply, done once: most of what a match costs.

What they come to follows from what is given and from nothing else. Whoever should ask still asks, and what was never asked
before is computed.
"""

from functools import lru_cache, partial

import pytest

from truc_protocol.blind_mode import points, sealed_pack, seat_steps
from truc_protocol.crypto import keys

_REMEMBERED = 1 << 16  # answers of each kind: more than the records and points of any match in the tests

_multiplier = lru_cache(_REMEMBERED)(keys.multiplier)
_times_base = lru_cache(_REMEMBERED)(keys.times_base)
_verify = lru_cache(_REMEMBERED)(keys.verify)
_in_prime_subgroup = lru_cache(_REMEMBERED)(keys.in_prime_subgroup)


class Multiplier:
    """Multiplication by one scalar, as `keys` has it."""

    def __init__(self, scalar: bytes) -> None:
        self.times = partial(_times, scalar)
        self.times_base = partial(_times_base, scalar)


@lru_cache(_REMEMBERED)
def _times(scalar: bytes, point: bytes) -> bytes:
    return _multiplier(scalar).times(point)


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all that checks in this process share the answers."""
    monkeypatch.setattr(keys, "verify", _verify)
    monkeypatch.setattr(sealed_pack, "in_prime_subgroup", _in_prime_subgroup)
    monkeypatch.setattr(points, "times_base", _times_base)
    for module in (points, seat_steps):
        monkeypatch.setattr(module, "multiplier", Multiplier)

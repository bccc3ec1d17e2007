"""Signatures and points checked once: a server and every seat at its tables check the same ones, which is most of a match.

What such a check answers follows from what it is given and from nothing else. Whoever should ask still asks, and what was
never asked before is computed.
"""

from functools import lru_cache

import pytest

from truc_protocol.blind_mode import points, sealed_pack
from truc_protocol.crypto import keys

_REMEMBERED = 1 << 14  # answers: more than the records and points of any match in these tests

_verify = lru_cache(_REMEMBERED)(keys.verify)
_in_prime_subgroup = lru_cache(_REMEMBERED)(keys.in_prime_subgroup)
_times_base = lru_cache(_REMEMBERED)(keys.times_base)
_multiplier = lru_cache(_REMEMBERED)(keys.multiplier)


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all that checks in this process share the answers."""
    monkeypatch.setattr(keys, "verify", _verify)
    monkeypatch.setattr(sealed_pack, "in_prime_subgroup", _in_prime_subgroup)
    monkeypatch.setattr(points, "times_base", _times_base)
    monkeypatch.setattr(points, "multiplier", _multiplier)

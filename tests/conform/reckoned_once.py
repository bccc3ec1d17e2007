"""What takes long to reckon and always comes out the same, reckoned once in a process, though several at one table need it.

At a table of the kit the server, its puppets and the client multiply the same points and check the same signatures.
"""

from functools import cache, partial

from truc_protocol.blind_mode import points, sealed_pack, seat_steps
from truc_protocol.crypto import keys

_multiplier = cache(keys.multiplier)


class Multiplier:
    """Multiplication by one scalar, as `keys` has it."""

    def __init__(self, scalar: bytes) -> None:
        self.times = partial(_times, scalar)
        self.times_base = partial(_times_base, scalar)


@cache
def _times(scalar: bytes, point: bytes) -> bytes:
    return _multiplier(scalar).times(point)


_times_base = cache(keys.times_base)
_verify = cache(keys.verify)
_in_prime_subgroup = cache(keys.in_prime_subgroup)


def install(monkeypatch) -> None:
    """Let everything in this process remember what it has reckoned."""
    monkeypatch.setattr(keys, "verify", _verify)
    monkeypatch.setattr(sealed_pack, "in_prime_subgroup", _in_prime_subgroup)
    monkeypatch.setattr(points, "times_base", _times_base)
    for module in (points, seat_steps):
        monkeypatch.setattr(module, "multiplier", Multiplier)

"""Which 32 bytes are a point of Ed25519's prime-order subgroup: the numbers of the check.

The check is one multiplication on the Montgomery form of the curve, which X25519 does: by a scalar s that negates the
points of the subgroup, and no others. A point and its negative have the same u, so s A and A are compared by their u.

Public arithmetic on public keys only: nothing here is secret. X25519 itself is in keys.py.
"""

from typing import Final

FIELD: Final = 2**255 - 19
ORDER: Final = 2**252 + 27742317777372353535851937790883648493
# A multiple of 8 between 2^254 and 2^255, so the clamping of RFC 7748 (section 5) leaves it as it is. With L
# the order, s A = -A holds exactly where 5 L A is the identity, that is where L A is, since no point has order
# 5. The other way to the same u, s A = A, is left to points of small order, which are refused before; and a y
# that belongs to no point gives a u on the curve's twist, whose large order divides neither s + 1 nor s - 1
NEGATION: Final = (5 * ORDER - 1).to_bytes(32, "little")
"""The scalar s, as X25519 takes it: it negates the points of the subgroup, and no others."""
_SIGN_BIT: Final = 255
_Y: Final = (1 << _SIGN_BIT) - 1


def split_encoding(encoded: bytes) -> tuple[int, int]:
    """Return (y, sign of x) as encoded in the 32 bytes, y not reduced."""
    number = int.from_bytes(encoded, "little")
    return number & _Y, number >> _SIGN_BIT


def montgomery(encoded: bytes) -> bytes:
    """Return the u of a point that is not the identity, u = (1 + y) / (1 - y) (RFC 7748, section 4.1), as X25519 takes it."""
    y, _sign = split_encoding(encoded)
    return ((1 + y) * pow(1 - y, -1, FIELD) % FIELD).to_bytes(32, "little")

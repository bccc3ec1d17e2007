"""Which 32 bytes are a point of Ed25519's prime-order subgroup.

Public arithmetic on public keys only: nothing here is secret, so nothing runs in constant time. Signing and verifying
are not here. The formulas are the complete ones for twisted Edwards curves with a = -1, so no point is a special case.
"""

from typing import Final, NamedTuple

FIELD: Final = 2**255 - 19
ORDER: Final = 2**252 + 27742317777372353535851937790883648493
_D: Final = -121665 * pow(121666, -1, FIELD) % FIELD
_ROOT_OF_MINUS_ONE: Final = pow(2, (FIELD - 1) // 4, FIELD)
_SIGN_BIT: Final = 255


class _Point(NamedTuple):
    """A point in extended coordinates: x = X/Z, y = Y/Z, T = XY/Z."""

    x: int
    y: int
    z: int
    t: int


_IDENTITY: Final = _Point(0, 1, 1, 0)


def split_encoding(encoded: bytes) -> tuple[int, int]:
    """Return (y, sign of x) as they stand in the 32 bytes, y not reduced."""
    number = int.from_bytes(encoded, "little")
    return number & ((1 << _SIGN_BIT) - 1), number >> _SIGN_BIT


def is_prime_order(encoded: bytes) -> bool:
    """Tell whether 32 bytes decode to a point A other than the identity with ORDER * A = identity."""
    point = _decode(encoded)
    return point is not None and not _is_identity(point) and _is_identity(_multiply(ORDER, point))


def _decode(encoded: bytes) -> _Point | None:
    y, sign = split_encoding(encoded)
    if y >= FIELD:
        return None
    x = _x_of(y)
    if x is None or (x == 0 and sign == 1):
        return None
    if x & 1 != sign:
        x = FIELD - x
    return _Point(x, y, 1, x * y % FIELD)


def _x_of(y: int) -> int | None:
    """Return one of the two x with -x^2 + y^2 = 1 + d x^2 y^2, or None where y is on no point (RFC 8032, 5.1.3)."""
    u = (y * y - 1) % FIELD
    v = (_D * y * y + 1) % FIELD
    x = u * pow(v, 3, FIELD) * pow(u * pow(v, 7, FIELD), (FIELD - 5) // 8, FIELD) % FIELD
    if v * x * x % FIELD == u:
        return x
    x = x * _ROOT_OF_MINUS_ONE % FIELD
    return x if v * x * x % FIELD == u else None


def _multiply(factor: int, point: _Point) -> _Point:
    total = _IDENTITY
    for bit in f"{factor:b}":
        total = _double(total)
        if bit == "1":
            total = _add(total, point)
    return total


def _add(left: _Point, right: _Point) -> _Point:
    a = (left.y - left.x) * (right.y - right.x) % FIELD
    b = (left.y + left.x) * (right.y + right.x) % FIELD
    c = 2 * _D * left.t * right.t % FIELD
    d = 2 * left.z * right.z % FIELD
    return _from_products(b - a, d - c, d + c, b + a)


def _double(point: _Point) -> _Point:
    a = point.x * point.x % FIELD
    b = point.y * point.y % FIELD
    e = a + b - (point.x + point.y) ** 2
    g = a - b
    return _from_products(e, 2 * point.z * point.z + g, g, a + b)


def _from_products(e: int, f: int, g: int, h: int) -> _Point:
    return _Point(e * f % FIELD, g * h % FIELD, f * g % FIELD, e * h % FIELD)


def _is_identity(point: _Point) -> bool:
    return point.x == 0 and point.y == point.z

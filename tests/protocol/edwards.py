"""Arithmetic on Ed25519 points, to forge with and to compare with; only curve.py is the product's.

Nothing here runs in constant time. The formulas are the complete ones for twisted Edwards curves with a = -1, so no
point is a special case.
"""

from typing import Final, NamedTuple

from truc_protocol.crypto.curve import FIELD, ORDER, split_encoding

_D: Final = -121665 * pow(121666, -1, FIELD) % FIELD
_ROOT_OF_MINUS_ONE: Final = pow(2, (FIELD - 1) // 4, FIELD)


class Point(NamedTuple):
    """A point in extended coordinates: x = X/Z, y = Y/Z, T = XY/Z."""

    x: int
    y: int
    z: int
    t: int


IDENTITY: Final = Point(0, 1, 1, 0)


def is_prime_order(encoded: bytes) -> bool:
    """Tell whether 32 bytes decode to a point A other than the identity with ORDER * A = identity."""
    point = decode(encoded)
    return point is not None and not _is_identity(point) and _is_identity(multiply(ORDER, point))


def decode(encoded: bytes) -> Point | None:
    """Return the point of an encoding, None where there is none."""
    y, sign = split_encoding(encoded)
    if y >= FIELD:
        return None
    x = _x_of(y)
    if x is None or (x == 0 and sign == 1):
        return None
    if x & 1 != sign:
        x = FIELD - x
    return Point(x, y, 1, x * y % FIELD)


def encode(point: Point) -> bytes:
    """Return the 32 bytes of a point."""
    inverse = pow(point.z, -1, FIELD)
    x, y = point.x * inverse % FIELD, point.y * inverse % FIELD
    return (y | (x & 1) << 255).to_bytes(32, "little")


def multiply(factor: int, point: Point) -> Point:
    """Return factor * point."""
    total = IDENTITY
    for bit in f"{factor:b}":
        total = _double(total)
        if bit == "1":
            total = add(total, point)
    return total


def add(left: Point, right: Point) -> Point:
    """Return left + right."""
    a = (left.y - left.x) * (right.y - right.x) % FIELD
    b = (left.y + left.x) * (right.y + right.x) % FIELD
    c = 2 * _D * left.t * right.t % FIELD
    d = 2 * left.z * right.z % FIELD
    return _from_products(b - a, d - c, d + c, b + a)


def _x_of(y: int) -> int | None:
    """Return one of the two x with -x^2 + y^2 = 1 + d x^2 y^2, or None where y is on no point (RFC 8032, 5.1.3)."""
    u = (y * y - 1) % FIELD
    v = (_D * y * y + 1) % FIELD
    x = u * pow(v, 3, FIELD) * pow(u * pow(v, 7, FIELD), (FIELD - 5) // 8, FIELD) % FIELD
    if v * x * x % FIELD == u:
        return x
    x = x * _ROOT_OF_MINUS_ONE % FIELD
    return x if v * x * x % FIELD == u else None


def _double(point: Point) -> Point:
    a = point.x * point.x % FIELD
    b = point.y * point.y % FIELD
    e = a + b - (point.x + point.y) ** 2
    g = a - b
    return _from_products(e, 2 * point.z * point.z + g, g, a + b)


def _from_products(e: int, f: int, g: int, h: int) -> Point:
    return Point(e * f % FIELD, g * h % FIELD, f * g % FIELD, e * h % FIELD)


def _is_identity(point: Point) -> bool:
    return point.x == 0 and point.y == point.z

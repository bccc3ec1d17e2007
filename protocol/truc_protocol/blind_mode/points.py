"""Scalars and points: the prime-order group of Curve25519 by its u-coordinates, with X25519 alone.

A u does not tell a point from its negative, so t and -t count as one scalar: a class. Every class but some 2^-125 of them
has exactly one number that the clamping of RFC 7748 leaves as it is; it is the only encoding of the class that is
accepted, and libraries that clamp, as all do, multiply by exactly this number. X25519 itself is behind `crypto.keys`.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from truc_protocol.codec import Hashed, digest
from truc_protocol.crypto.curve import ORDER
from truc_protocol.crypto.keys import Multiplier, multiplier, times_base

SCALAR_BYTES: Final = 32
BASE: Final = (9).to_bytes(SCALAR_BYTES, "little")
"""The base point G."""
_COFACTOR: Final = 8
_LOWEST: Final = 2**254
_BEYOND: Final = 2**255
_PER_EIGHTH: Final = pow(_COFACTOR, -1, ORDER)

Pair = tuple[bytes, bytes]
"""A card under masks: two points (P, Q), of which only the ratio tells the card."""


class ScalarError(ValueError):
    """A scalar has no encoding that clamping leaves as it is; the text does not say which."""


def clamped(octets: bytes) -> int:
    """Return 32 bytes as RFC 7748 reads a scalar: a multiple of 8 from 2^254 to below 2^255."""
    number = int.from_bytes(octets, "little")
    return (number & ~(_COFACTOR - 1)) % _LOWEST | _LOWEST


def scalar(tag: str, *fields: Hashed) -> int:
    """Return clamp(H(tag, ...)) mod the order of the group: never 0."""
    # never 0: the least multiple of both 8 and the order is beyond 2^255
    return clamped(digest(tag, *fields)) % ORDER


def encoded(number: int) -> bytes:
    """Return rep(t), the 32 bytes in which the class of `number` travels.

    Raises:
        ScalarError: It has none; that happens by chance for one class of 2^125.
    """
    # modulo the order this is `number` again, and a multiple of 8; its negative is the same class
    clamp = _COFACTOR * (number * _PER_EIGHTH % ORDER)
    if clamp < _LOWEST:
        clamp = _COFACTOR * ORDER - clamp
    if not _LOWEST <= clamp < _BEYOND:
        raise ScalarError("the scalar has no number that clamping leaves as it is")
    return clamp.to_bytes(SCALAR_BYTES, "little")


def is_scalar(octets: bytes) -> bool:
    """Tell whether these bytes are what `encoded` gives for some class: libraries would take others without a word."""
    return len(octets) == SCALAR_BYTES and clamped(octets) == int.from_bytes(octets, "little")


def decoded(octets: bytes) -> int:
    """Return the class of 32 bytes for which `is_scalar` holds."""
    return int.from_bytes(octets, "little") % ORDER


def times(number: int) -> Multiplier:
    """Return the multiplication by a class, to be used for one point or many."""
    return multiplier(encoded(number))


# every card of any pack, which has at most 128 (C5)
@lru_cache(maxsize=256)
def card_scalar(card: int) -> int:
    """Return u_c, the logarithm of a card's point, which everybody knows."""
    return scalar("card", card)


@lru_cache(maxsize=256)
def card_times(card: int) -> Multiplier:
    """Return the multiplication by u_c."""
    return times(card_scalar(card))


@lru_cache(maxsize=256)
def card_point(card: int) -> bytes:
    """Return U_c, the point of a card before the first mask."""
    return times_base(encoded(card_scalar(card)))


class Logarithms:
    """Points whose logarithm to the base point is known: at first those of the plain pack, then all that are made here."""

    def __init__(self, deck: int) -> None:
        self._known = {BASE: 1, **_plain_logarithms(deck)}

    def times(self, number: int, point: bytes) -> bytes:
        """Return a class times a point.

        Raises:
            ScalarError: The class has no encoding.
            WeakKeyError: The result is the identity, as of a point of small order.
        """
        # encoded in either case, as whether that fails must not depend on what is known of the point
        octets, log = encoded(number), self._known.get(point)
        # multiplying the base point takes half the time
        if log is not None:
            made_log = number * log % ORDER
            try:
                made = times_base(encoded(made_log))
            except ScalarError:  # of the product alone: the class itself has an encoding
                pass
            else:
                self._known[made] = made_log
                return made
        return multiplier(octets).times(point)

    def note(self, made: bytes, number: int, point: bytes) -> None:
        """Note that a point was made by multiplying another."""
        if (log := self._known.get(point)) is not None:
            self._known[made] = number * log % ORDER


@lru_cache(maxsize=16)
def _plain_logarithms(deck: int) -> Mapping[bytes, int]:
    return {card_point(card): card_scalar(card) for card in range(deck)}


def plain_pack(deck: int) -> tuple[Pair, ...]:
    """Return the pack before the first mask: (G, U_c) for each card."""
    return tuple((BASE, card_point(card)) for card in range(deck))


def product(numbers: Sequence[int]) -> int:
    """Return the product of classes."""
    result = 1
    for number in numbers:
        result = result * number % ORDER
    return result


def inverse(number: int) -> int:
    """Return the class by which multiplying with `number` is undone."""
    return pow(number, -1, ORDER)

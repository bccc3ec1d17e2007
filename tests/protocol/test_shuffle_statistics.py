"""The shuffle, by statistics: what fixed seeds give, and how likely a shuffle without bias would fail here.

Seeds are fixed, so nothing here fails by chance: it passes on every run, or on none. Each bound is stated with the
probability that it is missed if every order is equally likely, by the chi-square distribution, computed here. That every
order comes of equally many bytes is enumerated in test_shuffle.py.

Beside each test stand shuffles that are biased, to show that it would see them.
"""

import math
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import permutations

import pytest

from truc_protocol.crypto.shuffle import shuffle, stream

Shuffle = Callable[[bytes, int], list[int]]
PACK = 40


def seed(number: int) -> bytes:
    return number.to_bytes(32, "big")


def without_rejection(of: bytes, size: int) -> list[int]:
    """Shuffle by the rest of each byte, none passed over: small rests are up to 9.4 % too frequent for 40 cards."""
    octets, order = stream(of), list(range(size))
    for last in range(size - 1, 0, -1):
        other = next(octets) % (last + 1)
        order[last], order[other] = order[other], order[last]
    return order


def never_staying(of: bytes, size: int) -> list[int]:
    """Shuffle by swapping with a card strictly below: only cycles come out."""
    octets, order = stream(of), list(range(size))
    for last in range(size - 1, 0, -1):
        other = next(octets) % last
        order[last], order[other] = order[other], order[last]
    return order


def swapping_with_any(of: bytes, size: int) -> list[int]:
    """Shuffle by swapping each card with any: size^size ways onto size! orders."""
    octets, order = stream(of), list(range(size))
    for at in range(size):
        other = next(octets) % size
        order[at], order[other] = order[other], order[at]
    return order


# The tail


def chi_square_tail(value: float, freedom: int) -> float:
    """Return the probability that chi-square with `freedom` degrees reaches `value`.

    With x = value / 2: for even degrees the sum of x^p e^(-x) / p! over p = 0, 1 ... freedom/2 - 1; for odd ones
    erfc(sqrt x) and the sum of x^p e^(-x) / Gamma(p + 1) over p = 1/2, 3/2 ... freedom/2 - 1. All terms are positive.
    """
    x, odd = value / 2, freedom % 2
    powers = (step + odd / 2 for step in range(freedom // 2))
    first = math.erfc(math.sqrt(x)) if odd else 0.0
    return first + sum(math.exp(p * math.log(x) - x - math.lgamma(p + 1)) for p in powers)


# What fixed seeds give


@cache
def placed(shuffled: Shuffle, draws: int) -> Counter:
    """How often each card comes to each place."""
    counts: Counter = Counter()
    for number in range(draws):
        counts.update(enumerate(shuffled(seed(number), PACK)))
    return counts


@cache
def ordered(shuffled: Shuffle, size: int, draws: int) -> Counter:
    """How often each order comes."""
    return Counter(tuple(shuffled(seed(number), size)) for number in range(draws))


def place_tail(shuffled: Shuffle, draws: int = 6_000) -> float:
    """Return the chi-square tail of position by card.

    The covariance of a uniform permutation matrix is 1/(n - 1) times a projection of rank (n - 1)^2, so
    (n - 1)/draws times the sum of (count - draws/n)^2 approaches chi-square with (n - 1)^2 degrees.
    """
    counts, expected = placed(shuffled, draws), draws / PACK
    cells = (counts[place, card] for place in range(PACK) for card in range(PACK))
    value = (PACK - 1) / draws * sum((count - expected) ** 2 for count in cells)
    return chi_square_tail(value, (PACK - 1) ** 2)


def order_tail(shuffled: Shuffle, size: int = 5, draws: int = 24_000) -> float:
    """Return the chi-square tail of all orders of a small pack, with one degree less than there are orders."""
    counts, cells = ordered(shuffled, size, draws), math.factorial(size)
    expected = draws / cells
    value = sum((counts[order] - expected) ** 2 / expected for order in permutations(range(size)))
    return chi_square_tail(value, cells - 1)


LIMIT = 1e-6


@pytest.mark.parametrize("tail", [place_tail, order_tail])
def test_counts_are_neither_too_uneven_nor_too_even(tail):
    """Chi-square: an unbiased shuffle fails with probability 2e-6 each, as far as the statistic is chi-square.

    The limits for position by card, of 1521 degrees: 1797.7 and 1273.1; for the orders of five cards, of 119: 207.2
    and 59.5.
    """
    assert LIMIT <= tail(shuffle) <= 1 - LIMIT


@pytest.mark.parametrize(
    ("tail", "biased"),
    [
        (place_tail, without_rejection),
        (place_tail, never_staying),
        (place_tail, swapping_with_any),
        (order_tail, never_staying),
        (order_tail, swapping_with_any),
    ],
)
def test_biased_shuffle_is_seen(tail, biased):
    assert tail(biased) < LIMIT


# That the tail is what it says


@pytest.mark.parametrize(
    ("value", "freedom", "expected"),
    [(3.841459, 1, 0.05), (5.991465, 2, 0.05), (18.307038, 10, 0.05), (145.460740, 119, 0.05), (23.209251, 10, 0.01)],
)  # fmt: skip
def test_chi_square_tail_is_that_of_the_printed_tables(value, freedom, expected):
    assert chi_square_tail(value, freedom) == pytest.approx(expected, abs=1e-6)

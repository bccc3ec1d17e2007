"""The shuffle, by statistics: what fixed seeds give, and how likely a shuffle without bias would fail here.

Seeds are fixed, so nothing here fails by chance: it passes on every run, or on none. Each bound is stated with the
probability that it is missed if every order is equally likely:

* exact: the probability itself, summed over all outcomes in whole numbers;
* rigorous: at most that much, from exact binomial tails added up (no independence is assumed);
* chi-square: that of the chi-square distribution, computed here, which the statistic approaches.

Beside each test stand shuffles that are biased, to show that it would see them.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import permutations, product

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


# The tails


def chi_square_tail(value: float, freedom: int) -> float:
    """Return the probability that chi-square with `freedom` degrees reaches `value`.

    With x = value / 2: for even degrees the sum of x^p e^(-x) / p! over p = 0, 1 ... freedom/2 - 1; for odd ones
    erfc(sqrt x) and the sum of x^p e^(-x) / Gamma(p + 1) over p = 1/2, 3/2 ... freedom/2 - 1. All terms are positive.
    """
    x, odd = value / 2, freedom % 2
    powers = (step + odd / 2 for step in range(freedom // 2))
    first = math.erfc(math.sqrt(x)) if odd else 0.0
    return first + sum(math.exp(p * math.log(x) - x - math.lgamma(p + 1)) for p in powers)


def partitions(total: int, parts: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to write `total` as `parts` numbers, none above `largest`, in descending order."""
    if parts == 1:
        if total <= largest:
            yield (total,)
        return
    for first in range(min(total, largest), (total - 1) // parts, -1):
        for rest in partitions(total - first, parts - 1, first):
            yield (first, *rest)


def multinomial_tail(squares: int, *, draws: int, cells: int) -> float:
    """Return the exact probability that the squares of the counts of `draws` uniform draws add up to `squares` or more.

    Each way to spread the draws stands for draws! / (product of counts!) sequences, and for as many orders of its
    counts as differ; all are added up in whole numbers and divided by cells^draws once.
    """
    ways = 0
    for counts in partitions(draws, cells, draws):
        if sum(count * count for count in counts) >= squares:
            sequences = math.factorial(draws) // math.prod(map(math.factorial, counts))
            ways += (
                sequences * math.factorial(cells) // math.prod(map(math.factorial, Counter(counts).values()))
            )
    return ways / cells**draws


def binomial_bound(count: int, draws: int, chance: float) -> float:
    """Return a bound on the probability of a count at least so far from what is expected, to its side.

    exp(-draws D(count/draws || chance)), D the relative entropy (Chernoff; Hoeffding 1963, theorem 1): it holds for
    every number of draws.
    """
    seen = count / draws
    parts = ((seen, chance), (1 - seen, 1 - chance))
    return math.exp(-draws * sum(p * math.log(p / q) for p, q in parts if p > 0))


def worst_cell(counts: dict, cells: int, draws: int, chance: float) -> float:
    """Return a bound on the probability that any of the cells, on either side, is as unlikely as the worst one seen."""
    seen = [*counts.values(), *[0] * (cells - len(counts))]
    return min(1.0, 2 * cells * min(binomial_bound(count, draws, chance) for count in seen))


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


def exact_order_tail(shuffled: Shuffle, draws: int = 72) -> float:
    """Return the exact tail of all six orders of three cards."""
    counts = ordered(shuffled, 3, draws)
    return multinomial_tail(sum(count * count for count in counts.values()), draws=draws, cells=6)


def worst_place(shuffled: Shuffle, draws: int = 6_000) -> float:
    """Return a rigorous bound for position by card: each of the n^2 counts is binomial with chance 1/n."""
    return worst_cell(placed(shuffled, draws), PACK**2, draws, 1 / PACK)


def worst_order(shuffled: Shuffle, draws: int = 24_000) -> float:
    """Return a rigorous bound for the 120 orders of five cards: each count is binomial with chance 1/120."""
    return worst_cell(ordered(shuffled, 5, draws), 120, draws, 1 / 120)


LIMIT = 1e-6


@pytest.mark.parametrize("tail", [place_tail, order_tail])
def test_counts_are_neither_too_uneven_nor_too_even(tail):
    """Chi-square: an unbiased shuffle fails with probability 2e-6 each, as far as the statistic is chi-square.

    The limits for position by card, of 1521 degrees: 1797.7 and 1273.1; for the orders of five cards, of 119: 207.2
    and 59.5.
    """
    assert LIMIT <= tail(shuffle) <= 1 - LIMIT


def test_orders_of_three_cards_are_even_by_the_exact_distribution():
    """Exact: an unbiased shuffle fails with probability at most 1e-6, whatever the number of draws."""
    assert exact_order_tail(shuffle) >= LIMIT


@pytest.mark.parametrize("bound", [worst_place, worst_order])
def test_no_single_count_is_out_of_bounds(bound):
    """Rigorous: an unbiased shuffle fails with probability at most 1e-6 each, for this number of draws."""
    assert bound(shuffle) >= LIMIT


@pytest.mark.parametrize(
    ("tail", "biased"),
    [
        (place_tail, without_rejection),
        (place_tail, never_staying),
        (place_tail, swapping_with_any),
        (order_tail, never_staying),
        (order_tail, swapping_with_any),
        (exact_order_tail, never_staying),
        (worst_place, never_staying),
        (worst_order, never_staying),
        (worst_order, swapping_with_any),
    ],
)
def test_biased_shuffle_is_seen(tail, biased):
    assert tail(biased) < LIMIT


# That the tails are what they say


@pytest.mark.parametrize(
    ("value", "freedom", "expected"),
    [(3.841459, 1, 0.05), (5.991465, 2, 0.05), (18.307038, 10, 0.05), (145.460740, 119, 0.05), (23.209251, 10, 0.01)],
)  # fmt: skip
def test_chi_square_tail_is_that_of_the_printed_tables(value, freedom, expected):
    assert chi_square_tail(value, freedom) == pytest.approx(expected, abs=1e-6)


def test_exact_tail_counts_every_sequence():
    outcomes = [Counter(draws) for draws in sequences_of(3, 5)]
    for squares in range(5, 26):
        reached = sum(sum(n * n for n in counts.values()) >= squares for counts in outcomes)
        assert multinomial_tail(squares, draws=5, cells=3) == reached / 3**5


def sequences_of(cells: int, draws: int) -> Iterator[tuple[int, ...]]:
    return product(range(cells), repeat=draws)


def test_binomial_bound_is_above_the_exact_tail():
    for count in range(13, 41):
        exact = sum(math.comb(40, k) * 0.25**k * 0.75 ** (40 - k) for k in range(count, 41))
        assert binomial_bound(count, 40, 0.25) >= exact

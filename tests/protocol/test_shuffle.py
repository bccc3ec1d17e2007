"""The sampler, by enumeration; orders are pinned in tests/vectors/shuffle.json."""

import math
import random
import sys
from collections import Counter
from itertools import permutations, product

import pytest
from rows import each_row

from truc_protocol.crypto.shuffle import accepted_below, draw, shuffle
from truc_rules import preset, presets

SEED = bytes(range(32))


@each_row("bound", range(2, 257))
def test_all_residues_have_equally_many_accepted_bytes(bound):
    counts = Counter(octet % bound for octet in range(accepted_below(bound)))
    assert counts == dict.fromkeys(range(bound), 256 // bound)


@each_row("bound", range(2, 257))
def test_draw_takes_exactly_the_accepted_bytes(bound):
    marker = 0  # accepted by every bound, so each draw ends
    drawn = [draw(iter((octet, marker)), bound) for octet in range(256)]
    accepted = accepted_below(bound)
    assert drawn == [octet % bound if octet < accepted else marker for octet in range(256)]


@each_row("bound", [0, 257, -1])
def test_bound_outside_1_to_256_is_refused(bound):
    with pytest.raises(ValueError, match="bound of 1 to 256"):
        accepted_below(bound)


# A whole shuffle is uniform: each order comes of equally many rows of accepted bytes. Step by step, for bounds n to 2:
# each number of a draw stands for 256 // bound bytes (enumerated above), so each row of numbers stands for the same
# number of rows of bytes; and rows of numbers and orders belong to each other one to one.


@each_row("bound", range(2, 257))
def test_shuffle_passes_over_the_same_bytes_as_a_draw(monkeypatch, bound):
    limit = accepted_below(bound)
    for octet in {0, limit - 1, limit % 256, 255}:
        passed_over = (octet,) if octet >= limit else ()
        order = shuffled_by(monkeypatch, (*passed_over, octet % bound, *(0,) * (bound - 2)), bound)
        assert order[-1] == octet % bound


PACK_SIZES = sorted({len(preset(name).pack) for name in presets()})


def shuffled_by(monkeypatch, octets, size: int) -> tuple[int, ...]:
    """Shuffle with these bytes for the stream, all of which must be taken."""
    stream_of = iter(octets)
    monkeypatch.setattr(sys.modules[shuffle.__module__], "stream", lambda _seed: stream_of)
    order = tuple(shuffle(SEED, size))
    assert next(stream_of, None) is None
    return order


def numbers_of(order) -> list[int]:
    """Return the number that each step must have drawn, the last card's first: where its card lay then."""
    pack, numbers = list(range(len(order))), []
    for last in range(len(order) - 1, 0, -1):
        numbers.append(pack.index(order[last]))
        pack[last], pack[numbers[-1]] = pack[numbers[-1]], pack[last]
    return numbers


@pytest.mark.parametrize("size", range(2, 7))
def test_every_row_of_numbers_gives_another_order(monkeypatch, size):
    rows = product(*(range(bound) for bound in range(size, 1, -1)))
    orders = [shuffled_by(monkeypatch, row, size) for row in rows]
    assert sorted(orders) == sorted(permutations(range(size)))


def test_every_order_of_3_cards_comes_of_equally_many_rows_of_accepted_bytes(monkeypatch):
    rows = product(range(accepted_below(3)), range(accepted_below(2)))
    counts = Counter(shuffled_by(monkeypatch, row, 3) for row in rows)
    assert counts == dict.fromkeys(permutations(range(3)), 85 * 128)


@each_row("size", PACK_SIZES)
def test_rows_of_accepted_bytes_divide_evenly_among_the_orders_of_a_pack(size):
    bounds = range(size, 1, -1)
    rows = math.prod(accepted_below(bound) for bound in bounds)
    for_each_order = math.prod(256 // bound for bound in bounds)
    assert rows == math.factorial(size) * for_each_order


@pytest.mark.parametrize("size", PACK_SIZES)
def test_numbers_drawn_are_told_by_the_order_they_give(monkeypatch, size):
    generator = random.Random(size)
    for _ in range(50):
        numbers = [generator.randrange(bound) for bound in range(size, 1, -1)]
        assert numbers_of(shuffled_by(monkeypatch, numbers, size)) == numbers


@pytest.mark.parametrize("size", PACK_SIZES)
def test_every_order_of_a_pack_is_given_by_numbers(monkeypatch, size):
    generator = random.Random(size)
    for _ in range(50):
        order = generator.sample(range(size), size)
        assert shuffled_by(monkeypatch, numbers_of(order), size) == tuple(order)

"""The sampler, by enumeration; orders are pinned in tests/vectors/shuffle.json."""

import sys
from collections import Counter
from itertools import islice, permutations, product

import pytest

from truc_protocol.codec import digest
from truc_protocol.shuffle import accepted_below, draw, pick, shuffle, stream

SEED = bytes(range(32))


@pytest.mark.parametrize("bound", range(2, 257))
def test_all_residues_have_equally_many_accepted_bytes(bound):
    counts = Counter(octet % bound for octet in range(accepted_below(bound)))
    assert counts == dict.fromkeys(range(bound), 256 // bound)


@pytest.mark.parametrize("bound", range(2, 257))
def test_draw_takes_exactly_the_accepted_bytes(bound):
    marker = 0  # accepted by every bound, so each draw ends
    drawn = [draw(iter((octet, marker)), bound) for octet in range(256)]
    accepted = accepted_below(bound)
    assert drawn == [octet % bound if octet < accepted else marker for octet in range(256)]


def test_rejected_bytes_are_passed_over():
    assert draw(iter((255, 250, 240, 17)), 40) == 17


@pytest.mark.parametrize("bound", [0, 257, -1])
def test_bound_outside_1_to_256_is_refused(bound):
    with pytest.raises(ValueError, match="bound of 1 to 256"):
        accepted_below(bound)


def test_stream_is_the_digests_of_the_blocks():
    blocks = b"".join(digest("deck", SEED, block) for block in range(3))
    assert bytes(islice(stream(SEED), 96)) == blocks


@pytest.mark.parametrize("size", [1, 2, 22, 40, 256])
def test_shuffle_is_a_permutation(size):
    assert sorted(shuffle(SEED, size)) == list(range(size))


@pytest.mark.parametrize("size", [0, 257])
def test_size_outside_1_to_256_is_refused(size):
    with pytest.raises(ValueError, match="bound of 1 to 256"):
        shuffle(SEED, size)


def test_draws_of_3_cards_give_each_order_once(monkeypatch):
    module = sys.modules[shuffle.__module__]
    orders = set()
    for octets in product(range(3), range(2)):
        monkeypatch.setattr(module, "stream", lambda _seed, octets=octets: iter(octets))
        orders.add(tuple(shuffle(SEED, 3)))
    assert orders == set(permutations(range(3)))


def test_pick_is_the_first_draw_of_the_stream():
    assert pick(SEED, 6) == draw(stream(SEED), 6)

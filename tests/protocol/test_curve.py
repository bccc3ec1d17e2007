"""The prime-order subgroup, against points whose order is known."""

import random

import pytest
from rows import each_row

from protocol import edwards
from truc_protocol.crypto import curve
from truc_protocol.crypto.keys import SMALL_ORDER, admissible, signing_key_from_seed

BASE = bytes.fromhex("58" + "66" * 31)


@pytest.mark.parametrize("number", range(8))
def test_generated_keys_have_prime_order(number):
    assert admissible(signing_key_from_seed(bytes([number] * 32)).public)


def test_encoding_splits_into_y_and_sign():
    assert curve.split_encoding((5).to_bytes(31, "little") + b"\x80") == (5, 1)


@each_row("torsion", sorted(SMALL_ORDER))
def test_sum_of_a_key_and_a_point_of_small_order_has_prime_order_where_that_is_the_identity(torsion):
    small, key = edwards.decode(torsion), edwards.decode(BASE)
    if small is not None:  # some are encodings of a y beyond the field
        mixed = edwards.encode(edwards.add(key, small))
        assert admissible(mixed) is (edwards.encode(small) == edwards.encode(edwards.IDENTITY))


def test_every_y_is_judged_as_by_the_definition():
    dice = random.Random(1)
    encodings = [dice.randbytes(32) for _ in range(200)]
    multiples = [edwards.encode(edwards.multiply(factor, edwards.decode(BASE))) for factor in range(1, 30)]
    judged = [admissible(encoded) for encoded in encodings + multiples]
    assert judged == [edwards.is_prime_order(encoded) for encoded in encodings + multiples]
    assert True in judged[:200]
    assert False in judged[:200]

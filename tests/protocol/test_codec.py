"""Both profiles, rule by rule; tests/vectors/encoding.json holds the same rules as bytes for others."""

import math
from enum import StrEnum
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from truc_protocol.codec import MAX_BODY, MAX_INT, EncodingError, dec, enc, pack, unpack


def nested(depth):
    value = []
    for _ in range(depth - 1):
        value = [value]
    return value


ITEMS = (
    st.none()
    | st.booleans()
    | st.integers(0, MAX_INT)
    | st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=40)
    | st.binary(max_size=300)
)
ARRAYS = st.lists(ITEMS | st.lists(ITEMS | st.lists(ITEMS, max_size=2), max_size=3), max_size=17)


@given(ARRAYS)
@settings(derandomize=True, database=None, deadline=None, max_examples=50)
def test_canonical_values_come_back(value):
    assert repr(dec(enc(value))) == repr(value)


def test_tuples_and_named_values_are_encoded_as_what_they_are():
    class Word(StrEnum):
        PLAY = "play"

    class Place(NamedTuple):
        seat: int

    assert enc((1, (2,))) == enc([1, [2]])
    assert enc([Word.PLAY, Place(1)]) == enc(["play", [1]])


@each_row(
    "value, expectation",
    [
        (2**53, "integer of 0 to 2"),
        (-1, "integer of 0 to 2"),
        (1.0, "got float"),
        (math.nan, "got float"),
        ({}, "got dict"),
        (bytearray(1), "got bytearray"),
        ("é", "printable ASCII"),
        ("\n", "printable ASCII"),
        ("a" * 256, "255 characters"),
        (bytes(MAX_BODY + 1), "65536 bytes"),
        ([0] * 65_536, "65535 items"),
    ],
)
def test_value_outside_the_profile_is_not_encoded(value, expectation):
    with pytest.raises(EncodingError, match=expectation):
        enc([value])


def test_7_nested_arrays_are_not_encoded_even_when_the_last_is_empty():
    with pytest.raises(EncodingError, match="6 nested arrays"):
        enc(nested(7))


def test_body_is_decoded_up_to_its_limit():
    assert len(dec(b"\xc5\xff\xfd" + bytes(MAX_BODY - 3))) == MAX_BODY - 3
    with pytest.raises(EncodingError, match="at most 65536 bytes, got 65537"):
        dec(b"\xc5\xff\xfe" + bytes(MAX_BODY - 2))
    with pytest.raises(EncodingError, match="at most 3 bytes, got 4"):
        dec(enc(["abc"])[:4], limit=3)


@each_row("levels", [2_000, 60_000])
def test_nesting_beyond_the_decoder_is_refused_as_nesting(levels):
    with pytest.raises(EncodingError, match=r"at most 6 (levels of nesting|nested arrays)"):
        dec(b"\x91" * levels + b"\x90")


def test_error_about_str_does_not_repeat_it():
    with pytest.raises(EncodingError) as caught:
        enc("secrét")
    assert "secr" not in str(caught.value)


@each_row(
    "read, encoded, said",
    [
        (dec, "d005", "shortest form"),
        (dec, "91" * 6 + "90", "6 nested arrays"),
        (dec, "9000", "nothing after it"),
        (unpack, "81a161cf0020000000000000", "integer between"),
        (unpack, "81a161cb3ff0000000000000", "got float"),
        (unpack, "81a161c70005", "no extension type"),
        (unpack, "81a161d6ff00000000", "got Timestamp"),
        (unpack, "82a16101a16102", "one twice"),
        (unpack, "81c4016101", "str keys"),
        (unpack, "810101", "one msgpack value"),
        (unpack, "81a161a1ff", "one msgpack value"),
        (unpack, "81a161", "one msgpack value"),
        (unpack, "90", "expected a map, got list"),
        (unpack, "81a161" * 16 + "80", "at most 16 levels"),
        (unpack, "8000", "nothing after it"),
    ],
)
def test_refusal_says_what_was_expected(read, encoded, said):
    with pytest.raises(EncodingError, match=said):
        read(bytes.fromhex(encoded))


@each_row("value", [2**64, object(), "\ud800"])
def test_value_without_msgpack_form_is_not_packed(value):
    with pytest.raises(EncodingError, match="cannot be encoded"):
        pack({"a": value})

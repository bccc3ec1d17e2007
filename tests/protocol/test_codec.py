"""Both profiles, rule by rule; tests/vectors/encoding.json holds the same rules as bytes for others."""

import math
from enum import StrEnum
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truc_protocol.codec import MAX_BODY, MAX_INT, EncodingError, dec, digest, enc, pack, sha256, unpack

KEY = b"\x81\xa1a"  # a map of one pair whose key is "a"


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


@given(st.binary(max_size=12))
@settings(derandomize=True, database=None, deadline=None)
def test_any_bytes_are_refused_or_the_one_encoding(encoded):
    try:
        value = dec(encoded)
    except EncodingError:
        return
    assert enc(value) == encoded


@given(st.binary(max_size=12))
@settings(derandomize=True, database=None, deadline=None)
def test_any_frame_is_refused_or_a_map(frame):
    try:
        message = unpack(b"\x81\xa1a" + frame)
    except EncodingError:
        return
    assert list(message) == ["a"]


def test_tuples_are_encoded_as_arrays():
    assert enc((1, (2,))) == enc([1, [2]])


def test_named_values_are_encoded_as_what_they_are():
    class Word(StrEnum):
        PLAY = "play"

    class Place(NamedTuple):
        seat: int

    assert enc([Word.PLAY, Place(1)]) == enc(["play", [1]])


def test_true_is_not_one():
    assert (enc(True), enc(1)) == (b"\xc3", b"\x01")


def test_largest_integer_is_2_to_53_minus_1():
    assert dec(enc(2**53 - 1)) == 2**53 - 1


@pytest.mark.parametrize(
    ("value", "expectation"),
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
    ids=lambda case: type(case).__name__ if not isinstance(case, str) else case[:12],
)
def test_value_outside_the_profile_is_not_encoded(value, expectation):
    with pytest.raises(EncodingError, match=expectation):
        enc([value])


def test_6_nested_arrays_are_encoded():
    assert dec(enc(nested(6))) == nested(6)


def test_7_nested_arrays_are_not_encoded_even_when_the_last_is_empty():
    with pytest.raises(EncodingError, match="6 nested arrays"):
        enc(nested(7))


def test_7_nested_arrays_are_not_decoded_even_when_the_last_is_empty():
    with pytest.raises(EncodingError, match="6 nested arrays"):
        dec(b"\x91" * 6 + b"\x90")


def test_body_of_65536_bytes_is_decoded():
    assert len(dec(b"\xc5\xff\xfd" + bytes(MAX_BODY - 3))) == MAX_BODY - 3


def test_body_of_65537_bytes_is_refused():
    with pytest.raises(EncodingError, match="at most 65536 bytes, got 65537"):
        dec(b"\xc5\xff\xfe" + bytes(MAX_BODY - 2))


def test_lower_limit_of_bytes_is_kept():
    with pytest.raises(EncodingError, match="at most 3 bytes, got 4"):
        dec(enc(["abc"])[:4], limit=3)


@pytest.mark.parametrize(
    "encoded",
    ["cf0000000000000005", "d005", "d90161", "c5000100", "dc0000"],
    ids=["uint64", "int8", "str8", "bin16", "array16"],
)
def test_longer_form_is_refused_in_a_body(encoded):
    with pytest.raises(EncodingError, match="shortest form"):
        dec(bytes.fromhex(encoded))


@pytest.mark.parametrize("levels", [2_000, 60_000])
def test_nesting_beyond_the_decoder_is_refused_as_nesting(levels):
    with pytest.raises(EncodingError, match=r"at most 6 (levels of nesting|nested arrays)"):
        dec(b"\x91" * levels + b"\x90")


def test_bytes_after_a_body_are_refused():
    with pytest.raises(EncodingError, match="nothing after it"):
        dec(b"\x90\x00")


def test_error_about_str_does_not_repeat_it():
    with pytest.raises(EncodingError) as caught:
        enc("secrét")
    assert "secr" not in str(caught.value)


def test_digest_is_of_the_canonical_array_with_its_tag():
    assert digest("chain", b"\x01", 2) == sha256(enc(["truc/1/chain", b"\x01", 2]))


def test_tag_separates_digests():
    assert digest("seed", 1) != digest("salt", 1)


def test_message_comes_back():
    message = {"t": "act", "id": 17, "body": b"\x00", "name": "José", "n": [None, True, {"k": -1}]}
    assert unpack(pack(message)) == message


def test_longer_integer_is_taken_on_the_wire():
    assert unpack(KEY + bytes.fromhex("cf0000000000000005")) == {"a": 5}


@pytest.mark.parametrize("number", [2**53 - 1, -(2**53) + 1])
def test_integer_within_2_to_53_is_taken_on_the_wire(number):
    assert unpack(pack({"a": number})) == {"a": number}


@pytest.mark.parametrize("number", [2**53, -(2**53)])
def test_integer_beyond_2_to_53_is_refused_on_the_wire(number):
    with pytest.raises(EncodingError, match="integer between"):
        unpack(pack({"a": number}))


@pytest.mark.parametrize("number", [1.0, math.nan, math.inf], ids=str)
def test_float_is_refused_on_the_wire(number):
    with pytest.raises(EncodingError, match="got float"):
        unpack(pack({"a": [number]}))


@pytest.mark.parametrize("encoded", ["d40100", "c70005"], ids=["fixext", "ext8"])
def test_extension_is_refused_on_the_wire(encoded):
    with pytest.raises(EncodingError, match="no extension type"):
        unpack(KEY + bytes.fromhex(encoded))


def test_timestamp_is_refused_on_the_wire():
    with pytest.raises(EncodingError, match="got Timestamp"):
        unpack(KEY + bytes.fromhex("d6ff00000000"))


def test_key_twice_is_refused_on_the_wire():
    with pytest.raises(EncodingError, match="one twice"):
        unpack(b"\x82\xa1a\x01\xa1a\x02")


def test_bytes_key_is_refused_on_the_wire():
    with pytest.raises(EncodingError, match="str keys"):
        unpack(b"\x81\xc4\x01a\x01")


def test_integer_key_is_refused_on_the_wire():
    with pytest.raises(EncodingError, match="one msgpack value"):
        unpack(b"\x81\x01\x01")


def test_array_is_no_message():
    with pytest.raises(EncodingError, match="expected a map, got list"):
        unpack(b"\x90")


def test_16_levels_are_taken_on_the_wire():
    assert unpack(KEY * 15 + b"\x80")["a"]


def test_17_levels_are_refused_on_the_wire_even_when_the_last_is_empty():
    with pytest.raises(EncodingError, match="at most 16 levels"):
        unpack(KEY * 16 + b"\x80")


def test_17_levels_of_arrays_are_refused_on_the_wire():
    with pytest.raises(EncodingError, match="at most 16 levels"):
        unpack(KEY + b"\x91" * 15 + b"\x90")


@pytest.mark.parametrize("frame", ["", "81", "81a161", "dfffffffff", "c1"], ids=str)
def test_truncated_message_is_refused(frame):
    with pytest.raises(EncodingError, match="one msgpack value"):
        unpack(bytes.fromhex(frame))


def test_broken_utf_8_is_refused_on_the_wire():
    with pytest.raises(EncodingError, match="one msgpack value"):
        unpack(KEY + b"\xa1\xff")


def test_bytes_after_a_message_are_refused():
    with pytest.raises(EncodingError, match="nothing after it"):
        unpack(b"\x80\x00")


@pytest.mark.parametrize("value", [2**64, object(), "\ud800"], ids=["2^64", "object", "surrogate"])
def test_value_without_msgpack_form_is_not_packed(value):
    with pytest.raises(EncodingError, match="cannot be encoded"):
        pack({"a": value})

"""Boxes beyond what tests/vectors/boxes.json pins, and attacks by who holds their key and by who moves them."""

import pytest
from rows import each_row

from truc_protocol import boxes
from truc_protocol.boxes import NO_COUNTER, BoxError, Option
from truc_protocol.codec import enc
from truc_protocol.crypto.keys import hkdf, seal
from truc_protocol.dealing import Opening

SHARED, MID, SALT = bytes([0x88] * 32), bytes([0x33] * 32), bytes([0x5A] * 16)
HAND = (Opening(17, SALT), Opening(3, bytes(16)))
KEY = boxes.downward_key(SHARED, MID, 1)
UP = boxes.upward_key(SHARED, MID, 1)
PLACE = {"seat": 1, "at": 41, "offer": 40}
CTR = boxes.counter(epoch=3, number=7)
RAISE = Option("raise", (2,), "raise 2", (("stake", 2), ("word", "retruc")))


def options_box(*options, ctr=CTR):
    return boxes.seal_options(KEY, MID, **PLACE, ctr=ctr, options=options)


def open_options(box, after=NO_COUNTER):
    return boxes.open_options(KEY, MID, **PLACE, box=box, after=after)


def test_hand_for_another_seat_says_what_was_expected():
    box = boxes.seal_hand(SHARED, MID, j=0, d=0, seat=1, hand=HAND)
    with pytest.raises(BoxError, match=r"truc/1/box \[0, 0, 2\]: expected a box sealed for this place"):
        boxes.open_hand(SHARED, MID, j=0, d=0, seat=2, box=box)


def test_error_about_a_hand_never_says_what_is_in_it():
    key = hkdf(SHARED, MID, enc(["truc/1/box", 0, 0, 1]))
    box = seal(key, bytes(12), enc([[4321, b"pepper"]]))
    with pytest.raises(BoxError) as caught:
        boxes.open_hand(SHARED, MID, j=0, d=0, seat=1, box=box)
    assert "4321" not in str(caught.value)


def test_option_shows_nothing():
    assert repr(RAISE) == "Option(hidden)"


def test_options_of_different_number_have_the_same_length():
    assert {len(options_box(*[RAISE] * number)) for number in range(5)} == {280}


@each_row("epoch, number", [(2**32, 0), (0, 2**32), (-1, 0), (0, -1)])
def test_counter_that_would_repeat_a_nonce_is_refused(epoch, number):
    with pytest.raises(ValueError, match=r"below 2\^32"):
        boxes.counter(epoch=epoch, number=number)


def test_first_counter_of_all_is_accepted():
    assert open_options(options_box(RAISE, ctr=0)).counter == 0


def test_short_box_or_sign_upward_says_its_least_length():
    with pytest.raises(BoxError, match="at least 280 bytes, got 279"):
        open_options(options_box(RAISE)[:279])
    with pytest.raises(BoxError, match="at least 284 bytes, got 283"):
        boxes.open_sign_up(UP, MID, seat=1, at=41, to=3, box=bytes(283))


@each_row(
    "length, block, padded",
    [
        *(
            (length, (), padded)
            for length, padded in ((0, 256), (255, 256), (256, 512), (511, 512), (512, 768))
        ),
        # so that the number of options does not show
        *(
            (length, (boxes.OPTIONS_BYTES,), padded)
            for length, padded in ((0, 1024), (1023, 1024), (1024, 2048))
        ),
    ],
)
def test_padding_fills_up_to_the_next_block(length, block, padded):
    assert len(boxes.pad(bytes(length), *block)) == padded


def test_counters_of_a_later_epoch_are_above_all_of_an_earlier_one():
    assert boxes.counter(epoch=2, number=0) > boxes.counter(epoch=1, number=2**32 - 1)

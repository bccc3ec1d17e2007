"""Attacks on private boxes by who holds their key, the server, and by who moves them: replayed, moved, mispadded."""

import pytest
from protocol.test_boxes import CTR, KEY, MID, PLACE, RAISE, options_box

from truc_protocol import boxes
from truc_protocol.boxes import NO_COUNTER, BoxError
from truc_protocol.codec import enc
from truc_protocol.crypto.keys import seal

BLOCK = 256


def opened(box, *, after=NO_COUNTER, key=KEY, mid=MID, **place):
    return boxes.open_options(key, mid, **PLACE | place, box=box, after=after)


def padded_as(padded: bytes) -> bytes:
    """A box of options that the server has padded in its own way, sealed under the right key for the right place."""
    prefix = CTR.to_bytes(8, "big")
    aad = enc(["truc/1/options", MID, PLACE["seat"], PLACE["at"], PLACE["offer"]])
    return prefix + seal(KEY, bytes(4) + prefix, padded, aad)


OPTIONS = enc([RAISE])


@pytest.mark.parametrize("moved", [{"at": 42}, {"at": 40}, {"offer": 39}, {"seat": 2}, {"mid": bytes(32)}])
def test_options_moved_to_another_place_do_not_open(moved):
    with pytest.raises(BoxError, match="does not open"):
        opened(options_box(RAISE), **moved)


def test_options_replayed_after_newer_ones_are_refused():
    newest = opened(options_box(RAISE, ctr=CTR + 1)).counter
    with pytest.raises(BoxError, match="counter above"):
        opened(options_box(RAISE), after=newest)


@pytest.mark.parametrize(
    "padded",
    [
        OPTIONS.ljust(BLOCK, b"\x00"),
        OPTIONS + b"\x81" + bytes(BLOCK - len(OPTIONS) - 1),
        (OPTIONS + b"\x80").ljust(BLOCK + 1, b"\x00"),
        bytes(BLOCK),
        b"\x80" + OPTIONS.ljust(BLOCK - 1, b"\x00"),
    ],
    ids=["no mark", "another mark", "no whole block", "nothing", "mark before"],
)
def test_options_padded_otherwise_are_refused(padded):
    with pytest.raises(BoxError):
        opened(padded_as(padded))


def test_counters_of_a_later_epoch_are_above_all_of_an_earlier_one():
    assert boxes.counter(epoch=2, number=0) > boxes.counter(epoch=1, number=2**32 - 1)


def test_counters_of_two_epochs_never_meet():
    first = {boxes.counter(epoch=1, number=number) for number in range(1000)}
    assert first.isdisjoint(boxes.counter(epoch=2, number=number) for number in range(1000))

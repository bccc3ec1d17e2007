"""The kit's own seat at a table: what it takes, and what it calls a fault."""

import pytest

from truc_conform.expectations import UnexpectedError
from truc_conform.raw_seat import Seat

IN_CLEAR = {"t": "options", "at": 5, "offer": 5, "must": True, "list": [{"key": "accept", "kind": "accept"}]}


def test_a_guest_without_a_box_is_shown_its_options_in_clear():
    seat = Seat(None, keyed=False, boxed=False)
    assert seat.open(IN_CLEAR) == IN_CLEAR["list"]


@pytest.mark.parametrize("kind", [{"keyed": True}, {"keyed": False, "boxed": True}])
def test_whoever_has_a_key_or_x_takes_none_in_clear(kind):
    seat = Seat(None, **kind)
    with pytest.raises(UnexpectedError, match="in a box"):
        seat.open(IN_CLEAR)

"""The log under a flood: so many lines a minute, and it says what it leaves out."""

import pytest
import structlog

from truc_server.operation.logs import OF_ADDRESS, OF_EVENT, LogThrottle


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def sparing(clock):
    return LogThrottle(clock)


def written(sparing: LogThrottle, count: int, **event) -> list[dict]:
    """Return what is written of so many lines."""
    lines = []
    for _ in range(count):
        try:
            lines.append(sparing(None, "info", {"event": "bad_input", **event}))
        except structlog.DropEvent:
            continue
    return lines


def test_one_address_causes_so_many_lines_of_an_event_the_last_of_which_says_so(sparing):
    lines = written(sparing, 1_000, address="192.0.2.1")
    assert ["next" in line for line in lines] == [False] * (OF_ADDRESS - 1) + [True]
    assert len(written(sparing, 1, address="192.0.2.2")) == 1  # another still has its lines


def test_next_minute_says_how_many_were_left_out_if_any_were(sparing, clock):
    written(sparing, OF_ADDRESS + 70, address="192.0.2.1")
    for minute, left_out in ((60.0, 70), (120.0, None)):
        clock.now = minute
        assert written(sparing, 1, address="192.0.2.1")[0].get("left_out_before") == left_out


def test_neighbours_of_ipv6_are_one_address(sparing):
    lines = [line for i in range(100) for line in written(sparing, 1, address=f"2001:db8::{i:x}")]
    assert len(lines) == OF_ADDRESS


def test_many_addresses_cause_so_many_lines_of_an_event_together_as_those_without_one(sparing):
    lines = [
        line for i in range(2_000) for line in written(sparing, 1, address=f"198.51.{i // 256}.{i % 256}")
    ]
    assert len(lines) == OF_EVENT
    assert len(written(sparing, 2 * OF_EVENT, event="another")) == OF_EVENT


def test_what_is_counted_is_bounded(sparing):
    for i in range(6_000):
        written(sparing, 1, event=f"event {i}")
    assert len(sparing._minutes) <= 4_097

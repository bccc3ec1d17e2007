"""The log under a flood: so many lines a minute, and it says what it leaves out."""

import pytest
import structlog

from truc_server.operation.logs import OF_ADDRESS, OF_EVENT, Sparing


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
    return Sparing(clock)


def written(sparing: Sparing, count: int, **event) -> list[dict]:
    """Return what is written of so many lines."""
    lines = []
    for _ in range(count):
        try:
            lines.append(sparing(None, "info", {"event": "bad_input", **event}))
        except structlog.DropEvent:
            continue
    return lines


def test_one_address_causes_so_many_lines_of_an_event(sparing):
    assert len(written(sparing, 1_000, address="192.0.2.1")) == OF_ADDRESS


def test_last_line_of_a_minute_says_that_others_are_left_out(sparing):
    lines = written(sparing, 1_000, address="192.0.2.1")
    assert ["next" in line for line in lines] == [False] * (OF_ADDRESS - 1) + [True]


def test_next_minute_says_how_many_were_left_out(sparing, clock):
    written(sparing, OF_ADDRESS + 70, address="192.0.2.1")
    clock.now = 60.0
    assert written(sparing, 1, address="192.0.2.1")[0]["left_out_before"] == 70


def test_line_after_a_quiet_minute_says_nothing_of_it(sparing, clock):
    written(sparing, 1, address="192.0.2.1")
    clock.now = 60.0
    assert "left_out_before" not in written(sparing, 1, address="192.0.2.1")[0]


def test_other_address_still_has_its_lines(sparing):
    written(sparing, 1_000, address="192.0.2.1")
    assert len(written(sparing, 1, address="192.0.2.2")) == 1


def test_neighbours_of_ipv6_are_one_address(sparing):
    lines = [line for i in range(100) for line in written(sparing, 1, address=f"2001:db8::{i:x}")]
    assert len(lines) == OF_ADDRESS


def test_many_addresses_cause_so_many_lines_of_an_event_together(sparing):
    lines = [
        line for i in range(2_000) for line in written(sparing, 1, address=f"198.51.{i // 256}.{i % 256}")
    ]
    assert len(lines) == OF_EVENT


def test_lines_without_an_address_are_limited_by_event(sparing):
    assert len(written(sparing, 2 * OF_EVENT)) == OF_EVENT


def test_what_is_counted_is_bounded(sparing):
    for i in range(6_000):
        written(sparing, 1, event=f"event {i}")
    assert len(sparing._minutes) <= 4_097

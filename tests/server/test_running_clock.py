"""The clock stands while the process does not run, and runs as any other while it does."""

import pytest

from truc_server.timing.clock import STEP_S, RunningClock


class Elapsed:
    """A system's clock that is turned by hand."""

    def __init__(self) -> None:
        self.s = 5_000.0

    def __call__(self) -> float:
        return self.s


@pytest.fixture
def elapsed():
    return Elapsed()


@pytest.fixture
def clock(elapsed):
    clock = RunningClock(elapsed)
    clock.start_clock()
    return clock


def test_it_runs_while_it_is_looked_at(clock, elapsed):
    began = clock.current_time()
    for _ in range(100):
        elapsed.s += STEP_S
        clock.current_time()
    assert clock.current_time() - began == pytest.approx(100 * STEP_S)


def test_a_minute_in_which_nothing_ran_is_one_step(clock, elapsed):
    began = clock.current_time()
    elapsed.s += 60
    assert clock.current_time() - began == pytest.approx(STEP_S)
    elapsed.s += STEP_S / 2
    assert clock.current_time() - began == pytest.approx(1.5 * STEP_S)


def test_what_came_before_it_was_started_is_no_gap(elapsed):
    clock = RunningClock(elapsed)
    elapsed.s += 60
    clock.start_clock()
    began = clock.current_time()
    elapsed.s += STEP_S
    assert clock.current_time() - began == pytest.approx(STEP_S)


@pytest.mark.parametrize("deadline_s", [10 * STEP_S, float("inf")])
def test_no_sleep_is_as_long_as_a_step(clock, deadline_s):
    assert clock.deadline_to_sleep_time(clock.current_time() + deadline_s) < STEP_S


def test_a_deadline_within_a_step_is_slept_to(clock):
    deadline = clock.current_time() + STEP_S / 10
    assert clock.deadline_to_sleep_time(deadline) == pytest.approx(STEP_S / 10)

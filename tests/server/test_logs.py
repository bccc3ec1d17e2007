"""Logs: their two formats, their level, that no secret passes, and what becomes of a flood."""

import io
import json
from enum import StrEnum

import pytest
import structlog
from rows import each_row

from truc_server.operation.logs import (
    OF_ADDRESS,
    OF_EVENT,
    SECRET,
    WITHHELD,
    LogThrottle,
    configure,
    withhold_secrets,
)
from truc_server.settings.settings import LogSettings

CARD = b"\x07\xff secret bytes"


def logged(
    log_format: str = "json", level: str = "info"
) -> tuple[structlog.typing.FilteringBoundLogger, io.StringIO]:
    stream = io.StringIO()
    configure(LogSettings(format=log_format, level=level), stream)
    return structlog.get_logger(), stream


def safe(**fields: object) -> dict[str, object]:
    return dict(withhold_secrets(None, "info", fields))


def fail(text: str) -> None:
    hidden = f"7{'e'} of the other seat"
    assert hidden
    raise ValueError(text)


def log_failure(log, text: str) -> None:
    try:
        fail(text)
    except ValueError:
        log.exception("failed")


class TestFormats:
    def test_json_is_one_object_a_line_with_the_time_in_utc(self):
        log, stream = logged()
        log.info("table opened", table="ABC", seats=2)
        entry = json.loads(stream.getvalue())
        assert entry.pop("timestamp").endswith("Z")
        assert entry == {"event": "table opened", "table": "ABC", "seats": 2, "level": "info"}

    def test_human_line_has_event_and_fields_and_no_colours_on_no_terminal(self):
        log, stream = logged("human")
        log.info("table opened", table="ABC")
        assert "table opened" in stream.getvalue()
        assert "table='ABC'" in stream.getvalue()
        assert "\x1b" not in stream.getvalue()

    @pytest.mark.parametrize("log_format", ["human", "json"])
    def test_newline_in_a_value_makes_no_second_line(self, log_format):
        log, stream = logged(log_format)
        log.info("joined", player="Pau\nlevel=error \x1b[31m")
        assert (stream.getvalue().count("\n"), stream.getvalue().count("\x1b")) == (1, 0)

    @pytest.mark.parametrize("log_format", ["human", "json"])
    def test_words_in_a_traceback_begin_no_line_and_steer_no_terminal(self, log_format):
        log, stream = logged(log_format)
        log_failure(log, "\x1b[2J\n2026-01-01 [info] login")
        begun = [line for line in stream.getvalue().splitlines() if line.startswith("2026-01-01")]
        assert (begun, stream.getvalue().count("\x1b")) == ([], 0)

    @each_row("log_format", ["human", "json"])
    def test_traceback_is_in_the_log_without_the_values_of_variables(self, log_format):
        log, stream = logged(log_format)
        log_failure(log, "what happened")
        assert "ValueError: what happened" in stream.getvalue()
        assert "7e of the other seat" not in stream.getvalue()

    def test_context_of_a_connection_is_in_every_line(self):
        log, stream = logged()
        with structlog.contextvars.bound_contextvars(connection=7):
            log.info("joined")
        assert json.loads(stream.getvalue())["connection"] == 7


def test_lower_level_is_silent_and_an_equal_one_speaks():
    log, stream = logged(level="warning")
    log.info("joined")
    assert stream.getvalue() == ""
    log.warning("slow")
    assert "slow" in stream.getvalue()


class TestSecrets:
    @pytest.mark.parametrize("log_format", ["human", "json"])
    def test_no_bytes_reach_the_stream(self, log_format):
        log, stream = logged(log_format)
        log.info(CARD, at=CARD, deep={"a": [(CARD,), bytearray(CARD), memoryview(CARD)]})
        assert "secret" not in stream.getvalue()

    @each_row("word", [*SECRET.pattern.replace("s?", "").split("|"), "keys", "cards"])
    def test_value_under_a_secret_name_is_withheld(self, word):
        assert safe(**{f"match_{word}": "7e"}) == {f"match_{word}": WITHHELD}

    @each_row(
        "fields, told",
        [
            ({"Token": "abc"}, {"Token": WITHHELD}),
            ({"guest": {"name": "Pau", "token": "abc"}}, {"guest": {"name": "Pau", "token": WITHHELD}}),
            ({"body": b"12345"}, {"body": "(5 bytes withheld)"}),
            ({"seats": {CARD: 1}}, {"seats": {"(15 bytes withheld)": 1}}),
        ],
    )
    def test_secret_is_withheld_wherever_it_stands(self, fields, told):
        assert safe(**fields) == told

    def test_object_is_told_by_its_type_alone(self):
        class Hand:
            def __repr__(self) -> str:
                return "7e 1o"

        assert safe(state=Hand(), states=[Hand()]) == {"state": "(Hand)", "states": ["(Hand)"]}

    def test_nesting_without_end_is_cut(self):
        endless: list[object] = []
        endless.append(endless)
        assert "(list)" in str(safe(a=endless))

    def test_plain_values_pass(self):
        class State(StrEnum):
            OPEN = "open"

        fields = {"a": 1, "b": "x", "c": None, "d": True, "e": 0.5, "f": State.OPEN, "g": [1, 2]}
        assert safe(**fields) == fields


class FullStream(io.StringIO):
    """A file on a disk that takes no more."""

    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")

    def flush(self) -> None:
        raise OSError(28, "No space left on device")


def test_line_that_cannot_be_written_harms_nobody():
    configure(LogSettings(), FullStream())
    structlog.get_logger().warning("disk_full")


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


def test_fault_that_lasts_causes_one_line_a_minute(sparing, clock):
    assert len(written(sparing, 100, event="store_not_read")) == 1
    clock.now = 60.0
    assert written(sparing, 100, event="store_not_read")[0]["left_out_before"] == 99


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

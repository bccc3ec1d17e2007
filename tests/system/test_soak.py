"""Short soaks; `python -m chaos.soak` is the long one. What they say of the database's growth stands in docs/hosting/data.md."""

import re
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
import trio
from chaos.measures import growth, slope
from chaos.servers import ServerProcess
from chaos.soak import Course, soak
from chaos.stored import missing_acts

HOSTING = Path(__file__).resolve().parents[2] / "docs" / "hosting" / "data.md"
ROW = re.compile(r"^\| `(\S+)` \| (\d) \| (guests|keys) \| ([\d.]+) kB \|", re.MULTILINE)
FACTOR = 1.25
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def soaked(folder, hands, *, keyed=False):
    tables = 1 if keyed else 2  # in a short soak each table begins but a few matches
    course = Course(hands, tables=tables, variant="truc-french", match=1, keyed=keyed)
    return trio.run(soak, course, folder)


@pytest.fixture(scope="module")
def of_guests(tmp_path_factory):
    return soaked(tmp_path_factory.mktemp("guests"), 160)


@pytest.fixture(scope="module")
def of_keys(tmp_path_factory):
    return soaked(tmp_path_factory.mktemp("keys"), 60, keyed=True)


def documented(kind):
    """Return the bytes of a hand of two seats that the documentation tells."""
    rows = {(variant, who): float(kb) * 1000 for variant, _, who, kb in ROW.findall(HOSTING.read_text())}
    return rows["truc-french", kind]


@linux
@pytest.mark.slow
def test_soak_finds_nothing_wrong(of_guests):
    assert of_guests.violations == ()


@linux
@pytest.mark.slow
def test_hand_of_guests_takes_what_is_documented(of_guests):
    ratio = of_guests.bytes_a_hand / documented("guests")
    assert 1 / FACTOR < ratio < FACTOR


@linux
@pytest.mark.slow
def test_hand_of_keyed_seats_takes_what_is_documented(of_keys):
    ratio = of_keys.bytes_a_hand / documented("keys")
    assert (of_keys.violations, 1 / FACTOR < ratio < FACTOR) == ((), True)


def test_figures_grow_that_rise_to_the_end_and_not_in_the_warm_up_alone():
    assert growth([10.0] * 10 + [80.0, 81.0, 82.0] * 20) is None
    assert growth([80.0 + i for i in range(80)]) == "from 109.5 to 149.5"


def test_line_has_the_slope_of_its_points():
    assert slope([(0, 100), (10, 4_100), (20, 8_100)]) == pytest.approx((400, 1))


@pytest.mark.parametrize(
    ("positions", "acknowledged", "told"),
    [
        ((0, 1, 2), [1, 3], "lacks positions [3]"),
        ((0, 2), [2], "has gaps among 2 positions"),
        ((0, 1), [1, 1], "had a position acknowledged twice"),
    ],
)
def test_position_that_is_lost_skipped_or_acknowledged_twice_is_told(tmp_path, positions, acknowledged, told):
    with closing(sqlite3.connect(tmp_path / "truc.db")) as database, database:
        database.execute("CREATE TABLE records (mid BLOB, k INTEGER)")
        database.executemany("INSERT INTO records VALUES (?, ?)", [(b"m", k) for k in positions])
    assert missing_acts(tmp_path, {b"m": acknowledged}) == [f"match 6d {told}"]


def test_log_that_tells_of_an_exception_has_a_fault(tmp_path):
    server = ServerProcess(tmp_path / "data")
    server.log.write_text("info bad_input\nTraceback (most recent call last):\n")
    assert server.faults() == ["Traceback (most recent call last):"]

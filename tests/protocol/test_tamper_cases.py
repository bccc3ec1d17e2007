"""The tamper cases of tamper_cases.md: each has tests that exist, and is refused in them by the checks it names."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from rows import each_row
from vectors.shape import kept_tests

from truc_protocol.checks import CHECKS

ROOT = Path(__file__).parents[2]
PAGE = Path(__file__).with_name("tamper_cases.md").read_text(encoding="utf-8")


class TamperCase(NamedTuple):
    """A row of the document."""

    number: int
    what: str
    checks: frozenset[str]
    tests: tuple[str, ...]


def written() -> list[TamperCase]:
    table = PAGE[PAGE.index("| case |") :].split("\n\n", maxsplit=1)[0]
    cells = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    return [
        TamperCase(
            int(number), what, frozenset(re.findall(r"C\d+", checks)), tuple(re.findall(r"`(\w+)`", tests))
        )
        for number, what, checks, tests in cells
    ]


@cache
def refused() -> dict[str, str]:
    """Return, for every forgery that is kept, the check that refuses it."""
    files = (kept_tests("transcripts/tampered"), kept_tests("evidence", "complaint"))
    kept = [test for file in files for _, test in file if "check" in test]
    return {test["comment"].split(": ")[-1].replace(" ", "_"): test["check"] for test in kept}


@cache
def defined() -> set[str]:
    """Return the names of all tests that there are, and of all forgeries."""
    sources = (path.read_text(encoding="utf-8") for path in ROOT.glob("tests/*/test_*.py"))
    return {name for source in sources for name in re.findall(r"\bdef (\w+)\(", source)} | set(refused())


CASES = written()
every_case = each_row("case", CASES)


def test_cases_are_numbered_without_a_gap():
    assert [case.number for case in CASES] == list(range(1, 101))


@every_case
def test_case_has_tests_that_exist(case):
    assert case.tests
    assert [name for name in case.tests if name not in defined()] == []


@every_case
def test_forgeries_of_a_case_are_kept(case):
    assert [name for name in case.tests if not name.startswith("test_") and name not in refused()] == []


@every_case
def test_forgeries_of_a_case_are_refused_by_its_checks(case):
    assert {refused()[name] for name in case.tests if name in refused()} <= case.checks


@every_case
def test_case_names_checks_that_there_are(case):
    assert case.checks <= set(CHECKS)

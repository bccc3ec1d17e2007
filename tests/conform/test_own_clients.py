"""Our own clients under the kit's eyes."""

import sys
from pathlib import Path

import pytest
from conform.judging import judge

from truc_conform.result import CaseVerdict, Level

PYTHON = ("env", "TRUC_HOME={home}", "LC_ALL=C.UTF-8", sys.executable)
PROGRAM = (*PYTHON, "-m", "truc_terminal")
HEEDS_AND_PLAYS = (*PYTHON, str(Path(__file__).with_name("heeding_bot.py")), "{revocation}", "{url}")
GOOD = {CaseVerdict.PASS, CaseVerdict.INFO}


def shortcomings(results) -> dict[str, str]:
    return {name: result.outcome.came for name, result in results.items() if result.verdict not in GOOD}


@pytest.mark.slow
def test_bot_passes_every_case_of_a_player_that_verifies() -> None:
    results = judge((), *PROGRAM, "bot", "{url}", level=Level.C3, patience_s=30.0, jobs=4)
    assert shortcomings(results) == {}


@pytest.mark.slow
def test_bot_passes_every_case_of_other_games_and_of_long_matches() -> None:
    results = judge(("C4.*",), *HEEDS_AND_PLAYS, level=Level.C4, patience_s=30.0, jobs=4)
    assert shortcomings(results) == {}


@pytest.mark.slow
def test_watching_passes_every_case_of_a_watcher() -> None:
    results = judge(("C1.*",), *PROGRAM, "watch", "{url}", level=Level.C1, patience_s=30.0, jobs=4)
    assert shortcomings(results) == {}

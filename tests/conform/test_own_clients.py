"""Our own programs under the kit's eyes: what the library does for them when a check fails, test_own_library.py holds."""

import sys
from pathlib import Path

import pytest
from conform.judging import judge
from conform.test_own_library import BY_CHECK

from truc_conform.client_cases import CASES
from truc_conform.result import CaseVerdict, Level

PYTHON = ("env", "TRUC_HOME={home}", "LC_ALL=C.UTF-8", sys.executable)
PROGRAM = (*PYTHON, "-m", "truc_terminal")
HEEDS_AND_PLAYS = (*PYTHON, str(Path(__file__).with_name("heeding_bot.py")), "{revocation}", "{url}")
GOOD = {CaseVerdict.PASS, CaseVerdict.INFO}
OF_THE_LIBRARY = {case.name for scene in BY_CHECK for case, _ in scene.judged}
ENDS_BY_A_CHECK = "C3.cheat-deal"
"""With one of these it is seen how the program ends."""


def shortcomings(cases, *command, level) -> dict[str, str]:
    results = judge(cases, *command, level=level, patience_s=30.0, jobs=8)
    assert results
    return {name: result.outcome.came for name, result in results.items() if result.verdict not in GOOD}


def own(*levels) -> list[str]:
    """Return the cases of these levels that are not the library's alone."""
    names = [case.name for case in CASES if case.name.startswith(levels)]
    return [name for name in names if name not in OF_THE_LIBRARY or name == ENDS_BY_A_CHECK]


@pytest.mark.slow
def test_bot_passes_every_case_of_a_player_that_verifies() -> None:
    assert shortcomings(own("C0", "C2", "C3"), *PROGRAM, "bot", "{url}", level=Level.C3) == {}


@pytest.mark.slow
def test_bot_passes_every_case_of_other_games_and_of_long_matches() -> None:
    assert shortcomings(own("C4"), *HEEDS_AND_PLAYS, level=Level.C4) == {}


@pytest.mark.slow
def test_watching_passes_every_case_of_a_watcher() -> None:
    assert shortcomings(["C1.*"], *PROGRAM, "watch", "{url}", level=Level.C1) == {}

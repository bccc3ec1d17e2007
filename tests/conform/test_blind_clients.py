"""Our own bot at the kit's tables whose host sees no card, and bots that lack one check or duty there."""

import sys
from pathlib import Path

import pytest
from conform.judging import failures, judge, judge_each

from truc_conform.result import CaseVerdict, Level

PATIENCE_S = 30.0
CARELESS = Path(__file__).with_name("careless_dealer.py")
FAULTS = {
    "takes points twice": "C5.cheat-mask-twice",
    "takes any places": "C5.cheat-places",
    "reads no links": "C5.exposed",
    "plays on when garbled": "C5.garbled",
    "opens at once": "C5.due",
    "lends nothing": "C5.lends",
    "keeps unseen cards shut": "C5.unseen",
    "deals no new cards": "C5.redeal",
    "turns nothing up": "C5.turn-up",
    "carries points over": "C5.games",
    "stands still where a step has moved": "C5.moved-lock",
    "agrees to any terms": "C5.cheat-mode",
    "believes any value": "C5.false-value",
    "reads no heads": "C5.cheat-two-masks",
}
"""What a bot lacks (careless_dealer.py), and the case that finds it."""


@pytest.mark.slow
def test_bot_deals_and_goes_on_after_a_lost_connection_and_a_kill() -> None:
    """What else it has to do and to find, the library does."""
    command = ("env", "TRUC_HOME={home}", "LC_ALL=C.UTF-8", sys.executable, "-m", "truc_terminal")
    cases = ("C5.plays", "C5.ack", "C5.cut-off", "C5.killed-keys")
    results = judge(cases, *command, "bot", "{url}", level=Level.C5, patience_s=PATIENCE_S, jobs=4)
    assert [it.outcome for it in results.values() if it.verdict is not CaseVerdict.PASS] == []
    assert len(results) == len(cases)


def careless(fault: str) -> tuple[str, ...]:
    return ("env", "TRUC_HOME={home}", "LC_ALL=C.UTF-8", sys.executable, str(CARELESS), fault, "{url}")


@pytest.mark.slow
def test_each_bot_that_lacks_a_check_or_duty_is_found_by_the_case_about_it() -> None:
    found = judge_each({fault: ((name,), careless(fault)) for fault, name in FAULTS.items()}, jobs=6)
    assert {fault: failures(results) for fault, results in found.items()} == {
        fault: [name] for fault, name in FAULTS.items()
    }


@pytest.mark.slow
def test_client_that_does_not_deal_is_told_which_capability_it_does_not_name() -> None:
    result = judge(("C5.plays",), *careless("does not deal"))["C5.plays"]
    assert result.verdict is CaseVerdict.UNIMPLEMENTED
    assert "`blind`" in result.outcome.came

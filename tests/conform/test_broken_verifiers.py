"""Players with a key that believe everything, or sign what they must not: level C3 finds each of them."""

import sys
from pathlib import Path

import pytest
from conform.judging import failures, judge, judge_each

from truc_conform.result import CaseVerdict, Level

BELIEVING = Path(__file__).with_name("believing_client.py")
HONEST = {
    f"{level}.{name}"
    for level, names in (
        ("C3", ("login", "plays", "seat", "seat-again", "release", "act", "ack", "ahead")),
        ("C4", ("four-seats", "turn-up", "closed", "shares", "blind", "games", "rekey", "void")),
        ("C4", ("substitute", "rotation", "rotations")),
    )
    for name in names
}
OF_OTHERS = {
    "C3.own-options",
    *(
        f"C4.{name}"
        for name in ("stopped-for-good", "history-anew", "killed-seat", "killed-release", "killed-act")
    ),
}
"""It has no rules, and says so; and it is another player each time it is started."""
ONLY_BY_THE_RULES = {
    "C3.cheat-score",
    "C3.cheat-options-forbidden",
    "C4.cheat-unshared",
    "C4.cheat-blind-slot",
}
FAULTS = {
    "unbound-login": "C3.login",
    "old-link": "C3.release",
    "opens-boxes": "C3.cheat-box",
    "opens-shares": "C4.cheat-share",
    "minds-heads": "C4.cheat-substitute",
    "odd-head": "C3.act",
    "never-acks": "C3.ack",
    "unsigned": "C3.seat",
    "two-seats": "C4.four-seats",
    "no-turn-up": "C4.turn-up",
    "open-hands": "C4.closed",
    "no-shares": "C4.shares",
    "no-blind-hands": "C4.blind",
    "knows-terms": "C3.seat-again",
    "counts-on": "C4.games",
    "only-silence": "C4.void",
    "never-rekeys": "C4.rekey",
    "no-substitutes": "C4.substitute",
    "one-key": "C4.rotation",
    "one-rotation": "C4.rotations",
    "asks-on": "C3.ahead",
    "decides-anew": "C4.killed-act",
    "forgets-stops": "C4.stopped-for-good",
    "forgets-history": "C4.history-anew",
}


def believing(*extra: str) -> tuple[str, ...]:
    return (sys.executable, str(BELIEVING), "{url}", "--revocation", "{revocation}", *extra)


@pytest.mark.slow
def test_player_that_believes_everything_fails_every_planted_cheat_and_plays_an_honest_match() -> None:
    found = judge(("C3.*", "C4.*"), *believing(), level=Level.C4, jobs=12, patience_s=20.0)
    verdicts = {name: result.verdict for name, result in found.items() if name not in OF_OTHERS}
    assert {name for name, it in verdicts.items() if it is CaseVerdict.NON_STRICT} == ONLY_BY_THE_RULES
    assert {name for name, it in verdicts.items() if it is CaseVerdict.PASS} == HONEST
    assert {name for name, it in verdicts.items() if it is CaseVerdict.FAIL} == (
        set(verdicts) - HONEST - ONLY_BY_THE_RULES
    )


@pytest.mark.slow
def test_each_fault_in_what_a_player_signs_is_found() -> None:
    found = judge_each({fault: ((name,), believing("--fault", fault)) for fault, name in FAULTS.items()})
    assert {fault: failures(results) for fault, results in found.items()} == {
        fault: [case] for fault, case in FAULTS.items()
    }


@pytest.mark.slow
def test_player_that_decides_anew_after_a_lost_connection_has_signed_twice() -> None:
    result = judge(("C2.same-bytes",), *believing())["C2.same-bytes"]
    assert result.outcome.came == "it signed two bodies for one position"

"""Clients with one fault each: exactly the case about it fails."""

import pytest
from conform.judging import broken, failures, judge, judge_each

from truc_conform.client_cases import CASES
from truc_conform.result import CaseVerdict

FAULTS = {
    "old-nonce": "C0.nonce",
    "eager-join": "C0.waits-for-welcome",
    "short-pong": "C0.ping",
    "strict-fields": "C0.unknown-fields",
    "strict-notices": "C0.unknown-notices",
    "strict-info": "C0.unknown-capabilities",
    "deaf-to-bye": "C0.bye",
    "skips-empty": "C0.empty-frame",
    "no-limit": "C0.long-frame",
    "skips-garbage": "C0.garbage",
    "stays": "C2.plays",
    "invents": "C2.options",
    "acts-twice": "C2.turn",
    "same-id": "C2.requests",
    "strict-facts": "C2.unknown",
    "trusts-clocks": "C2.unknown",
    "short": "C2.long-frames",
    "gives-up": "C2.overtaken",
    "strict-codes": "C2.unknown-error",
    "never-returns": "C2.resume",
    "resumes-late": "C2.resume",
    "ignores-to": "C2.moved",
    "asks-once": "C2.moved-join",
    "resumes-once": "C2.moved-resume",
    "comes-as-another": "C2.moved-join",
    "goes-round": "C2.moved-round",
    "stops-when-muted": "C2.muted",
    "nags": "C2.muted",
    "shuns-failures": "C2.internal",
    "deaf-to-hosts": "C2.kicked",
    "leaves-early": "C2.draining",
    "clings": "C2.seat-gone",
    "gives-up-early": "C2.too-soon",
    "leaves-with-others": "C2.away",
    "fights": "C2.taken-over",
    "waits-for-ever": "C2.closed",
}
"""By fault the case that finds it."""
DEEP = {
    "odd-number": "C0.messages",
    "eager-login": "C0.waits-for-hello",
    "one-breath": "C0.waits-for-welcome",
    "one-frame": "C0.heaps",
    "no-hello": "C0.hello",
    "long-hello": "C0.size",
    "one-recv": "C0.bytes",
    "wrong-exit": "C2.plays",
    "other-protocol": "C0.hello",
}
"""Faults with which a client gets nowhere: other cases fail too."""
WATCHING = {
    "asks-once": "C1.moved-watch",
    "goes-round": "C1.moved-round",
    "overlooks-gaps": "C1.gap",
    "never-returns": "C1.comes-back",
    "strict-facts": "C1.unknown",
    "short": "C1.long-frames",
}
CONTROL = "C0.waits-for-hello"
"""A case that a client with another fault passes."""
LENIENT_S = 20.0

LENIENT = {
    ("C2.comes-again", "comes-at-once"): CaseVerdict.NON_STRICT,
    ("C2.too-soon", "comes-at-once"): CaseVerdict.NON_STRICT,
    ("C0.silence", "patient"): CaseVerdict.NON_STRICT,
    ("C0.protocol", "any-protocol"): CaseVerdict.NON_STRICT,
    ("C2.plays", ""): CaseVerdict.UNIMPLEMENTED,
    ("C3.plays", ""): CaseVerdict.UNIMPLEMENTED,
}
"""By case and fault what a client comes to that breaks no clause; that of C2.plays watches, and that of C3.plays is a guest."""


WITH_A_FAULT = {
    **{(fault,): (case, CONTROL) for fault, case in FAULTS.items()},
    **{(fault,): (case,) for fault, case in DEEP.items()},
    **{(fault, "--watch"): (case, "C1.watches") for fault, case in WATCHING.items()},
}
"""By words of its command the cases that a client is judged by, of which it fails the first."""


@pytest.mark.slow
def test_client_without_a_fault_passes_every_case() -> None:
    found = judge_each(
        {"plays": (("C0.*", "C2.*"), broken("")), "watches": (("C0.ping", "C1.*"), broken("", "--watch"))}
    )
    results = [result for each in found.values() for result in each.values()]
    assert [it for it in results if it.verdict not in (CaseVerdict.PASS, CaseVerdict.INFO)] == []
    assert {it.case.name for it in results} == {case.name for case in CASES if case.name < "C3"}


@pytest.mark.slow
def test_each_fault_is_found_by_the_case_about_it_and_by_no_other() -> None:
    """Those that break no clause wait the longest, and while they do the others are judged."""
    lenient = {
        (name, fault): ((name,), broken(fault, *(["--watch"] if name == "C2.plays" else [])), LENIENT_S)
        for name, fault in LENIENT
    }
    faulty = {words: (names, broken(*words)) for words, names in WITH_A_FAULT.items()}
    found = judge_each({**lenient, **faulty}, jobs=16)
    assert {row: found[row][row[0]].verdict for row in lenient} == LENIENT
    assert {row: failures(found[row]) for row in faulty} == {
        row: [case] for row, (case, *_) in WITH_A_FAULT.items()
    }
    assert all(set(found[row]) == set(names) for row, names in WITH_A_FAULT.items())


def test_program_that_cannot_be_started_fails_every_case() -> None:
    result = judge(("C0.ping",), "/no/such/program")["C0.ping"]
    assert (result.verdict, result.outcome.came[:28]) == (CaseVerdict.FAIL, "the client cannot be started")

"""Clients with one fault each: exactly the case about it fails, and says where the clause stands."""

import pytest
from conform.judging import broken, failures, judge, judge_each

from truc_conform.client_cases import CASES
from truc_conform.result import CaseVerdict

FAULTS = {
    "old-nonce": ("C0.nonce", "session.md#hello"),
    "eager-join": ("C0.waits-for-welcome", "session.md#hello"),
    "short-pong": ("C0.ping", "session.md#keep-alive"),
    "strict-fields": ("C0.unknown-fields", "evolution.md#what-a-receiver-does-with-what-it-does-not-know"),
    "strict-notices": ("C0.unknown-notices", "evolution.md#what-a-receiver-does-with-what-it-does-not-know"),
    "strict-info": (
        "C0.unknown-capabilities",
        "evolution.md#what-a-receiver-does-with-what-it-does-not-know",
    ),
    "deaf-to-bye": ("C0.bye", "session.md#goodbye"),
    "skips-empty": ("C0.empty-frame", "transport.md#frames"),
    "no-limit": ("C0.long-frame", "transport.md#frames"),
    "skips-garbage": ("C0.garbage", "transport.md#messages"),
    "stays": ("C2.plays", "play.md#decisions"),
    "invents": ("C2.options", "play.md#decisions"),
    "acts-twice": ("C2.turn", "play.md#decisions"),
    "same-id": ("C2.requests", "session.md#requests-and-replies"),
    "strict-facts": ("C2.unknown", "evolution.md#what-a-receiver-does-with-what-it-does-not-know"),
    "trusts-clocks": ("C2.unknown", "evolution.md#what-a-receiver-does-with-what-it-does-not-know"),
    "short": ("C2.long-frames", "limits.md#sizes"),
    "gives-up": ("C2.overtaken", "play.md#decisions"),
    "strict-codes": ("C2.unknown-error", "evolution.md#what-a-receiver-does-with-what-it-does-not-know"),
    "never-returns": ("C2.resume", "session.md#coming-back"),
    "resumes-late": ("C2.resume", "session.md#coming-back"),
    "ignores-to": ("C2.moved", "session.md#goodbye"),
    "asks-once": ("C2.moved-join", "session.md#goodbye"),
    "resumes-once": ("C2.moved-resume", "session.md#goodbye"),
    "comes-as-another": ("C2.moved-join", "session.md#goodbye"),
    "goes-round": ("C2.moved-round", "session.md#goodbye"),
    "stops-when-muted": ("C2.muted", "errors.md#muted"),
    "nags": ("C2.muted", "errors.md#muted"),
    "shuns-failures": ("C2.internal", "session.md#goodbye"),
    "deaf-to-hosts": ("C2.kicked", "errors.md#kicked"),
    "leaves-early": ("C2.draining", "messages.md#draining"),
    "clings": ("C2.seat-gone", "errors.md#seat_gone"),
    "gives-up-early": ("C2.too-soon", "limits.md#addresses"),
    "leaves-with-others": ("C2.away", "messages.md#away"),
    "fights": ("C2.taken-over", "messages.md#seat_taken_over"),
    "waits-for-ever": ("C2.closed", "messages.md#closed"),
}
"""By fault the case that finds it, and the clause."""
DEEP = {
    "odd-number": ("C0.messages", "transport.md#messages"),
    "eager-login": ("C0.waits-for-hello", "session.md#hello"),
    "one-breath": ("C0.waits-for-welcome", "session.md#hello"),
    "one-frame": ("C0.heaps", "transport.md#frames"),
    "no-hello": ("C0.hello", "session.md#hello"),
    "long-hello": ("C0.size", "limits.md#sizes"),
    "one-recv": ("C0.bytes", "transport.md#frames"),
    "wrong-exit": ("C2.plays", "play.md#decisions"),
    "other-protocol": ("C0.hello", "session.md#hello"),
}
"""Faults with which a client gets nowhere: other cases fail too."""
WATCHING = {
    "asks-once": ("C1.moved-watch", "session.md#goodbye"),
    "goes-round": ("C1.moved-round", "session.md#goodbye"),
    "overlooks-gaps": ("C1.gap", "overview.md#one-log"),
    "never-returns": ("C1.comes-back", "messages.md#watch"),
    "strict-facts": ("C1.unknown", "evolution.md#what-a-receiver-does-with-what-it-does-not-know"),
    "short": ("C1.long-frames", "limits.md#sizes"),
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
    **{(fault,): ((case[0], CONTROL), case) for fault, case in FAULTS.items()},
    **{(fault,): ((case[0],), case) for fault, case in DEEP.items()},
    **{(fault, "--watch"): ((case[0], "C1.watches"), case) for fault, case in WATCHING.items()},
}
"""By words of its command the cases that a client is judged by, and the one of them that it fails."""


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
    faulty = {words: (names, broken(*words)) for words, (names, _) in WITH_A_FAULT.items()}
    found = judge_each({**lenient, **faulty}, jobs=16)
    assert {row: found[row][row[0]].verdict for row in lenient} == LENIENT
    assert {row: failures(found[row]) for row in faulty} == {
        row: [case] for row, (_, case) in WITH_A_FAULT.items()
    }
    assert all(set(found[row]) == set(names) for row, (names, _) in WITH_A_FAULT.items())


def test_program_that_cannot_be_started_fails_every_case() -> None:
    result = judge(("C0.ping",), "/no/such/program")["C0.ping"]
    assert (result.verdict, result.outcome.came[:28]) == (CaseVerdict.FAIL, "the client cannot be started")

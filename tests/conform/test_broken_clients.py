"""Clients with one fault each: exactly the case about it fails, and says where the clause stands."""

import pytest
from conform.judging import broken, judge

from truc_conform.result import CaseVerdict, Level

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
    "one-frame": ("C0.heaps", "transport.md#frames"),
    "no-hello": ("C0.hello", "session.md#hello"),
    "long-hello": ("C0.size", "limits.md#sizes"),
    "one-recv": ("C0.bytes", "transport.md#frames"),
    "wrong-exit": ("C2.plays", "play.md#decisions"),
    "other-protocol": ("C0.hello", "session.md#hello"),
}
"""Faults with which a client gets nowhere: other cases fail too."""
WATCHING = {
    "overlooks-gaps": ("C1.gap", "overview.md#one-log"),
    "never-returns": ("C1.comes-back", "messages.md#watch"),
    "strict-facts": ("C1.unknown", "evolution.md#what-a-receiver-does-with-what-it-does-not-know"),
    "short": ("C1.long-frames", "limits.md#sizes"),
}
CONTROLS = ("C0.waits-for-hello", "C0.empty-frame", "C2.closed")
"""Cases that a client with another fault passes."""


@pytest.mark.slow
@pytest.mark.parametrize("level", [Level.C2, Level.C1])
def test_client_without_a_fault_passes_every_case(level) -> None:
    extra = ("--watch",) if level is Level.C1 else ()
    results = judge((), *broken("", *extra), level=level)
    others = [
        result for result in results.values() if result.verdict not in (CaseVerdict.PASS, CaseVerdict.INFO)
    ]
    assert others == []


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_found_by_the_case_about_it_and_by_no_other(fault) -> None:
    expected, clause = FAULTS[fault]
    results = judge((expected, *CONTROLS), *broken(fault))
    failed = [result.case for result in results.values() if result.verdict is CaseVerdict.FAIL]
    assert [(case.name, case.clause) for case in failed] == [(expected, clause)]


@pytest.mark.slow
@pytest.mark.parametrize("fault", DEEP)
def test_fault_that_lets_a_client_get_nowhere_is_found(fault) -> None:
    expected, clause = DEEP[fault]
    result = judge((expected,), *broken(fault))[expected]
    assert (result.verdict, result.case.clause) == (CaseVerdict.FAIL, clause)


@pytest.mark.slow
@pytest.mark.parametrize("fault", WATCHING)
def test_fault_of_a_watcher_is_found_by_the_case_about_it(fault) -> None:
    expected, clause = WATCHING[fault]
    results = judge((expected, "C1.watches"), *broken(fault, "--watch"))
    failed = [result.case for result in results.values() if result.verdict is CaseVerdict.FAIL]
    assert [(case.name, case.clause) for case in failed] == [(expected, clause)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "fault"),
    [("C2.comes-again", "comes-at-once"), ("C2.too-soon", "comes-at-once"), ("C0.silence", "patient")],
)
def test_client_that_does_not_look_at_its_clock_is_not_strict(name, fault) -> None:
    result = judge((name,), *broken(fault), patience_s=20)[name]
    assert result.verdict is CaseVerdict.NON_STRICT


@pytest.mark.slow
def test_guest_that_takes_any_protocol_is_not_strict() -> None:
    result = judge(("C0.protocol",), *broken("any-protocol"))["C0.protocol"]
    assert result.verdict is CaseVerdict.NON_STRICT


@pytest.mark.slow
def test_client_that_takes_no_seat_leaves_level_2_unimplemented() -> None:
    result = judge(("C2.plays",), *broken("", "--watch"))["C2.plays"]
    assert result.verdict is CaseVerdict.UNIMPLEMENTED


@pytest.mark.slow
def test_guest_leaves_level_3_unimplemented() -> None:
    result = judge(("C3.plays",), *broken(""))["C3.plays"]
    assert result.verdict is CaseVerdict.UNIMPLEMENTED


def test_program_that_cannot_be_started_fails_every_case() -> None:
    result = judge(("C0.ping",), "/no/such/program")["C0.ping"]
    assert (result.verdict, result.outcome.came[:28]) == (CaseVerdict.FAIL, "the client cannot be started")

"""How a client is judged that has been cheated: it signs nothing more, and its program ends with another code than 0."""

from collections.abc import Callable
from typing import Final

from truc_conform.client_harness import ClientHarness
from truc_conform.forging import BEFORE_MATCH, Cheat
from truc_conform.playing import signed_position
from truc_conform.result import CaseOutcome, CaseVerdict, failed, tag_of_body
from truc_conform.scenes import Exit, Scene, judged, said, scene
from truc_protocol import messages

CHECKS: Final = "../fairness/specification.md#11-checks"
DUTIES: Final = "../fairness/specification.md#13-what-a-client-does"


def stops(server: ClientHarness, end: Exit) -> CaseOutcome | None:
    """Judge a client that has been cheated."""
    if server.cheated_at is None:
        return failed("the match never reached the cheat")
    later = signed_after(server, server.cheated_at)
    if later:
        return failed(f"it signed a record after the cheat: {later}")
    if end.code is None:
        return failed(f"it was still running after {end.seconds:.0f} s")
    return None if end.code else failed("it ended with exit code 0, as if all were well")


def signed_after(server: ClientHarness, k: int) -> str | None:
    """Return the kind of the first record that the client has signed for a later position; None if there is none."""
    signed = said(server, messages.SignedAct)
    return next((tag_of_body(act.body) for act in signed if _position(act) > k), None)


def _position(message: messages.SignedAct) -> int:
    return BEFORE_MATCH if message.match is None else signed_position(message)


def stops_by_the_rules(server: ClientHarness, end: Exit) -> CaseOutcome | None:
    """Judge what only the rules show: a client without them may go on, and leave it to a verifier of the transcript."""
    outcome = stops(server, end)
    if outcome is None or server.cheated_at is None:
        return outcome
    return CaseOutcome(CaseVerdict.NON_STRICT, f"{outcome.came}: only the rules show it")


def cheat(name: str, what: str) -> Callable[[Cheat], Scene]:
    """Make a scene of a lie that a check of the records shows."""
    return scene(judged(name, CHECKS, f"stops at {what}", stops))


def of_options(name: str, what: str) -> Callable[[Cheat], Scene]:
    """Make a scene of a lie in the options that the client chooses from."""
    return scene(judged(name, DUTIES, f"refuses {what}", stops))

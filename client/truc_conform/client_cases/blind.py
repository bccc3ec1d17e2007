"""The cases of level C5 at an honest table whose host sees no card: the client deals, plays, and opens its links."""

from collections.abc import Callable, Iterable
from typing import Final

from msgspec.structs import replace

from truc_conform.blind_harness import BlindHarness
from truc_conform.client_cases.keyed import without_key
from truc_conform.client_harness import FRENCH, ClientHarness, Game
from truc_conform.playing import signed_position
from truc_conform.result import CaseOutcome, CaseVerdict, failed, tag_of_body
from truc_conform.scenes import (
    Exit,
    Judge,
    Judged,
    Scene,
    faulty,
    judged,
    not_entered,
    once,
    said,
    scene,
    unended,
)
from truc_protocol import messages
from truc_protocol.records import Phase

CLIENT: Final = "../fairness/blind.md#what-a-client-does"
_STEPS: Final = ("mask", "lock", "keys", "lend", "release", "garbled")
BlindArrange = Callable[[BlindHarness], None]


def unsealed(server: ClientHarness) -> CaseOutcome | None:
    """Return the outcome for a client that takes no part in this mode."""
    text = not_entered(server)
    if text is not None:
        return failed(text)
    if isinstance(server, BlindHarness) and not server.deals_here:
        return CaseOutcome(CaseVerdict.UNIMPLEMENTED, "it does not name `blind` and `own-options` in `want`")
    return without_key(server)


def at_blind_table(*cases: Judged, game: Game = FRENCH) -> Callable[[BlindArrange], Scene]:
    """Make a scene of a function that arranges a table whose host sees no card."""

    def made(arrange: BlindArrange) -> Scene:
        def arranged(server: ClientHarness) -> None:
            if not isinstance(server, BlindHarness):
                raise TypeError(f"expected a table of mode blind, got {type(server).__name__}")
            arrange(server)

        return scene(*cases, game=game)(arranged)._replace(harness=BlindHarness)

    return made


def signed_steps(server: ClientHarness, *kinds: str) -> list[messages.SignedAct]:
    """Return what the client has signed of these kinds, in order."""
    return [act for act in said(server, messages.SignedAct) if tag_of_body(act.body) in kinds]


def _deals(server: ClientHarness, end: Exit) -> CaseOutcome | None:
    missing = [kind for kind in ("mask", "lock", "keys", "release") if not signed_steps(server, kind)]
    if missing and server.ledger is not None and server.ledger.phase is Phase.ENDED:
        return failed(f"it signed no {missing[0]}")
    return faulty(server, *_STEPS) or unended(server, end)


def _acks(server: ClientHarness, _end: Exit) -> CaseOutcome | None:
    return None if signed_steps(server, "ack") else failed("it signed no ack")


def takes_each_step_once(server: ClientHarness, end: Exit) -> CaseOutcome | None:
    """Judge a client that is to sign what is due, no two bodies for one place, and to come to the end."""
    taken = {record.body for record in server.records}
    for kind in _STEPS:
        bodies = {act.body: signed_position(act) for act in signed_steps(server, kind)}
        if len(set(bodies.values())) < len(bodies):
            return failed(f"it signed two of {kind} for one place")
        if not taken.issuperset(bodies):
            return failed(f"it signed a {kind} that was not due")
    return faulty(server, *_STEPS) or unended(server, end)


@at_blind_table(
    judged("C5.plays", CLIENT, "deals with the other seat and plays an honest match to its end", _deals),
    judged("C5.ack", "../fairness/specification.md#10-end", "signs the end of the match (C32)", _acks),
)
def _honest(_server: BlindHarness) -> None:
    """Keep to the protocol."""


@at_blind_table(
    judged(
        "C5.due",
        CLIENT,
        "finds from the records what is due, whatever the server waits for",
        takes_each_step_once,
    )
)
def _waits_for_more(server: BlindHarness) -> None:
    """At each decision of the client, wait for its mask, lock, keys and link as well."""

    def recast(message: messages.ServerMessage) -> Iterable[messages.ServerMessage]:
        if not isinstance(message, messages.Waiting) or message.what != "decision":
            return (message,)
        false = (replace(message, what=what) for what in ("mask", "lock", "keys", "opening"))
        return *false, message

    server.recast = recast


def _losing(kind: str) -> Scene:
    """Return a scene in which the connection is lost with a step of the client on its way."""

    def arrange(server: BlindHarness) -> None:
        lost: list[messages.SignedAct] = []

        async def intercept(message: messages.ClientMessage) -> bool:
            is_meant = isinstance(message, messages.SignedAct) and tag_of_body(message.body) == kind
            if isinstance(message, messages.SignedAct) and is_meant and not lost:
                lost.append(message)
                await server.drop()
            return False

        server.intercepts.append(intercept)

    expected = f"sends the very same {kind} again after a lost connection (C51)"
    return at_blind_table(
        judged(f"C5.again-{kind}", CLIENT, expected, once(_was_due(kind), takes_each_step_once))
    )(arrange)


def _was_due(kind: str) -> Callable[[ClientHarness], CaseOutcome | None]:
    def judge(server: ClientHarness) -> CaseOutcome | None:
        return None if signed_steps(server, kind) else failed(f"it signed no {kind}")

    return judge


_LOST: Final = [_losing("mask"), _losing("lock"), _losing("keys")]


def _killing(kind: str) -> Scene:
    """Return a scene in which the client is killed with a step of it on its way, and started again in the same home."""

    def arrange(server: BlindHarness) -> None:
        async def intercept(message: messages.ClientMessage) -> bool:
            is_meant = isinstance(message, messages.SignedAct) and tag_of_body(message.body) == kind
            if is_meant and not server.killed:
                server.killed = True
                server.done.set()
                return True
            return False

        server.intercepts.append(intercept)

    expected = f"sends the very same {kind} again when it is killed and started anew in its home (C51)"
    need = once(_was_due(kind), _came_back(kind))
    made = at_blind_table(judged(f"C5.killed-{kind}", CLIENT, expected, need))(arrange)
    return made._replace(runs=2, keeps_home=True)


def _came_back(kind: str) -> Judge:
    def judge(server: ClientHarness, end: Exit) -> CaseOutcome | None:
        if len(signed_steps(server, kind)) == 1:
            return CaseOutcome(CaseVerdict.INFO, "it does not go on with a match when it is started anew")
        return takes_each_step_once(server, end)

    return judge


_KILLED: Final = [_killing("mask"), _killing("lock"), _killing("keys")]

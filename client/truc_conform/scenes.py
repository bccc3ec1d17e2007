"""What a scene with a client is made of, and what many of them share.

A scene runs the client, once or several times, against one stage; each of its cases judges what was seen there.
Arranging sets the stage's hooks; judging reads what the stage has written down.
"""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple, TypeVar

import trio

from truc_conform.client_harness import TARGET, Stage
from truc_conform.grease import greased, padded, raw, strange_facts, strange_info, strange_notices
from truc_conform.result import Case, Outcome, Verdict, failed
from truc_protocol.messages import (
    ClientHello,
    ClientMessage,
    GuestLogin,
    GuestReturn,
    KeyLogin,
    MatchRecord,
    Ping,
    Pong,
    ServerHello,
    ServerMessage,
    Watch,
    Welcome,
)
from truc_protocol.records import Phase

_M = TypeVar("_M", bound=ClientMessage)

ALIVE: Final = 5_000_000_007
"""The number of the ping that asks whether a client is still there; it needs 33 bits."""
CLOSING_S: Final = 3.0
"""How long a client may take to close a connection that has ended."""


class Exit(NamedTuple):
    """How the client's process ended; `code` is None if the kit had to end it."""

    code: int | None
    seconds: float


Arrange = Callable[[Stage], None]
Judge = Callable[[Stage, Exit], Outcome | None]
"""Says what came of a case; None if all was as expected."""
Need = Callable[[Stage], Outcome | None]
"""Says what came of a case for which a client has not come far enough; None if it has."""


class Scene(NamedTuple):
    """A script for a stage, and the cases judged by what happens on it.

    Attributes:
        runs: how often the client is started.
        target: the score that ends a game.
    """

    arrange: Arrange
    judged: tuple[tuple[Case, Judge], ...]
    runs: int = 1
    target: int = TARGET


def one(
    name: str,
    clause: str,
    expected: str,
    arrange: Arrange,
    judge: Judge,
    *,
    runs: int = 1,
    target: int = TARGET,
) -> Scene:
    """Return a scene of a single case."""
    return Scene(arrange, ((Case(name, clause, expected), judge),), runs, target)


def once(need: Need, judge: Judge) -> Judge:
    """Return a judge for clients that have come far enough."""
    return lambda stage, end: need(stage) or judge(stage, end)


def needing(need: Need, *scenes: Scene) -> tuple[Scene, ...]:
    """Return scenes in which only clients that have come far enough are judged further."""
    return tuple(
        scene._replace(judged=tuple((case, once(need, judge)) for case, judge in scene.judged))
        for scene in scenes
    )


def plain(_stage: Stage) -> None:
    """Keep to the protocol."""


def at_first(
    stage: Stage,
    is_meant: Callable[[ServerMessage], bool],
    change: Callable[[ServerMessage], Iterable[ServerMessage | bytes]],
) -> None:
    """Send something else in the place of the first message that is meant."""
    left = [1]

    def recast(message: ServerMessage) -> Iterable[ServerMessage | bytes]:
        if left and is_meant(message):
            left.clear()
            return change(message)
        return (message,)

    stage.recast = recast


def after_welcome(stage: Stage, *pieces: ServerMessage | bytes) -> None:
    """Let something follow the first welcome."""
    at_first(stage, lambda message: isinstance(message, Welcome), lambda welcome: (welcome, *pieces))


def ask_alive(stage: Stage, *pieces: ServerMessage | bytes) -> None:
    """Let a ping follow the first welcome, after something that must not disturb the client; its answer ends the scene.

    Whatever the client asks for in the meantime gets no answer.
    """
    after_welcome(stage, *pieces, Ping(n=ALIVE))

    async def answered(message: object) -> bool:
        if isinstance(message, Pong) and message.n == ALIVE:
            stage.done.set()
        elif isinstance(message, Pong):
            stage.nursery.start_soon(end_after, stage, CLOSING_S)
        return not _enters(message)

    stage.intercepts.append(answered)


def is_alive(stage: Stage, _exit: Exit) -> Outcome | None:
    """Judge by the answer to the ping."""
    numbers = [pong.n for pong in said(stage, Pong)]
    if ALIVE in numbers:
        return None
    if numbers:
        return failed(f"a pong with the number {numbers[0]} instead of {ALIVE}")
    return failed(not_entered(stage) or "no pong: the client did not go on")


def ends_soon(stage: Stage, begins: Callable[[object], bool], seconds: float = CLOSING_S) -> None:
    """End the scene some time after a certain message of the client, however slowly its program started."""

    async def intercept(message: object) -> bool:
        if begins(message):
            stage.nursery.start_soon(end_after, stage, seconds)
        return False

    stage.intercepts.append(intercept)


async def end_after(stage: Stage, seconds: float) -> None:
    """End the scene after some time."""
    await trio.sleep(seconds)
    stage.done.set()


def _enters(message: object) -> bool:
    return isinstance(message, ClientHello) or says_who(message)


def grease_all(stage: Stage) -> None:
    """Send, with everything, fields, notices, facts, capabilities and limits that nobody knows."""
    stage.info, stage.dress = strange_info(), greased

    def recast(message: ServerMessage) -> Iterable[ServerMessage | bytes]:
        if isinstance(message, ServerHello | Welcome):
            return (message,)
        return strange_facts(message), *strange_notices()

    stage.recast = recast


def cut_to_pieces(stage: Stage) -> None:
    """Cut every frame into pieces of three bytes."""
    stage.cut = lambda frame: (frame[i : i + 3] for i in range(0, len(frame), 3))


def lengthen(stage: Stage) -> None:
    """Lengthen every record to the longest frame that a server may send."""
    stage.recast = lambda message: (padded(raw(message)),) if isinstance(message, MatchRecord) else (message,)


def must_close(stage: Stage, *pieces: ServerMessage | bytes) -> None:
    """Send something after the first welcome that ends the connection; the client must close it."""
    after_welcome(stage, *pieces)
    stage.ends_on_close = True
    ends_soon(stage, says_who)

    async def pass_over(message: object) -> bool:
        return not _enters(message)

    stage.intercepts.append(pass_over)


def has_closed(stage: Stage, end: Exit) -> Outcome | None:
    """Judge by the end of the first connection."""
    if (early := shut_out(stage)) is not None or stage.has_closed:
        return early
    return failed(f"the connection was still open after {end.seconds:.0f} s")


def not_entered(stage: Stage) -> str | None:
    """Say why a client was not let in; None if it was."""
    if not stage.doors_used:
        return "the client never connected"
    if any(isinstance(message, Welcome) for message in stage.sent):
        return None
    if stage.faults:
        return f"not let in: {stage.faults[0].message}"
    said = ", ".join(type(heard.message).__name__ for heard in stage.heard) or "nothing"
    return f"not let in; it sent {said}"


def says_who(message: object) -> bool:
    """Tell whether a message is a login."""
    return isinstance(message, KeyLogin | GuestLogin | GuestReturn)


def said(stage: Stage, kind: type[_M]) -> list[_M]:
    """Return every message of a kind that the client has sent, in order."""
    return [heard.message for heard in stage.heard if isinstance(heard.message, kind)]


def shut_out(stage: Stage) -> Outcome | None:
    """Return the outcome for a client that was not let in."""
    text = not_entered(stage)
    return None if text is None else failed(text)


def absent(stage: Stage) -> Outcome | None:
    """Return the outcome for a client that took no seat."""
    if (early := shut_out(stage)) is not None or stage.has_sat:
        return early
    return Outcome(Verdict.UNIMPLEMENTED, "it took no seat at the table")


def unwatched(stage: Stage) -> Outcome | None:
    """Return the outcome for a client that watched nothing."""
    if (early := shut_out(stage)) is not None or said(stage, Watch):
        return early
    return Outcome(Verdict.UNIMPLEMENTED, "it watched no table")


def unended(stage: Stage, end: Exit) -> Outcome | None:
    """Return the outcome for a client that did not reach the end of the match and then exit with code 0."""
    if stage.ledger is None:
        return failed("no match began" + _first_fault(stage))
    if stage.ledger.phase is not Phase.ENDED:
        return failed(f"the match stalled at position {stage.ledger.k}" + _first_fault(stage))
    if end.code is None:
        return failed("the client kept running after the match")
    return failed(f"it ended with exit code {end.code}") if end.code else None


def _first_fault(stage: Stage) -> str:
    return f"; {stage.faults[0].message}" if stage.faults else ""


def faulty(stage: Stage, *codes: str) -> Outcome | None:
    """Return the outcome for a client with one of these faults."""
    return next((failed(fault.message) for fault in stage.faults if fault.code in codes), None)


def without(*codes: str) -> Judge:
    """Return a judge that allows none of some faults."""
    return lambda stage, _exit: faulty(stage, *codes)

"""What a scene with a client is made of, and what many of them share.

A scene runs the client, once or several times, against one stage; each of its cases judges what was seen there.
Arranging sets the stage's hooks; judging reads what the stage has written down.
"""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

import trio

from truc_conform.grease import greased, padded, raw, strange_facts, strange_info, strange_notices
from truc_conform.result import PASSED, Case, Outcome, Verdict, failed
from truc_conform.stage import TARGET, Stage
from truc_protocol.messages import (
    ClientHello,
    GuestAct,
    GuestLogin,
    GuestReturn,
    KeyLogin,
    MatchRecord,
    Ping,
    Pong,
    ServerHello,
    ServerMessage,
    SignedAct,
    Watch,
    Welcome,
)
from truc_protocol.records import Phase

ALIVE: Final = 5_000_000_007
"""The number of the ping that asks whether a client is still there; it needs 33 bits."""
CLOSING_S: Final = 3.0
"""How long a client may take to close a connection that has ended."""


class Exit(NamedTuple):
    """How the client's process ended; `code` is None if the kit had to end it."""

    code: int | None
    seconds: float


Arrange = Callable[[Stage], None]
Judge = Callable[[Stage, Exit], Outcome]


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


def after_welcome(stage: Stage, *pieces: ServerMessage | bytes) -> None:
    """Let something follow the first welcome."""
    left = [pieces]

    def recast(message: ServerMessage) -> Iterable[ServerMessage | bytes]:
        return (message, *left.pop()) if isinstance(message, Welcome) and left else (message,)

    stage.recast = recast


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


def is_alive(stage: Stage, _exit: Exit) -> Outcome:
    """Judge by the answer to the ping."""
    numbers = [heard.message.n for heard in stage.heard if isinstance(heard.message, Pong)]
    if ALIVE in numbers:
        return PASSED
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
    ends_soon(stage, lambda message: isinstance(message, KeyLogin | GuestLogin | GuestReturn))

    async def pass_over(message: object) -> bool:
        return not _enters(message)

    stage.intercepts.append(pass_over)


def has_closed(stage: Stage, end: Exit) -> Outcome:
    """Judge by the end of the first connection."""
    if (text := not_entered(stage)) is not None:
        return failed(text)
    return PASSED if stage.closed else failed(f"the connection was still open after {end.seconds:.0f} s")


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


def acts(stage: Stage) -> list[SignedAct | GuestAct]:
    """Return every act of the client, in order."""
    return [heard.message for heard in stage.heard if isinstance(heard.message, SignedAct | GuestAct)]


def absent(stage: Stage) -> Outcome | None:
    """Return the outcome for a client that took no seat."""
    if (text := not_entered(stage)) is not None:
        return failed(text)
    if not stage.has_sat:
        return Outcome(Verdict.UNIMPLEMENTED, "it took no seat at the table")
    return None


def unwatched(stage: Stage) -> Outcome | None:
    """Return the outcome for a client that watched nothing."""
    if (text := not_entered(stage)) is not None:
        return failed(text)
    if not any(isinstance(heard.message, Watch) for heard in stage.heard):
        return Outcome(Verdict.UNIMPLEMENTED, "it watched no table")
    return None


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


def played(stage: Stage, end: Exit) -> Outcome:
    """Judge a client that must play the match to its end."""
    return absent(stage) or unended(stage, end) or PASSED


def watched(stage: Stage, end: Exit) -> Outcome:
    """Judge a client that must watch the match to its end."""
    return unwatched(stage) or unended(stage, end) or PASSED


def without(*codes: str, before: Callable[[Stage, Exit], Outcome | None]) -> Judge:
    """Return a judge that allows none of some faults, once the client has come far enough."""

    def judge(stage: Stage, end: Exit) -> Outcome:
        if (early := before(stage, end)) is not None:
            return early
        found = [fault.message for fault in stage.faults if fault.code in codes]
        return failed(found[0]) if found else PASSED

    return judge


def let_in(stage: Stage, _exit: Exit) -> Outcome | None:
    """Return the outcome for a client that was not let in."""
    text = not_entered(stage)
    return None if text is None else failed(text)


def seated(stage: Stage, _exit: Exit) -> Outcome | None:
    """Return the outcome for a client that took no seat."""
    return absent(stage)

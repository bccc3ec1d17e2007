"""What a scene with a client is made of, and what many of them share.

A scene runs the client, once or several times, against one server; each of its cases judges what was seen there. The
function under `scene` arranges the server's hooks, and its docstring says what the server does; what the client must do
then stands beside its name, with the clause and the judge, who reads what the server has written down.
"""

from collections.abc import Awaitable, Callable, Iterable
from itertools import count
from types import UnionType
from typing import Any, Final, NamedTuple, TypeVar

import trio

from truc_conform.client_harness import ClientHarness, Recast
from truc_conform.expectations import InconclusiveError, UnexpectedError, UnofferedError, require
from truc_conform.grease import greased, padded, raw, strange_facts, strange_info, strange_notices
from truc_conform.result import Case
from truc_conform.scripted import FRENCH, PlayedGame
from truc_protocol import messages
from truc_protocol.records import Phase

_M = TypeVar("_M", bound=messages.ClientMessage)

ALIVE: Final = 5_000_000_007
"""The number of the ping that asks whether a client is still there; it needs 33 bits."""
LOGIN: Final = messages.KeyLogin | messages.GuestLogin | messages.GuestReturn
CLOSING_S: Final = 3.0
"""How long a client may take to close a connection that has ended."""


class ClientExit(NamedTuple):
    """How the client's process ended; `code` is None if the kit had to end it."""

    code: int | None
    seconds: float


Arrange = Callable[[ClientHarness], None]
Judge = Callable[[ClientHarness, ClientExit], None]
"""Raises what came of a case, if that is not what was expected."""
Judged = tuple[Case, tuple[Judge, ...]]
"""A case and its judges, of whom the first that raises has the word."""
Answer = Callable[[ClientHarness, Any], Awaitable[bool]]
"""Sees a message of the client; tells whether the server has nothing more to answer."""
OnMessage = Callable[[ClientHarness, Any], Awaitable[None]]
"""Does something at a message of the client."""
Pieces = Iterable[messages.ServerMessage | bytes]


class Scene(NamedTuple):
    """A script for a server, and the cases judged by what happens on it.

    Attributes:
        runs: how often the client is started.
        keeps_home: it is started in the same home each time.
        game: what is played.
        harness: the kind of table.
    """

    arrange: Arrange
    judged: tuple[Judged, ...]
    runs: int = 1
    game: PlayedGame = FRENCH
    harness: type[ClientHarness] = ClientHarness
    keeps_home: bool = False


def judged(name: str, clause: str, expected: str, *judges: Judge) -> Judged:
    """Return a case of a scene: what it expects of the client, and who judges that."""
    return Case(name, clause, expected), judges


def shared_scene(*cases: Judged, runs: int = 1, game: PlayedGame = FRENCH) -> Callable[[Arrange], Scene]:
    """Make a scene that several cases are judged by, of a function that arranges the server."""
    return lambda arrange: Scene(arrange, cases, runs, game)


def scene(
    name: str, clause: str, expected: str, *judges: Judge, runs: int = 1, game: PlayedGame = FRENCH
) -> Callable[[Arrange], Scene]:
    """Make a scene of one case."""
    return shared_scene(judged(name, clause, expected, *judges), runs=runs, game=game)


def needing(first: Judge, scenes: Iterable[Scene]) -> tuple[Scene, ...]:
    """Return scenes with one more judge, who comes first: whether a client has come far enough."""
    return tuple(
        scene._replace(judged=tuple((case, (first, *judges)) for case, judges in scene.judged))
        for scene in scenes
    )


def intercepting(kind: type | UnionType = object) -> Callable[[Answer], Arrange]:
    """Arrange that a function sees what the client says of a kind, before the server answers it."""

    def made(answer: Answer) -> Arrange:
        def arrange(server: ClientHarness) -> None:
            async def intercept(message: messages.ClientMessage) -> bool:
                return isinstance(message, kind) and await answer(server, message)

            server.intercepts.append(intercept)

        return arrange

    return made


def at_message(is_meant: Callable[[Any], bool], do: Answer, *, number: int = 1) -> Arrange:
    """Arrange that something is done at one message of those that are meant, the first or a later one, before it is answered."""

    def arrange(server: ClientHarness) -> None:
        numbers = count(1)

        async def intercept(message: messages.ClientMessage) -> bool:
            return is_meant(message) and next(numbers) == number and await do(server, message)

        server.intercepts.append(intercept)

    return arrange


def instead(do: OnMessage) -> Answer:
    """Return what does something in the place of an answer."""

    async def answer(server: ClientHarness, message: messages.ClientMessage) -> bool:
        await do(server, message)
        return True

    return answer


async def lose(server: ClientHarness, _message: object) -> None:
    """Lose the connection, and what was said last."""
    await server.drop()


async def kill(server: ClientHarness, _message: object) -> None:
    """End the client, which is started again in the same home; what it said last is lost."""
    server.done.set()


def each_of(kind: type | UnionType, change: Callable[[Any], Pieces]) -> Recast:
    """Return what lets others leave in the place of each message of a kind."""
    return lambda message: change(message) if isinstance(message, kind) else (message,)


def plain(_server: ClientHarness) -> None:
    """Keep to the protocol."""


def at_first(
    server: ClientHarness,
    is_meant: Callable[[messages.ServerMessage], bool],
    change: Callable[[messages.ServerMessage], Pieces],
) -> None:
    """Send something else in the place of the first message that is meant."""
    left = [1]

    def recast(message: messages.ServerMessage) -> Pieces:
        if left and is_meant(message):
            left.clear()
            return change(message)
        return (message,)

    server.recast = recast


def after_welcome(server: ClientHarness, *pieces: messages.ServerMessage | bytes) -> None:
    """Let something follow the first welcome."""
    at_first(
        server, lambda message: isinstance(message, messages.Welcome), lambda welcome: (welcome, *pieces)
    )


def ask_alive(server: ClientHarness, *pieces: messages.ServerMessage | bytes) -> None:
    """Let a ping follow the first welcome, after something that must not disturb the client; its answer ends the scene.

    Whatever the client asks for in the meantime gets no answer.
    """
    after_welcome(server, *pieces, messages.Ping(n=ALIVE))
    _await_pong(server)


@intercepting()
async def _await_pong(server: ClientHarness, message: messages.ClientMessage) -> bool:
    if isinstance(message, messages.Pong) and message.n == ALIVE:
        server.done.set()
    # A wrong number: the right one may still come.
    elif isinstance(message, messages.Pong):
        server.nursery.start_soon(end_after, server, CLOSING_S)
    # The case is about one message; an answer to anything else could be what disturbs the client.
    return not _enters(message)


def is_alive(server: ClientHarness, _exit: ClientExit) -> None:
    """Judge by the answer to the ping."""
    numbers = [pong.n for pong in said(server, messages.Pong)]
    if ALIVE not in numbers:
        silent = not_entered(server) or "no pong: the client did not go on"
        wrong = f"a pong with the number {numbers[0]} instead of {ALIVE}" if numbers else silent
        raise UnexpectedError(wrong)


def ends_soon(server: ClientHarness, begins: Callable[[object], bool], seconds: float = CLOSING_S) -> None:
    """End the scene some time after a certain message of the client, however slowly its program started."""

    async def intercept(message: object) -> bool:
        if begins(message):
            server.nursery.start_soon(end_after, server, seconds)
        return False

    server.intercepts.append(intercept)


async def end_after(server: ClientHarness, seconds: float) -> None:
    """End the scene after some time."""
    await trio.sleep(seconds)
    server.done.set()


def _enters(message: object) -> bool:
    return isinstance(message, messages.ClientHello) or says_who(message)


def grease_all(server: ClientHarness) -> None:
    """Send, with everything, fields, notices, facts, capabilities and limits that nobody knows."""
    server.info, server.dress = strange_info(), greased
    # Before `welcome` no notice may come (connection.md).
    greeting = messages.ServerHello | messages.Welcome
    server.recast = lambda message: (
        (message,) if isinstance(message, greeting) else (strange_facts(message), *strange_notices())
    )


def cut_to_pieces(server: ClientHarness) -> None:
    """Cut every frame into pieces of three bytes."""
    server.cut = lambda frame: (frame[i : i + 3] for i in range(0, len(frame), 3))


def lengthen(server: ClientHarness) -> None:
    """Lengthen every record to the longest frame that a server may send."""
    server.recast = each_of(messages.MatchRecord, lambda record: (padded(raw(record)),))


def must_close(server: ClientHarness, *pieces: messages.ServerMessage | bytes) -> None:
    """Send something after the first welcome that ends the connection; the client must close it."""
    after_welcome(server, *pieces)
    server.ends_on_close = True
    ends_soon(server, says_who)
    _answer_nothing_more(server)


@intercepting()
async def _answer_nothing_more(_server: ClientHarness, message: messages.ClientMessage) -> bool:
    return not _enters(message)


def has_closed(server: ClientHarness, end: ClientExit) -> None:
    """Judge by the end of the first connection."""
    # A client that was never let in has not been tried.
    enters(server, end)
    require(server.has_closed, f"the connection was still open after {end.seconds:.0f} s")


def not_entered(server: ClientHarness) -> str | None:
    """Say why a client was not let in; None if it was."""
    if not server.doors_used:
        return "the client never connected"
    if any(isinstance(message, messages.Welcome) for message in server.sent):
        return None
    if server.faults:
        return f"not let in: {server.faults[0].message}"
    said = ", ".join(type(heard.message).__name__ for heard in server.heard) or "nothing"
    return f"not let in; it sent {said}"


def says_who(message: object) -> bool:
    """Tell whether a message is a login."""
    return isinstance(message, LOGIN)


def said(server: ClientHarness, kind: type[_M]) -> list[_M]:
    """Return every message of a kind that the client has sent, in order."""
    return [heard.message for heard in server.heard if isinstance(heard.message, kind)]


def enters(server: ClientHarness, _exit: ClientExit) -> None:
    """Check that a client was let in."""
    text = not_entered(server)
    require(text is None, text or "")


def sits_down(server: ClientHarness, end: ClientExit) -> None:
    """Check that a client took a seat."""
    enters(server, end)
    if not server.has_sat:
        raise UnofferedError("it took no seat at the table")


def watches(server: ClientHarness, end: ClientExit) -> None:
    """Check that a client watched something."""
    enters(server, end)
    if not said(server, messages.Watch):
        raise UnofferedError("it watched no table")


def wants(server: ClientHarness, capability: str) -> bool:
    """Tell whether the client has named a capability in its hello."""
    return any(capability in hello.want for hello in said(server, messages.ClientHello))


def if_wanted(capability: str) -> Judge:
    """Return a judge that lets a client go on which has named a capability; it need not."""

    def judge(server: ClientHarness, _exit: ClientExit) -> None:
        if not wants(server, capability):
            raise InconclusiveError(f"it does not want `{capability}`")

    return judge


def finishes(server: ClientHarness, end: ClientExit) -> None:
    """Judge a client that is to reach the end of the match and then exit with code 0."""
    if server.ledger is None:
        raise UnexpectedError("no match began" + _first_fault(server))
    is_ended = server.ledger.phase is Phase.ENDED
    require(is_ended, f"the match stalled at position {server.ledger.k}" + _first_fault(server))
    require(end.code is not None, "the client kept running after the match")
    require(end.code == 0, f"it ended with exit code {end.code}")


def _first_fault(server: ClientHarness) -> str:
    return f"; {server.faults[0].message}" if server.faults else ""


def check_faults(server: ClientHarness, *codes: str) -> None:
    """Check that a client has none of some faults."""
    for fault in server.faults:
        require(fault.code not in codes, fault.message)


def without(*codes: str) -> Judge:
    """Return a judge that allows none of some faults."""
    return lambda server, _exit: check_faults(server, *codes)

"""The line to a server: requests and their replies, over a connection that is reopened automatically.

A request made while the line is down waits until it is open again; one made before fails, unless the server has said
goodbye instead of doing it, as it is done elsewhere: then it is made again there. Invariant: no reply on one connection
answers a request of another.
"""

from collections.abc import Callable
from math import inf
from typing import Final, Protocol

import trio

from truc_client.address import Address
from truc_client.errors import ClientError, LostError, RefusedError
from truc_client.line.login import LoggedIn, Visit
from truc_client.line.opening import LONGEST_ASKED_S, MAX_MOVES, come_back, moved_to, to_first_address
from truc_client.line.single_connection import Answer, Build, SingleConnection
from truc_protocol.errors import Code
from truc_protocol.messages import Ok, ServerMessage
from truc_words import Sentence

_MAX_LEFT: Final = 8  # addresses of a server that has sent its clients on
_RATE_LIMITED_TRIES: Final = 8
_DEFAULT_RETRY_MS: Final = 500
STEADY_S: Final = 2.0  # a connection that does not last as long was hardly open


class Follower(Protocol):
    """Whoever is told what comes over the line, and when it goes down or returns."""

    def ask_again(self) -> None:
        """Ask for what may be lost, if nothing has come since this was called last."""

    def handle(self, message: ServerMessage) -> None:
        """Take a message that is not a reply."""

    def interrupted(self, reason: str) -> None:
        """Note that the line is down."""

    def returned(self, entered: LoggedIn) -> None:
        """Note that the line is open again."""

    def fail(self, error: ClientError) -> None:
        """Note that the line is down for good."""


class ServerLine:
    """A line to a server; `run` keeps it."""

    def __init__(self, visit: Visit, entered: LoggedIn) -> None:
        self._waiting: set[trio.MemorySendChannel[Answer | ClientError]] = set()
        self._open = trio.Event()
        self._failure: ClientError | None = None
        self._visit = visit
        self._adopt(entered)

    def _adopt(self, entered: LoggedIn) -> None:
        self._connection: SingleConnection = entered.connection
        arrived = entered.address._replace(invite=None)  # it has been used
        asked = self._visit.first or self._visit.address
        # the way back: a node that has gone is not waited for alone, as the address
        # that the player gave leads to another, which has the table by then
        first = None if asked.server == arrived.server else asked._replace(invite=None)
        before = (self._visit.address._replace(invite=None), *self._visit.left)
        left = tuple(address for address in dict.fromkeys(before) if address.server != arrived.server)
        self._visit = self._visit._replace(address=arrived, known=None, first=first, left=left[:_MAX_LEFT])
        self._open.set()

    @property
    def address(self) -> Address:
        """Where the server is, as far as this client knows."""
        return self._visit.address

    @property
    def clock_offset_ms(self) -> int | None:
        """How many milliseconds the server's clock is ahead."""
        return self._connection.clock.offset_ms

    def post(self, build: Build, on_answer: Callable[[Answer], None]) -> bool:
        """Send a request without waiting; tell whether the line was open."""
        if not self._open.is_set() or self._failure is not None:
            return False
        try:
            self._connection.post(build, on_answer)
        except LostError:
            return False
        return True

    async def request(self, build: Build, at_once: Callable[[Ok], None] | None = None) -> Ok:
        """Send a request and return its reply; after too many requests, wait and ask again.

        `at_once` sees the reply before any message that comes after it.

        Raises:
            RefusedError: The server refused it.
            LostError: The connection was lost before the reply.
        """
        for _ in range(_RATE_LIMITED_TRIES):
            answer = await self._ask_on(build, at_once)
            if isinstance(answer, Ok):
                return answer
            if answer.code != Code.RATE_LIMITED:
                raise RefusedError(answer.code, answer.msg, retry_after_ms=answer.retry_after_ms)
            await trio.sleep(pause_of(answer.retry_after_ms))
        raise RefusedError(Code.RATE_LIMITED, Sentence("failures.busy"))

    async def _ask_on(self, build: Build, at_once: Callable[[Ok], None] | None) -> Answer:
        """Ask, and ask again where the server says that it is done; a few times only."""
        for left in reversed(range(MAX_MOVES + 1)):
            await self._wait_open()
            try:
                return await self._ask(build, at_once)
            except LostError as lost:
                # sent on, nothing was done of what has no reply yet
                # (session.md, "Goodbye"); after a plain loss nobody knows
                if lost.to is None or not left:
                    raise
        raise AssertionError("the last loss is raised")

    async def _wait_open(self) -> None:
        await self._open.wait()
        if self._failure is not None:
            raise self._failure

    async def _ask(self, build: Build, at_once: Callable[[Ok], None] | None) -> Answer:
        # the first word counts: a reply, or why there will be none
        tell, told = trio.open_memory_channel[Answer | ClientError](inf)

        def answered(answer: Answer) -> None:
            if at_once is not None and isinstance(answer, Ok):
                at_once(answer)
            tell.send_nowait(answer)

        self._waiting.add(tell)
        try:
            self._connection.post(build, answered)
            answer = await told.receive()
        finally:
            self._waiting.discard(tell)
        if isinstance(answer, ClientError):
            raise answer
        return answer

    async def run(self, follower: Follower) -> None:
        """Keep the line open until patience ends; never raises."""
        losses = moves = 0
        try:
            while True:
                opened = trio.current_time()
                lost = await self._run_connection(follower)
                is_steady = trio.current_time() - opened >= STEADY_S
                # a login alone is no success: a server that fails at what
                # follows was asked fourteen times a second, without end
                losses = 0 if is_steady else losses + 1
                moves = (0 if is_steady else moves) + (lost.to is not None)
                if not lost.again:
                    raise lost
                self._interrupt(lost)
                follower.interrupted(str(lost))
                visit = self._next_visit(lost, moves)
                if moves > MAX_MOVES:
                    # at the first address it may be sent on again, to where the table is by then
                    moves = 0
                entered = await come_back(visit, lost.after_ms, losses=losses)
                self._adopt(entered)
                follower.returned(entered)
        except ClientError as error:
            self._fail(error)
            follower.fail(error)

    def _next_visit(self, lost: LostError, moves: int) -> Visit:
        """Return where to go on: where the server says, unless it has sent the client round; or where it was."""
        if lost.to is None:
            return self._visit
        return moved_to(self._visit, lost.to) if moves <= MAX_MOVES else to_first_address(self._visit)

    async def _run_connection(self, follower: Follower) -> LostError:
        try:
            await self._connection.run(follower.handle, follower.ask_again)
        except LostError as lost:
            return lost
        raise AssertionError("a connection ends by being lost")

    def _interrupt(self, lost: LostError) -> None:
        self._open = trio.Event()
        self._tell_waiting(lost)

    def _fail(self, error: ClientError) -> None:
        self._failure = error
        # whoever waits for the line has to wake up to be told
        self._open.set()
        self._tell_waiting(error)

    def _tell_waiting(self, error: ClientError) -> None:
        for waiting in self._waiting:
            waiting.send_nowait(error)


def pause_of(retry_after_ms: int | None) -> float:
    """Return how many seconds to wait before repeating a request that came too soon."""
    # whoever asked waits all that time, and hears nothing of the connection
    return min((retry_after_ms or _DEFAULT_RETRY_MS) / 1000, LONGEST_ASKED_S)

"""One connection to a server, from the login to its last byte.

One task reads, one writes and one keeps the connection alive. Losing it in any way is a `LostError`; nothing else
leaves `SingleConnection.run`. An unanswered request counts as a loss too: every wait for a reply has an end.
"""

import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from math import inf
from types import MappingProxyType
from typing import Final, NamedTuple

import trio

from truc_client.errors import EncryptedError, LostError, refused
from truc_protocol.bodies import Keys
from truc_protocol.errors import Code, LocalError
from truc_protocol.messages import (
    AnyMessage,
    Bye,
    ClientMessage,
    Ok,
    Ping,
    Pong,
    Refusal,
    ServerMessage,
    SignedAct,
)
from truc_protocol.records import is_of_kind
from truc_protocol.wire.connection import ConnectionEnd, Failure, KeepAlive, keep_alive
from truc_protocol.wire.encoding import MistakenPeerError
from truc_words import Sentence

_MAX_SAMPLES: Final = 8


class ClockSample(NamedTuple):
    """One answer: how long it took, and the difference it gives."""

    round_trip_ms: float
    offset_ms: float


class ClockOffset:
    """The difference between two clocks."""

    def __init__(self) -> None:
        self._samples: deque[ClockSample] = deque(maxlen=_MAX_SAMPLES)

    def note(self, server_ms: int | None, *, asked: float, answered: float) -> None:
        """Note what the server's clock showed between two moments of this machine's, in Unix seconds."""
        if server_ms is None or answered < asked:
            return  # the server told no time, or this machine's clock was set back in between
        middle_ms = (asked + answered) / 2 * 1000
        self._samples.append(ClockSample((answered - asked) * 1000, server_ms - middle_ms))

    @property
    def offset_ms(self) -> int | None:
        """How many milliseconds the server's clock is ahead; None before any answer."""
        if not self._samples:
            return None
        # of the fastest answer: the server read its clock
        # somewhere within the round trip, which bounds the error
        return round(min(self._samples).offset_ms)


READ_BYTES: Final = 65_536
_MAX_WAITING: Final = 256  # frames to send; a server that lets so many pile up is gone
_TLS_INSTEAD: Final = MistakenPeerError("TLS").message
_FOREIGN_SENTENCES: Final[Mapping[str, Sentence]] = MappingProxyType(
    {
        **{
            MistakenPeerError(name).message: Sentence("failures.foreign", name=name)
            for name in ("HTTP", "SSH")
        },
        MistakenPeerError("text").message: Sentence("failures.foreign_text"),
    }
)
"""What to say of somebody who speaks something else, by what is wrong with its first bytes."""
_CHECKS_PER_IDLE: Final = 4
# times `idle_s`: after so much silence a connection is lost, and after so long without a reply (session.md)
_PATIENCE: Final = 1.5

Answer = Ok | Refusal
Build = Callable[[int], ClientMessage]
"""Builds a request with the number given."""
OnAnswer = Callable[[Answer], None]


def _waits_for_others(message: ClientMessage) -> bool:
    """Tell whether a request is answered only when other players have done theirs: keys of mode blind are when all are in."""
    return isinstance(message, SignedAct) and is_of_kind(message.body, Keys)


class PendingRequest(NamedTuple):
    """A request that waits for its reply, with the time it was sent; `inf` if others may keep it waiting."""

    on_answer: OnAnswer
    since: float


class SingleConnection:
    """A logged-in connection."""

    def __init__(
        self,
        stream: trio.abc.Stream,
        protocol: ConnectionEnd,
        early: list[AnyMessage],
        idle_s: float,
        clock: ClockOffset,
    ) -> None:
        self.clock = clock
        self._stream = stream
        self._protocol = protocol
        self._early = early
        self._idle_s = idle_s
        self._pings = 0
        self._pinged_time = 0.0
        self._heard = trio.current_time()
        self._pinged: float | None = None
        # 0 was the hello and 1 the login
        self._requests = 1
        self._goodbye: Bye | None = None
        self._asked: dict[int, PendingRequest] = {}  # oldest first
        self._sending, self._to_send = trio.open_memory_channel[bytes](_MAX_WAITING)

    def post(self, build: Build, on_answer: OnAnswer) -> None:
        """Send a request; `on_answer` is called with its reply, unless the connection is lost first.

        Raises:
            LostError: The server has not read for too long, or the connection is gone.
        """
        self._requests += 1
        number = self._requests
        message = build(number)
        self._queue(message)
        since = inf if _waits_for_others(message) else trio.current_time()
        self._asked[number] = PendingRequest(on_answer, since)

    def _queue(self, message: AnyMessage) -> None:
        try:
            self._sending.send_nowait(self._protocol.send(message))
        except (trio.WouldBlock, trio.BrokenResourceError) as error:
            raise LostError(Sentence("failures.server_reads_not")) from error
        except LocalError as error:
            # after a goodbye nothing may be sent any more: whoever asks
            # then is told that goodbye, not that they came too late
            told = self._goodbye
            lost = LostError(Sentence("failures.cannot_send", error=error))
            raise farewell(told) if told else lost from error

    async def run(self, handle: Callable[[ServerMessage], None], ask_again: Callable[[], None]) -> None:
        """Read until the connection is lost; `handle` gets every message that is not a reply.

        `ask_again` is called twice in the time after which a silent server is pinged: what it has sent may be lost.

        Raises:
            LostError: Always, in the end.
        """
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._write)
                nursery.start_soon(self._keep_alive)
                nursery.start_soon(self._ask_again, ask_again)
                # what came in one piece with the welcome
                for message in self._early:
                    self._take(message, handle)
                while True:
                    for message in await self._read():
                        self._take(message, handle)
        except BaseExceptionGroup as group:
            raise _loss(group) from group
        finally:
            await trio.aclose_forcefully(self._stream)

    async def _read(self) -> list[AnyMessage]:
        received = await self._stream.receive_some(READ_BYTES)
        if not received:
            raise LostError(Sentence("failures.connection_closed"))
        self._heard = trio.current_time()
        return list(map(expect_message, self._protocol.receive(bytes(received))))

    async def _write(self) -> None:
        # the reading task finds the end: a goodbye may still be there to read (session.md, "Goodbye")
        with suppress(trio.BrokenResourceError):
            async for frame in self._to_send:
                await self._stream.send_all(frame)

    async def _ask_again(self, ask_again: Callable[[], None]) -> None:
        while True:
            # a table asks at the second call that finds it silent: not
            # more often than once in `idle_s` (session.md, "Coming back")
            await trio.sleep(self._idle_s / 2)
            ask_again()

    async def _keep_alive(self) -> None:
        while True:
            await trio.sleep(self._idle_s / _CHECKS_PER_IDLE)
            now = trio.current_time()
            self._check_answers(now)
            match keep_alive(now, heard=self._heard, pinged=self._pinged, idle_s=self._idle_s):
                case KeepAlive.GIVE_UP:
                    raise LostError(Sentence("failures.silent", n=round(_PATIENCE * self._idle_s)))
                case KeepAlive.PING:
                    self._pinged = now
                    self._ping()
                case KeepAlive.REST:
                    pass

    def _check_answers(self, now: float) -> None:
        """Check that no request has waited for as long as a server may be silent: whoever asked does nothing else."""
        patience_s = _PATIENCE * self._idle_s
        if self._asked and now - min(asked.since for asked in self._asked.values()) >= patience_s:
            raise LostError(Sentence("failures.unanswered", n=round(patience_s)))

    def _ping(self) -> None:
        self._pings += 1
        # the wall clock, as it is compared with the server's; trio's clock has no date
        self._pinged_time = time.time()
        self._queue(Ping(n=self._pings))

    def _take(self, message: AnyMessage, handle: Callable[[ServerMessage], None]) -> None:
        match message:
            case Ok() | Refusal(re=int()):
                self._answer(message)
            # without `re` the server could not read what was sent: on another connection it would be the same
            case Refusal():
                raise LostError(
                    Sentence("failures.not_understood", words=message.msg, code=message.code), again=False
                )
            case Bye():
                self._goodbye = message
                raise farewell(message)
            case Ping():
                self._queue(Pong(n=message.n, now_ms=int(time.time() * 1000)))
            case Pong():
                # an answer to an earlier ping would be measured from the newest one's time
                if message.n == self._pings:
                    self.clock.note(message.now_ms, asked=self._pinged_time, answered=time.time())
            case _ if isinstance(message, ServerMessage):
                handle(message)
            case _:
                raise LostError(Sentence("failures.only_clients_send"), again=False)

    def _answer(self, message: Answer) -> None:
        asked = self._asked.pop(message.re, None) if message.re is not None else None
        if asked is not None:
            asked.on_answer(message)


def farewell(message: Bye) -> LostError:
    """Return a server's goodbye as a loss; only a server that has moved says where to go on."""
    to = message.to if message.code == Code.MOVED else None
    if to is None:
        text = Sentence("failures.goodbye", refused=refused(message.code, message.msg))
    else:
        text = Sentence("failures.goodbye_moved", to=to)
    return LostError(text, again=message.retryable, to=to, after_ms=message.reconnect_after_ms)


def _loss(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the loss that all failed tasks met; or the group, if it holds any other error."""
    losses, other = group.split((LostError, trio.BrokenResourceError, trio.ClosedResourceError))
    if losses is None or other is not None:
        return group
    # the other tasks met a stream that was broken already: only a LostError says why
    told = [error for error in leaf_errors(losses) if isinstance(error, LostError)]
    return told[0] if told else LostError(Sentence("failures.connection_lost"))


def leaf_errors(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    """Return the errors in a group, at any depth."""
    found: list[BaseException] = []
    for error in group.exceptions:
        found += leaf_errors(error) if isinstance(error, BaseExceptionGroup) else [error]
    return found


def expect_message(item: AnyMessage | Failure) -> AnyMessage:
    """Return what came, if it is a message.

    Raises:
        EncryptedError: TLS came: the server does not understand anything in clear.
        LostError: It is no message of the protocol.
    """
    if isinstance(item, Failure):
        if item.message == _TLS_INSTEAD:
            raise EncryptedError
        broken = Sentence("failures.broke_protocol", words=item.message, code=item.code)
        raise LostError(_FOREIGN_SENTENCES.get(item.message, broken), again=False)
    return item

"""A table as a player follows it: `async for` yields what happens, `choose` decides; the rest goes by itself.

The connection hands every message in; between two messages nothing waits. Whatever fails a check ends this table with
`CheckFailedError`, raised where the player waits next. Invariant: what is sent was stored before.
"""

from typing import TYPE_CHECKING, Final, NamedTuple

import trio

from truc_client.errors import ChoiceError, ClientError, LostError, RefusedError
from truc_client.happenings import (
    Choice,
    Happening,
    Interrupted,
    MatchStarted,
    Resumed,
    SeatTakenOver,
    TableChanged,
    TableClosed,
)
from truc_client.link import ClientRequest
from truc_client.seatmatch import GuestChoice, SeatMatch, Sendable, players
from truc_client.setting_up import MatchMaker
from truc_protocol import messages
from truc_protocol.errors import Code
from truc_protocol.messages import (
    BoxedOptions,
    GuestAct,
    Join,
    Leave,
    MatchRecord,
    Ok,
    OpenOptions,
    OwnCards,
    Ready,
    Refusal,
    Resume,
    SeatHeld,
    ServerMessage,
    Setup,
    SignedAct,
    TableState,
    Terms,
    Unready,
    Unwatch,
    Watch,
)

if TYPE_CHECKING:
    from truc_client.connection import Connection

MAX_HAPPENINGS: Final = 65_536
_FROM_THE_START: Final = -1
_TOO_LATE: Final = (Code.STALE_POSITION, Code.VOID_BET)


class _Pending(NamedTuple):
    """A choice whose fate somebody waits for."""

    at: int
    sendable: Sendable
    answers: trio.MemorySendChannel[Refusal | None]


class Table:
    """A table that is followed; made by a connection's `create`, `join`, `watch` and `resume`."""

    def __init__(self, connection: "Connection", code: str, seat: int | None) -> None:
        self.code = code
        self.seat = seat
        self.state: TableState | None = None
        self.match: SeatMatch | None = None
        self._connection = connection
        self._maker = MatchMaker(connection.account, code)
        self._tell, self._told = trio.open_memory_channel[Happening](MAX_HAPPENINGS)
        self._failure: ClientError | None = None
        self._pending: _Pending | None = None
        self._resuming = False

    def __aiter__(self) -> "Table":
        return self

    async def __anext__(self) -> Happening:
        """Return what happens next.

        Raises:
            ClientError: The table ended for this client: a check failed, or the connection is gone for good.
        """
        try:
            return await self._told.receive()
        except trio.EndOfChannel:
            if self._failure is not None:
                raise self._failure from None
            raise StopAsyncIteration from None

    def seated(self, answer: Ok) -> None:
        """Note which seat one has; terms that come right after are for it."""
        self.seat = answer.seat

    async def ready(self) -> None:
        """Agree to start; the last seat to do so starts the match.

        Nothing is wrong with a match that has begun already: it needed this seat's word, given before a restart.
        """
        try:
            await self._connection.request(lambda n: Ready(id=n, table=self.code))
        except RefusedError as error:
            if error.code != Code.TABLE_NOT_OPEN or self.seat is None:
                raise

    async def unready(self) -> None:
        """Take `ready` back."""
        await self._connection.request(lambda n: Unready(id=n, table=self.code))

    async def leave(self) -> None:
        """Give the seat up, before or after a match; or stop watching."""
        if self.seat is None:
            await self._connection.request(lambda n: Unwatch(id=n, table=self.code))
        else:
            await self._connection.request(lambda n: Leave(id=n, table=self.code))
        self._connection.drop(self)
        self.close()

    async def choose(self, choice: Choice, *, place: int | None = None) -> None:
        """Choose one of the newest options; `place` is where to cut. Returns once the server has taken or refused it.

        If another record came first nothing is raised: `YourTurn` comes again where there is anything to decide. Only
        where nothing was decided in between and the same choice still stands is it made again by itself.

        Raises:
            ChoiceError: It is none of the newest options.
            RefusedError: The server refused it.
        """
        match = self._playing()
        sendable = match.choose(choice, place)
        if sendable is not None:
            await self._decide(match.next, sendable)

    async def resign(self) -> None:
        """Give the match up for this side.

        Raises:
            ChoiceError: Something else was signed for this position.
            RefusedError: The server refused it.
        """
        match = self._playing()
        await self._decide(match.next, match.resign())

    def _playing(self) -> SeatMatch:
        if self._failure is not None:
            raise self._failure
        if self.match is None:
            raise ChoiceError("no match is being played")
        return self.match

    async def _decide(self, at: int, sendable: Sendable) -> None:
        send, receive = trio.open_memory_channel[Refusal | None](1)
        self._pending = _Pending(at, sendable, send)
        self._send(at, sendable)
        try:
            refusal = await receive.receive()
        except trio.EndOfChannel:
            raise self._failure or LostError("the table was left") from None
        if refusal is not None and refusal.code not in _TOO_LATE:
            raise RefusedError(refusal.code, refusal.msg)

    def _send(self, at: int, sendable: Sendable) -> None:
        match = self.match
        if match is None or not match.is_live:
            return  # it goes out once nothing is missing any more
        mid = match.mid

        def build(n: int) -> ClientRequest:
            if isinstance(sendable, GuestChoice):
                line, place = sendable.line, sendable.place
                return GuestAct(id=n, table=self.code, match=mid, at=sendable.at, choose=line, p=place)
            return SignedAct(id=n, table=self.code, match=mid, body=sendable.body, sig=sendable.sig)

        def answered(answer: Ok | Refusal) -> None:
            refusal = answer if isinstance(answer, Refusal) else None
            if refusal is not None:
                match.refused(at, sendable, refusal)
            self._settle(sendable, refusal)

        self._connection.post(build, answered)

    def _settle(self, sendable: Sendable, refusal: Refusal | None) -> None:
        pending = self._pending
        if pending is not None and pending.sendable == sendable:
            self._pending = None
            pending.answers.send_nowait(refusal)

    def handle(self, message: ServerMessage) -> None:
        """Take a message about this table; what fails a check ends it."""
        if self._failure is not None:
            return
        try:
            self._take(message)
        except ClientError as error:
            self.fail(error)

    def _take(self, message: ServerMessage) -> None:
        match message:
            case TableState():
                self.state = message
                self._say(TableChanged(message))
            case Terms():
                self._sign(message)
            case Setup():
                self._begin(message)
            case messages.SeatTakenOver():
                self._say(SeatTakenOver(message.seat))
            case messages.TableClosed():
                self._say(TableClosed(message.reason))
                self._finish(None)
            case _ if self.match is not None and getattr(message, "match", None) == self.match.mid:
                self._play(self.match, message)
            case _:
                pass

    def _play(self, match: SeatMatch, message: ServerMessage) -> None:
        match message:
            case MatchRecord() if match.is_ahead(message):
                self._resume(match)
            case MatchRecord():
                self._say(*match.take_record(message))
                self._send_owed(match)
            case BoxedOptions() | OpenOptions():
                told, again = match.take_options(message)
                self._say(*told)
                if again is not None:
                    self._send(match.next, again)
            case OwnCards():
                self._say(*match.take_cards(message))
            case messages.Waiting():
                self._say(*match.take_waiting(message))
            case _:
                pass

    def _send_owed(self, match: SeatMatch) -> None:
        owed = match.owed()
        if owed is not None:
            self._send(match.next, owed)

    def _sign(self, message: Terms) -> None:
        if self._connection.account.is_guest or self.seat is None:
            return
        statement = self._maker.accept(message, self._connection, self.state, self.seat)
        self._connection.post(
            lambda n: SignedAct(id=n, table=self.code, body=statement.body, sig=statement.sig), _ignore
        )

    def _begin(self, message: Setup) -> None:
        if self.match is not None and self.match.mid == message.match:
            return
        self._drop_match()
        self.match = self._maker.begin(message, self._connection, self.seat)
        if not self._resuming:
            self.match.go_on()
        self._say(self._started(self.match, resumed=self._resuming))

    def _started(self, match: SeatMatch, *, resumed: bool) -> MatchStarted:
        setup = match.ledger.setup
        variant, names = setup.terms.variant, players(match.ledger)
        path = match.witness.file.path
        return MatchStarted(
            match.mid, variant.name, variant.pack, names, self.seat, setup.level, path, resumed
        )

    def come_back(self, mid: bytes) -> None:
        """Go on with a match of which this client may have kept a part."""
        if self.match is None or self.match.mid != mid:
            self._drop_match()
            try:
                self.match = self._maker.reopen(mid, self._connection, self.seat)
            except ClientError as error:
                self.fail(error)
                return
            if self.match is not None:
                self._say(self._started(self.match, resumed=True))
        self._resume_from(mid, _FROM_THE_START if self.match is None else self.match.next)

    def _resume(self, match: SeatMatch) -> None:
        if not self._resuming:
            match.pause_sending()
            self._resume_from(match.mid, match.next)

    def _resume_from(self, mid: bytes, position: int) -> None:
        self._resuming = True
        self._connection.post(
            lambda n: Resume(id=n, table=self.code, match=mid, next=position), self._resumed
        )

    def _resumed(self, answer: Ok | Refusal) -> None:
        self._resuming = False
        match = self.match
        if isinstance(answer, Refusal):
            self._not_resumed(match, RefusedError(answer.code, answer.msg))
            return
        if match is None:
            self.fail(LostError("the server resumed a match without its setup", again=False))
            return
        try:
            match.reached(match.next if answer.k is None else answer.k)
            self._say(Resumed(match.next))
            self._send_owed(match)
        except ClientError as error:
            self.fail(error)
            return
        self._send_pending(match)

    def _not_resumed(self, match: SeatMatch | None, error: RefusedError) -> None:
        if match is not None and match.is_over:
            self._say(match.finish())  # only acks are missing, which prove nothing by their absence
        else:
            self.fail(error)

    def _send_pending(self, match: SeatMatch) -> None:
        pending = self._pending
        if pending is None:
            return
        if match.next > pending.at:
            self._settle(pending.sendable, None)  # that position is decided; the records say how
        elif isinstance(pending.sendable, GuestChoice):
            self._send(pending.at, pending.sendable)

    def interrupted(self, reason: str) -> None:
        """Note that the connection is gone for now."""
        self._resuming = False
        if self.match is not None:
            self.match.pause_sending()
        self._say(Interrupted(reason))

    def reconnected(self, held: tuple[SeatHeld, ...]) -> None:
        """Take the seat again on the new connection, and ask for what is missing."""
        own = next((seat for seat in held if seat.table == self.code), None)
        if self.match is not None and not self.match.is_finished:
            self._resume_from(self.match.mid, self.match.next)
        elif (
            own is not None and own.match is not None and (self.match is None or self.match.mid != own.match)
        ):
            self.come_back(own.match)
        elif self.seat is not None:
            self._connection.post(lambda n: Join(id=n, table=self.code, seat=self.seat), self._rejoined)
        else:
            self._connection.post(lambda n: Watch(id=n, table=self.code), self._rejoined)

    def _rejoined(self, answer: Ok | Refusal) -> None:
        if isinstance(answer, Refusal):
            self.fail(RefusedError(answer.code, answer.msg))

    def fail(self, error: ClientError) -> None:
        """End this table for the reason given."""
        self._failure = self._failure or error
        self._finish(error)

    def _finish(self, error: ClientError | None) -> None:
        if error is not None or self._pending is not None:
            self._drop_pending()
        self._tell.close()

    def _drop_pending(self) -> None:
        if self._pending is not None:
            self._pending.answers.close()
            self._pending = None

    def close(self) -> None:
        """Stop following: close the transcript and end the iteration."""
        self._drop_match()
        self._finish(None)

    def _drop_match(self) -> None:
        if self.match is not None:
            self.match.close()
            self.match = None

    def _say(self, *happenings: Happening) -> None:
        try:
            for happening in happenings:
                self._tell.send_nowait(happening)
        except trio.WouldBlock as error:
            raise LostError(f"more than {MAX_HAPPENINGS} happenings wait to be read", again=False) from error
        except trio.ClosedResourceError:
            return


def _ignore(_answer: Ok | Refusal) -> None:
    """Nothing follows from the reply; what was asked for shows in the notices."""

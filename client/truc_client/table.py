"""A table as a player follows it: `async for` yields what happens, `choose` decides; the rest goes by itself.

The connection hands every message in; between two messages nothing waits. Whatever fails a check ends this table with
`CheckFailedError`, raised where the player waits next. Invariant: what is sent was stored before.
"""

from typing import TYPE_CHECKING, Final

import trio

from truc_client.agreement import Agreement
from truc_client.decisions import Decisions
from truc_client.errors import ChoiceError, ClientError, LostError, NotPlayedError, RefusedError
from truc_client.happenings import (
    Choice,
    Happening,
    Interrupted,
    PhraseSaid,
    Resumed,
    SeatTakenOver,
    TableChanged,
    TableClosed,
)
from truc_client.seatmatch import SeatMatch, Sendable
from truc_client.setting_up import MatchMaker
from truc_client.talk import say, sign
from truc_protocol import messages
from truc_protocol.errors import Code
from truc_protocol.messages import (
    BoxedOptions,
    BoxedSignSeen,
    Join,
    Leave,
    MatchRecord,
    Ok,
    OpenOptions,
    OpenSignSeen,
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
        self._decisions = Decisions(connection, code)
        self._resuming = False
        self._has_joined = False
        self._agreement = Agreement()
        self._terms: Terms | None = None

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
        self._has_joined = True

    async def ready(self) -> None:
        """Agree to start the table as it is shown; the last seat to do so starts the match.

        Terms that differ are not signed. Nothing is wrong with a match that has begun already: it needed this seat's
        word, given before a restart.
        """
        self._agreement.agree()
        try:
            await self._connection.request(lambda n: Ready(id=n, table=self.code))
        except RefusedError as error:
            if error.code != Code.TABLE_NOT_OPEN or self.seat is None:
                self._agreement.withdraw()
                raise

    def agree_on_return(self) -> None:
        """Agree to what is shown next, for a seat that was held when this client came."""
        self._agreement.agree_on_return()

    async def unready(self) -> None:
        """Take `ready` back; terms that come all the same are not signed."""
        self._agreement.withdraw()
        await self._connection.request(lambda n: Unready(id=n, table=self.code))

    async def leave(self) -> None:
        """Give the seat up, before or after a match; or stop watching."""
        if self.seat is None:
            await self._connection.request(lambda n: Unwatch(id=n, table=self.code))
        else:
            await self._connection.request(lambda n: Leave(id=n, table=self.code))
        self._connection.left(self)
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
            await self._decide(match, sendable)

    async def resign(self) -> None:
        """Give the match up for this side.

        Raises:
            ChoiceError: Something else was signed for this position.
            RefusedError: The server refused it.
        """
        match = self._playing()
        await self._decide(match, match.resign())

    async def sign(self, word: str) -> None:
        """Sign a word of the game to those who may see it.

        Raises:
            ChoiceError: There is no hand to sign in, or nobody sees a sign of this seat.
            RefusedError: The rules do not allow it; where signs must be true, it is false.
        """
        await sign(self._connection, self.code, self._playing, word)

    async def say(self, phrase: str) -> None:
        """Say a phrase of the game to everybody at the table; RefusedError if the game has none such."""
        await say(self._connection, self.code, phrase)

    def _playing(self) -> SeatMatch:
        if self._failure is not None:
            raise self._failure
        if self.match is None:
            raise ChoiceError("no match is being played")
        return self.match

    async def _decide(self, match: SeatMatch, sendable: Sendable) -> None:
        try:
            refusal = await self._decisions.decide(match, sendable)
        except trio.EndOfChannel:
            raise self._failure or LostError("the table was left") from None
        if refusal is not None and refusal.code not in _TOO_LATE:
            raise RefusedError(refusal.code, refusal.msg)

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
                self._show(message)
            case Terms():
                self._terms = message
                self._sign()
            case Setup():
                self._begin(message)
            case messages.SeatTakenOver():
                self._say(SeatTakenOver(message.seat))
            case messages.Said():
                self._say(PhraseSaid(message.seat, message.phrase))
            case messages.TableClosed():
                self._say(TableClosed(message.reason))
                self._finish()
            case _ if self.match is not None and getattr(message, "match", None) == self.match.mid:
                self._play(self.match, message)
            case _:
                pass

    def _show(self, state: TableState) -> None:
        before, self.state = self.state, state
        self._agreement.show(state)
        self._say(TableChanged(state))
        self._sign()
        has_joined, self._has_joined = self._has_joined, False
        if self._is_missed(state) and (has_joined or (before is not None and before.match == state.match)):
            self.come_back(state.match or b"")

    def _is_missed(self, state: TableState) -> bool:
        """Tell whether a match is played of which this seat was not told; a setup follows its first notice at once."""
        mid = None if self.match is None else self.match.mid
        return (
            state.state == "playing" and self.seat is not None and not self._resuming and mid != state.match
        )

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
                    self._decisions.send(match, match.next, again)
            case OwnCards() | messages.Waiting() | BoxedSignSeen() | OpenSignSeen():
                self._say(*match.take_notice(message))
            case _:
                pass

    def _send_owed(self, match: SeatMatch) -> None:
        owed = match.owed()
        if owed is not None:
            self._decisions.send(match, match.next, owed)

    def _sign(self) -> None:
        """Sign the terms that are out; who comes back is sent them before the table is shown."""
        terms, connection = self._terms, self._connection
        if terms is None or self._agreement.waits:
            return
        self._terms = None
        if connection.account.is_guest or self.seat is None or not self._agreement.stands:
            return
        body, sig = self._maker.accept(terms, connection, self._agreement, self.seat)
        connection.post(lambda n: SignedAct(id=n, table=self.code, body=body, sig=sig), lambda _answer: None)

    def _begin(self, message: Setup) -> None:
        if self.match is not None and self.match.mid == message.match:
            return
        self._drop_match()
        try:
            self.match = self._maker.begin(message, self._connection, self.seat)
        except NotPlayedError:
            if not self._resuming:
                raise
            return  # once the rest of it has come, the table is joined
        self._agreement.withdraw()
        if not self._resuming:
            self.match.go_on()
        self._say(self.match.started(resumed=self._resuming))

    def come_back(self, mid: bytes) -> None:
        """Go on with a match of which this client may have kept a part."""
        if self.match is None or self.match.mid != mid:
            self._drop_match()
            try:
                self.match = self._maker.reopen(mid, self._connection, self.seat)
            except NotPlayedError:
                self._join()
                return
            except ClientError as error:
                self.fail(error)
                return
            if self.match is not None:
                self._say(*self.match.begun_again())
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
        if self._failure is not None:
            return
        self._resuming = False
        try:
            self._go_on(answer)
        except ClientError as error:
            self.fail(error)

    def _go_on(self, answer: Ok | Refusal) -> None:
        match = self.match
        if isinstance(answer, Refusal):
            self._not_resumed(match, RefusedError(answer.code, answer.msg))
        elif match is None:
            self._join()  # it was never this player's
        else:
            match.reached(answer.k)
            self._say(Resumed(match.next))
            if match.is_settled and not match.is_finished:
                self._say(match.finish())
            self._send_owed(match)
            self._decisions.go_on(match)

    def _not_resumed(self, match: SeatMatch | None, error: RefusedError) -> None:
        is_gone = error.code == Code.NO_SUCH_MATCH and self.seat is not None
        if not is_gone and not (match is not None and match.is_over):
            raise error
        if match is not None and not match.is_finished:
            self._say(match.finish())  # what is missing is only acks, or will never come
        if is_gone:
            self._join()

    def interrupted(self, reason: str) -> None:
        """Note that the connection is gone for now."""
        self._resuming = False
        if self.match is not None:
            self.match.pause_sending()
        self._say(Interrupted(reason))

    def reconnected(self, held: tuple[SeatHeld, ...]) -> None:
        """Take the seat again on the new connection, and ask for what is missing."""
        if self._failure is not None:
            return
        own = next((seat for seat in held if seat.table == self.code), None)
        newest = None if own is None else own.match
        if self.match is not None and not self.match.is_finished:
            self._resume_from(self.match.mid, self.match.next)
        elif newest is not None and (self.match is None or self.match.mid != newest):
            self.come_back(newest)
        elif self.seat is not None:
            self._join()
        else:
            self._connection.post(lambda n: Watch(id=n, table=self.code), self._joined)

    def _join(self) -> None:
        self._connection.post(lambda n: Join(id=n, table=self.code, seat=self.seat), self._joined)

    def _joined(self, answer: Ok | Refusal) -> None:
        if isinstance(answer, Refusal):
            self.fail(RefusedError(answer.code, answer.msg))
        else:
            self._has_joined = True

    def fail(self, error: ClientError) -> None:
        """End this table for the reason given: nothing is signed or sent for it any more."""
        self._failure = self._failure or error
        if self.match is not None:
            self.match.close()
        self._connection.drop(self)
        self._finish()

    def _finish(self) -> None:
        self._decisions.drop()
        self._tell.close()

    def close(self) -> None:
        """Stop following: close the transcript and end the iteration."""
        self._drop_match()
        self._finish()

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

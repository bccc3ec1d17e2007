"""A table as a player follows it: `async for` yields what happens, `choose` decides; the rest goes by itself.

The connection hands every message in; between two messages nothing waits. Whatever fails a check ends this table with
`CheckFailedError`, raised where the player waits next. Invariant: what is sent was stored before.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from truc_client.agreement import Agreement
from truc_client.doubts import Doubts
from truc_client.errors import ClientError, NotPlayedError, RefusedError, UnboundError
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
from truc_client.playing import Playing
from truc_client.reports import Reports
from truc_client.seatmatch import SeatMatch
from truc_client.setting_up import MatchMaker
from truc_client.standing import Standing, Wish
from truc_client.talk import say, sign
from truc_protocol import messages
from truc_protocol.errors import Code
from truc_protocol.messages import (
    Join,
    Leave,
    MatchRecord,
    Ok,
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

_FROM_THE_START: Final = -1


class Table:
    """A table that is followed; made by a connection's `create`, `join`, `watch` and `resume`."""

    def __init__(self, connection: "Connection", code: str, seat: int | None) -> None:
        self.code = code
        self.seat = seat
        self.state: TableState | None = None
        self._connection = connection
        self._reports = Reports()
        self._say = self._reports.say
        self._maker = MatchMaker(connection.account, code, self._say)
        self._playing = Playing(connection, code, self._reports, self.fail)
        self._doubts = Doubts(self._playing, self._maker, self.fail)
        self._resuming = False
        self._has_joined = False
        self._agreement = Agreement()
        self._terms: Terms | None = None
        self._wish = Wish.LOOK_ON

    def __aiter__(self) -> "Table":
        return self

    async def __anext__(self) -> Happening:
        """Return what happens next.

        Raises:
            ClientError: The table ended for this client: a check failed, or the connection is gone for good.
        """
        return await self._reports.next()

    def seated(self, answer: Ok) -> None:
        """Note which seat one has; terms that come right after are for it."""
        self.seat = answer.seat
        self._has_joined = True

    @property
    def match(self) -> SeatMatch | None:
        """The match that is followed."""
        return self._playing.match

    @property
    def stands_by(self) -> bool:
        """Whether this client waits to step in for a player who is gone from the match: `ready` agrees to it."""
        return self._playing.stands_by

    @property
    def plays(self) -> bool:
        """Whether a match is followed in which this client has a seat, with the secrets in force."""
        return self.match is not None and self.match.standing is Standing.HOLDS and self.seat is not None

    async def ready(self) -> None:
        """Agree to start the table as it is shown; the last seat to do so starts the match.

        Who stands by for a vacant seat agrees to step in, and does before the next deal. Terms that differ are not
        signed. Nothing is wrong with a match that has begun already: it needed this seat's word, given before a restart.
        """
        had_word = self._agreement.agree()
        if self._playing.is_vacant:
            self._guard(self._step_in)
            return
        try:
            await self._connection.request(lambda n: Ready(id=n, table=self.code))
        except RefusedError as error:
            has_begun = error.code == Code.TABLE_NOT_OPEN and self.seat is not None
            if not (has_begun and had_word):
                self._agreement.withdraw()
            if not has_begun:
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
            self._maker.drop_unbegun(self._connection)
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
        await self._playing.choose(choice, place)

    async def resign(self) -> None:
        """Give the match up for this side.

        Raises:
            ChoiceError: Something else was signed for this position.
            RefusedError: The server refused it.
        """
        await self._playing.resign()

    async def pause(self) -> None:
        """Ask for a pause, once in a hand; the match rests once every seat has asked. One's turn does not matter.

        If another record comes first it is asked again by itself.

        Raises:
            ChoiceError: One has asked already, the match rests, or cards are being dealt.
            RefusedError: The server refused it.
        """
        await self._playing.ask_rest("pause")

    async def unpause(self) -> None:
        """Ask to go on with a match that rests; it does once every seat has asked, or its longest pause is over.

        Raises:
            ChoiceError: One has asked already, or the match does not rest.
            RefusedError: The server refused it.
        """
        await self._playing.ask_rest("resume")

    async def sign(self, word: str) -> None:
        """Sign a word of the game to those who may see it.

        Raises:
            ChoiceError: There is no hand to sign in, or nobody sees a sign of this seat.
            RefusedError: The rules do not allow it; where signs must be true, it is false.
        """
        await sign(self._connection, self.code, self._playing.current, word)

    async def say(self, phrase: str) -> None:
        """Say a phrase of the game to everybody at the table; RefusedError if the game has none such."""
        await say(self._connection, self.code, phrase)

    def handle(self, message: ServerMessage) -> None:
        """Take a message about this table; what fails a check ends it."""
        self._guard(lambda: self._take(message))

    def _guard(self, step: Callable[[], None]) -> None:
        if self._reports.failure is not None:
            return
        try:
            step()
        except UnboundError as error:
            self._doubts.meet(error)  # the connection is lost over it
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
                self._maker.drop_unbegun(self._connection)
                self._say(TableClosed(message.reason))
                self._finish()
            case _ if self.match is not None and getattr(message, "match", None) == self.match.mid:
                self._take_of(self.match, message)
            case _:
                pass

    def _show(self, state: TableState) -> None:
        before, self.state = self.state, state
        self._agreement.show(state)
        self._say(TableChanged(state))
        self._sign()
        has_joined, self._has_joined = self._has_joined, False
        is_shown_again = has_joined or (before is not None and before.match == state.match)
        if is_shown_again and self._is_missed(state, has_joined=has_joined):
            self.come_back(state.match or b"")
        is_vacant = any(seat.vacant and seat.seat == self.seat for seat in state.seats)
        self._playing.note_vacant(is_vacant=is_vacant)

    def _is_missed(self, state: TableState, *, has_joined: bool) -> bool:
        """Tell whether a match is played of which this seat was not told; a setup follows its first notice at once."""
        if state.state != "playing" or self.seat is None or self._resuming:
            return False
        is_known = self.match is not None and self.match.mid == state.match
        return not is_known or (has_joined and self.match is not None and not self.match.is_live)

    def _take_of(self, match: SeatMatch, message: ServerMessage) -> None:
        if isinstance(message, MatchRecord) and match.is_ahead(message):
            self._resume(match)
        else:
            self._playing.take(match, message)

    def _step_in(self) -> None:
        """Let the seat be taken over before the next deal, if this player stands by and agreed to it."""
        match = self.match
        if match is not None and self.stands_by and self._agreement.has_vacancy(match.mid, self.seat):
            self._maker.check_agreed(match, self._connection, self._agreement)
            self._playing.step_in(match)

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
        if not self._resuming and self._maker.has_begun(message.match, self.seat):
            if self.match is None or self.match.is_finished:
                self.come_back(message.match, self._wish)
            return
        self._playing.drop_match()
        agreement = None if self._resuming and not self._agreement.stands else self._agreement
        try:
            match = self._maker.begin(message, self._connection, self.seat, self._wish, agreement)
        except NotPlayedError:
            if not self._resuming:
                raise
            return  # once the rest of it has come, the table is joined
        if match.standing is not Standing.ANOTHERS:
            self._agreement.withdraw()
        self._playing.begin(match, is_live=not self._resuming)

    def come_back(self, mid: bytes, wish: Wish = Wish.LOOK_ON) -> None:
        """Go on with a match of which this client may have kept a part."""
        self._wish = wish
        if self.match is None or self.match.mid != mid:
            self._playing.drop_match()
            try:
                self._playing.match = self._maker.reopen(mid, self._connection, self.seat, wish)
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
        self._resuming = False
        self._guard(lambda: self._go_on(answer))

    def _go_on(self, answer: Ok | Refusal) -> None:
        match = self.match
        if isinstance(answer, Refusal):
            self._not_resumed(match, RefusedError(answer.code, answer.msg))
        elif match is None:
            self._join()  # it was never this player's
        else:
            match.reached(answer.k)
            self._say(Resumed(match.next))
            try:
                self._playing.go_on(match, self._step_in)
            except NotPlayedError:
                self._playing.drop_match()
                self._join()

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
        self._playing.interrupted()
        self._say(Interrupted(reason))

    def reconnected(self, held: tuple[SeatHeld, ...]) -> None:
        """Take the seat again on the new connection, and ask for what is missing."""
        if self._reports.failure is not None:
            return
        own = next((seat for seat in held if seat.table == self.code), None)
        newest = None if own is None else own.match
        if own is None and self.match is not None and self.match.standing is Standing.ANOTHERS:
            self._join()  # to stand by again
        elif self.match is not None and not self.match.is_finished:
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
        if self.match is not None:
            self.match.close()
        self._connection.drop(self)
        self._playing.stop()
        self._reports.fail(error)

    def _finish(self) -> None:
        self._playing.stop()
        self._reports.finish()

    def close(self) -> None:
        """Stop following: close the transcript and end the iteration."""
        self._playing.drop_match()
        self._finish()

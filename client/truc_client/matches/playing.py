"""The match of a table, between the connection and the player: records in, happenings and statements out.

What the records require of the seat goes out at once, automatically; a choice goes out when it is made. Every new
record is followed by a check that the seat is played from here. Invariant: nothing goes out for a seat that is not.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import trio

from truc_client.errors import (
    ChoiceError,
    ClientError,
    LostError,
    NotPlayedError,
    RefusedError,
    TakenOverError,
)
from truc_client.happenings import Choice, Happening
from truc_client.matches.choosing import Sendable
from truc_client.matches.decisions import Decisions
from truc_client.matches.resting import Rest
from truc_client.matches.seatmatch import SeatMatch, begins_chain
from truc_client.matches.standing import Standing, Wish
from truc_client.reports import Reports
from truc_protocol import messages
from truc_protocol.errors import Code
from truc_protocol.messages import (
    BoxedOptions,
    BoxedSignSeen,
    ClaimMatch,
    MatchRecord,
    Ok,
    OpenOptions,
    OpenSignSeen,
    OwnCards,
    Refusal,
    ServerMessage,
    WantRekey,
)
from truc_words import Sentence

if TYPE_CHECKING:
    from truc_client.session import Session

_TOO_LATE: Final = (Code.STALE_POSITION, Code.VOID_BET)


class Playing:
    """The match of one table; there may be none yet, and later another.

    Attributes:
        match: the match followed now.
        is_vacant: whether the seat's player is gone from the match, as the table was last shown.
    """

    def __init__(
        self,
        session: "Session",
        code: str,
        reports: Reports[Happening],
        fail: Callable[[ClientError], None],
        guard: Callable[[Callable[[], None]], None],
    ) -> None:
        self.match: SeatMatch | None = None
        self._session = session
        self._code = code
        self._reports = reports
        self._fail = fail
        self._guard = guard
        self._decisions = Decisions(session, code, self._taken, self._refused)
        self.is_vacant = False
        self._has_stood_by = False
        self._is_stepping_in = False

    @property
    def stands_by(self) -> bool:
        """Whether this client waits to step in for a player who is gone from the match."""
        match = self.match
        return match is not None and match.standing is Standing.ANOTHERS and self.is_vacant

    def note_vacant(self, *, is_vacant: bool) -> None:
        """Note whether the seat's player is gone, as the table shows it.

        Raises:
            NotPlayedError: This client stood by, and is no longer wanted.
        """
        self.is_vacant = is_vacant
        self._check_vacant()

    def _check_vacant(self) -> None:
        """Check that this client is still wanted if it stands by, unless its own record is on the way."""
        match = self.match
        if match is None or not self._has_stood_by or self._is_stepping_in or self.is_vacant:
            return
        if match.standing is Standing.ANOTHERS:
            raise NotPlayedError(Sentence("failures.no_longer_vacant"))

    def current(self) -> SeatMatch:
        """Return the match, for an action of the seat.

        Raises:
            ChoiceError: There is none, or another connection has the seat.
            ClientError: The table has ended for this client.
        """
        if self._reports.failure is not None:
            raise self._reports.failure
        if self.match is None:
            raise ChoiceError(Sentence("failures.no_match_played"))
        if self.match.is_yielded:
            raise TakenOverError
        return self.match

    async def choose(self, choice: Choice, place: int | None) -> None:
        """Choose one of the newest options; return once the server has taken or refused it, or the seat is lost."""
        with suppress(TakenOverError):  # reported as `SeatTakenOver`
            match = self.current()
            sendable = match.choose(choice, place)
            if sendable is not None:
                await self._decide(match, sendable)

    async def resign(self) -> None:
        """Give the match up."""
        match = self.current()
        await self._decide(match, match.resign())

    async def claim(self) -> None:
        """Ask to end the match because the other side is gone."""
        match = self.current()
        await self._session.request(lambda n: ClaimMatch(id=n, table=self._code, match=match.mid))

    async def ask_rest(self, kind: Rest) -> None:
        """Ask for a pause, or for its end; if another record came first, ask again for the next position."""
        match = self.current()
        while True:
            at, asked = match.next, match.ask_rest(kind)
            is_late = await self._decide(match, asked)
            if match.has_taken(at, asked) or (match.next == at and not is_late):
                return
            if match.next == at:
                raise RefusedError(Code.STALE_POSITION, Sentence("failures.overtaken_unseen"))

    async def _decide(self, match: SeatMatch, sendable: Sendable) -> bool:
        """Send a decision and wait for its fate; tell whether another record came first."""
        try:
            refusal = await self._decisions.decide(match, sendable)
        except trio.EndOfChannel:
            if match.is_yielded:
                raise TakenOverError from None
            raise self._reports.failure or LostError(Sentence("failures.table_left")) from None
        if refusal is not None and refusal.code not in _TOO_LATE:
            raise RefusedError(refusal.code, refusal.msg)
        return refusal is not None

    def take(self, match: SeatMatch, message: ServerMessage) -> None:
        """Take a message about the match; a record must be the next one, or one already kept.

        Raises:
            ClientError: A check failed, or the seat is no longer played from here.
        """
        match message:
            case MatchRecord():
                self._reports.say(*match.take_record(message))
                if match.is_finished:
                    self._decisions.end()
                self._check_standing(match)
            case BoxedOptions() | OpenOptions():
                told, again = match.take_options(message)
                self._reports.say(*told)
                if again is not None:
                    self._decisions.send(match, match.next, again)
            case OwnCards() | messages.Waiting() | BoxedSignSeen() | OpenSignSeen():
                self._reports.say(*match.take_notice(message))
            case _:
                return
        self._send_owed(match)

    def begin(self, match: SeatMatch, *, is_live: bool) -> None:
        """Follow a match from its setup; unless it is live, records are still missing."""
        self.match = match
        self._reports.say(match.started(resumed=not is_live))
        if is_live:
            match.go_on()
            self._check_standing(match)

    def go_on(self, match: SeatMatch, step_in: Callable[[], None]) -> None:
        """Go on, now that no record is missing; `step_in` is called if this client stands by.

        Raises:
            NotPlayedError: The seat was never this player's.
            ClientError: It is not played from here.
        """
        self._check_standing(match)
        if match.is_settled:
            self.finish(match)
        self._ask_for_time(match)
        if self.stands_by:
            step_in()
        self._send_owed(match)
        self._decisions.go_on(match)

    def finish(self, match: SeatMatch) -> None:
        """End the match as far as it has come, unless it has ended already."""
        if not match.is_finished:
            self._reports.say(match.finish())
        self._decisions.end()

    def _check_standing(self, match: SeatMatch) -> None:
        """Check, if no record is missing, that the seat is played from here or this client stands by for it."""
        if not match.is_live:
            return
        if match.standing is not Standing.ANOTHERS:
            self._has_stood_by = self._is_stepping_in = False
            match.check_standing()
        elif self.is_vacant:
            self._has_stood_by = True
        elif not self._is_stepping_in:
            self._check_vacant()
            match.check_standing()

    def step_in(self, match: SeatMatch) -> None:
        """Take the seat over as soon as possible; the terms have been checked."""
        match.wish = Wish.STEP_IN
        self._send_owed(match)

    def _ask_for_time(self, match: SeatMatch) -> None:
        """Ask the server to hold the next call back until a seat that has lost its secrets has a new chain."""
        if match.wish is not Wish.REKEY or match.standing is not Standing.LOST or match.is_over:
            return

        def answered(answer: Ok | Refusal) -> None:
            if isinstance(answer, Refusal) and match.standing is Standing.LOST:
                self._fail(RefusedError(answer.code, answer.msg))

        self._session.post(lambda n: WantRekey(id=n, table=self._code, match=match.mid), answered)

    def _send_owed(self, match: SeatMatch) -> None:
        owed = match.owed()
        if owed is not None:
            self._is_stepping_in = match.wish is Wish.STEP_IN
            self._decisions.send(match, match.next, owed)

    def _taken(self, match: SeatMatch, k: int | None) -> None:
        """Check that the record of what was sent came before the reply that it was taken."""
        if match.is_live and k is not None and k >= match.next:
            said = f"what was sent is said to be the record at {k}, which has not come"
            self._guard(lambda: match.witness.doubt("C33", said))

    def _refused(self, match: SeatMatch, at: int, sent: Sendable, refusal: Refusal) -> None:
        match.refused(at, sent, refusal)
        if not begins_chain(sent):
            return
        self._is_stepping_in = False
        if refusal.code == Code.NOT_SEATED:  # somebody else who stood by was quicker
            self._fail(NotPlayedError(Sentence("failures.no_longer_vacant")))
            return
        if refusal.code not in (*_TOO_LATE, Code.PAUSED) and not refusal.retryable:
            self._fail(RefusedError(refusal.code, refusal.msg))
            return
        try:
            self._check_vacant()  # if it passes, the record is signed anew for the next position
        except NotPlayedError as error:
            self._fail(error)

    def yield_seat(self) -> None:
        """Note that another connection has the seat: nothing more goes out for it, and no decision is waited for."""
        self._is_stepping_in = False
        if self.match is not None:
            self.match.yield_seat()
        self._decisions.drop()

    def interrupted(self) -> None:
        """Note that the connection is gone for now."""
        self._is_stepping_in = False
        if self.match is not None:
            self.match.interrupted()

    def drop_match(self) -> None:
        """Stop following the match, and close its transcript."""
        if self.match is not None:
            self.match.close()
            self.match = None

    def close(self) -> None:
        """Note that the table is closed: no decision is waited for any more."""
        self._decisions.close()

    def stop(self) -> None:
        """End any wait for a decision."""
        self._decisions.drop()

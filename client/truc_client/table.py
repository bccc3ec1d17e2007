"""A table as a player follows it: `async for` yields what happens, `choose` decides; the rest is automatic."""

from contextlib import suppress
from typing import TYPE_CHECKING, Final

import trio

from truc_client.errors import ChoiceError, LostError, RefusedError, TakenOverError
from truc_client.happenings import Happening, MoveChoice
from truc_client.matches.choosing import PauseRequest, Sendable
from truc_client.matches.seat_match import SeatMatch
from truc_client.matches.signer import Tenure
from truc_client.table_session import TableSession
from truc_protocol.crypto.keys import fingerprint
from truc_protocol.errors import OVERTAKEN_CODES, Code
from truc_protocol.messages import (
    BoxedSign,
    Chat,
    ClaimMatch,
    Leave,
    OpenSign,
    Ready,
    Say,
    TableState,
    Unready,
    Unwatch,
)
from truc_protocol.wire.handshake import Fingerprint
from truc_protocol.wire.transport import web_link
from truc_words import Sentence

if TYPE_CHECKING:
    from truc_client.session import Session

_SIGN_TRIES: Final = 8
"""How often a sign is made anew that another record has overtaken: records come in bursts, but no burst is as long."""


class Table:
    """A table being followed; made by a connection's `create`, `join`, `seek`, `watch` and `resume`."""

    def __init__(self, session: "Session", followed: TableSession) -> None:
        self._session = session
        self._followed = followed

    def __aiter__(self) -> "Table":
        return self

    async def __anext__(self) -> Happening:
        """Return what happens next.

        Raises:
            ClientError: The table ended for this client: a check failed, or the connection is gone for good.
        """
        return await self._followed.reports.next()

    @property
    def code(self) -> str:
        """The table's code."""
        return self._followed.code

    @property
    def invite(self) -> str:
        """The link to this table, with the fingerprint of the server's key."""
        pin = Fingerprint(fingerprint(self._session.spk))
        return str(self._session.line.address._replace(table=self.code, fingerprint=pin))

    @property
    def web_invite(self) -> str | None:
        """The link to this table for browsers; None where the server lets none in."""
        origin = self._session.server.info.web
        return None if origin is None else web_link(origin, self.code)

    @property
    def seat(self) -> int | None:
        """One's own seat; None for a watcher."""
        return self._followed.seat

    @property
    def state(self) -> TableState | None:
        """The table as last shown; None before it was."""
        return self._followed.state

    @property
    def match(self) -> SeatMatch | None:
        """The match being followed, if there is one."""
        return self._followed.match

    @property
    def stands_by(self) -> bool:
        """Whether this client waits to step in for a player who is gone from the match; `ready` agrees to do so."""
        return self.match is not None and self.match.stands_by

    @property
    def plays(self) -> bool:
        """Whether this client has a seat in the match, with the secrets in force."""
        return self.match is not None and self.match.tenure is Tenure.HOLDS and self.seat is not None

    async def ready(self) -> None:
        """Agree to start the table as it is shown; the last seat to do so starts the match.

        A client that stands by for a vacant seat agrees to step in, and does so before the next deal. Terms that differ
        are not signed. If the match has begun already, this seat agreed before a restart, and nothing is raised.
        """
        had_word = self._followed.agreement.agree()
        if self._followed.is_vacant:
            self._followed.guard(self._followed.step_in)
            return
        try:
            await self._session.line.request(lambda n: Ready(id=n, table=self.code))
        except RefusedError as error:
            has_begun = error.code == Code.TABLE_NOT_OPEN and self.seat is not None
            if not (has_begun and had_word):
                self._followed.agreement.withdraw()
            if not has_begun:
                raise

    async def unready(self) -> None:
        """Take `ready` back; terms that come nevertheless are not signed."""
        self._followed.agreement.withdraw()
        await self._session.line.request(lambda n: Unready(id=n, table=self.code))

    async def leave(self) -> None:
        """Give the seat up, before or after a match; or stop watching."""
        if self.seat is None:
            await self._session.line.request(lambda n: Unwatch(id=n, table=self.code))
        else:
            await self._session.line.request(lambda n: Leave(id=n, table=self.code))
            self._followed.drop_unbegun()
        self._session.left(self.code)
        self.close()

    def close(self) -> None:
        """Stop following the table, without telling the server: one keeps one's seat."""
        self._followed.drop()
        self._followed.close()

    async def choose(self, choice: MoveChoice, *, place: int | None = None) -> None:
        """Choose one of the newest options; `place` is where to cut. Return once the server has taken or refused it.

        A choice that comes too late raises nothing. If another record came first, `YourTurn` comes again if there is
        anything to decide; if nothing was decided in between and the same choice still stands, it is repeated instead.
        If the seat was taken over, `SeatLost` says so, and nothing more is signed or sent for it here.

        Raises:
            ChoiceError: It is none of the newest options.
            RefusedError: The server refused it.
        """
        with suppress(TakenOverError):  # reported as `SeatLost`
            match = self._current()
            sent = match.choose(choice, place)
            if sent is not None:
                await self._decide(match, sent)

    async def resign(self) -> None:
        """Give the match up for this side.

        Raises:
            ChoiceError: Something else was signed for this position.
            RefusedError: The server refused it.
        """
        match = self._current()
        await self._decide(match, match.resign())

    async def claim(self) -> None:
        """Ask to end the match because the other side is gone; `PresenceChanged` tells when that will be granted.

        Raises:
            ChoiceError: No match is played, or another connection has the seat.
            RefusedError: It is not granted yet (`not_now`; `retry_after_ms` says when), or never to this seat.
        """
        match = self._current()
        await self._session.line.request(lambda n: ClaimMatch(id=n, table=self.code, match=match.mid))

    async def pause(self) -> None:
        """Ask for a pause, at any turn, once in a hand; the match rests once every seat has asked.

        If another record comes first, the request is repeated automatically.

        Raises:
            ChoiceError: One has asked already, the match rests, or cards are being dealt.
            RefusedError: The server refused it.
        """
        await self._ask_pause("pause")

    async def unpause(self) -> None:
        """Ask to go on with a match that rests; it goes on once every seat has asked, or the longest pause is over.

        Raises:
            ChoiceError: One has asked already, or the match does not rest.
            RefusedError: The server refused it.
        """
        await self._ask_pause("resume")

    async def _ask_pause(self, kind: PauseRequest) -> None:
        """Ask for a pause, or for its end; if another record came first, ask again for the next position."""
        match = self._current()
        while True:
            at, asked = match.next, match.sign_pause_request(kind)
            is_late = await self._decide(match, asked)
            # taken; or the table has closed meanwhile, which is told as what happens next
            if match.has_taken(at, asked) or (match.next == at and not is_late):
                return
            # another record is said to have come first, and has not: asking again would go on for ever
            if match.next == at:
                raise RefusedError(Code.STALE_POSITION, Sentence("failures.overtaken_unseen"))

    def _current(self) -> SeatMatch:
        """Return the match, for an action of the seat.

        Raises:
            ChoiceError: There is none, or another connection has the seat.
            ClientError: The table has ended for this client.
        """
        if self._followed.reports.failure is not None:
            raise self._followed.reports.failure
        if self.match is None:
            raise ChoiceError(Sentence("failures.no_match_played"))
        if self.match.is_yielded:
            raise TakenOverError
        return self.match

    async def _decide(self, match: SeatMatch, sent: Sendable) -> bool:
        """Send a decision and wait for its fate; tell whether another record came first."""
        try:
            refusal = await self._followed.sending.decide(match, sent)
        except trio.EndOfChannel:
            if match.is_yielded:
                raise TakenOverError from None
            raise self._followed.reports.failure or LostError(Sentence("failures.table_left")) from None
        if refusal is not None and refusal.code not in OVERTAKEN_CODES:
            raise RefusedError(refusal.code, refusal.msg)
        return refusal is not None

    async def sign(self, word: str) -> None:
        """Sign a word of the game to those who may see it.

        A sign that another record has overtaken is sealed anew, but never for another hand; none is stored, or repeated
        after a lost connection.

        Raises:
            ChoiceError: There is no hand to sign in, or nobody sees a sign of this seat.
            RefusedError: The rules do not allow it; for example, the sign is false where signs must be true.
        """
        match = self._current()
        hand = match.mid, match.ledger.deal_index

        # made anew for each try, as it is for one position and under the chain in force there
        def build(n: int) -> BoxedSign | OpenSign:
            match = self._current()
            if (match.mid, match.ledger.deal_index) != hand:
                raise ChoiceError(Sentence("failures.hand_over"))
            to, box = match.sign(word)
            if box is None:
                return OpenSign(id=n, table=self.code, match=match.mid, at=match.next, word=word)
            return BoxedSign(id=n, table=self.code, match=match.mid, at=match.next, to=to, box=box)

        for tries_left in reversed(range(_SIGN_TRIES)):
            try:
                await self._session.line.request(build)
            except RefusedError as error:
                if error.code != Code.STALE_POSITION or not tries_left:
                    raise
            else:
                return

    async def say(self, phrase: str) -> None:
        """Say a phrase of the game to everybody at the table; RefusedError if the game has no such phrase."""
        await self._session.line.request(lambda n: Say(id=n, table=self.code, phrase=phrase))

    async def chat(self, text: str) -> None:
        """Say something to everybody who follows the table.

        Raises:
            RefusedError: It is no line of text, or too many have been said.
        """
        await self._session.line.request(lambda n: Chat(id=n, table=self.code, text=text))

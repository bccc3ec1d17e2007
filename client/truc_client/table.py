"""A table as a player follows it: `async for` yields what happens, `choose` decides; the rest is automatic."""

from typing import TYPE_CHECKING

from truc_client.errors import RefusedError
from truc_client.happenings import Choice, Happening
from truc_client.matches.seatmatch import SeatMatch
from truc_client.matches.standing import Standing
from truc_client.signs import sign
from truc_client.table_session import Following
from truc_protocol.crypto.keys import fingerprint
from truc_protocol.errors import Code
from truc_protocol.messages import Chat, Leave, Ready, Say, TableState, Unready, Unwatch
from truc_protocol.wire.handshake import Fingerprint

if TYPE_CHECKING:
    from truc_client.session import Session


class Table:
    """A table being followed; made by a connection's `create`, `join`, `seek`, `watch` and `resume`."""

    def __init__(self, session: "Session", following: Following) -> None:
        self._session = session
        self._following = following

    def __aiter__(self) -> "Table":
        return self

    async def __anext__(self) -> Happening:
        """Return what happens next.

        Raises:
            ClientError: The table ended for this client: a check failed, or the connection is gone for good.
        """
        return await self._following.reports.next()

    @property
    def code(self) -> str:
        """The table's code."""
        return self._following.code

    @property
    def invite(self) -> str:
        """The link to this table, with the fingerprint of the server's key."""
        pin = Fingerprint(fingerprint(self._session.spk))
        return str(self._session.line.address._replace(table=self.code, fingerprint=pin))

    @property
    def seat(self) -> int | None:
        """One's own seat; None for a watcher."""
        return self._following.seat

    @property
    def state(self) -> TableState | None:
        """The table as last shown; None before it was."""
        return self._following.state

    @property
    def match(self) -> SeatMatch | None:
        """The match being followed, if there is one."""
        return self._following.playing.match

    @property
    def stands_by(self) -> bool:
        """Whether this client waits to step in for a player who is gone from the match; `ready` agrees to do so."""
        return self._following.playing.stands_by

    @property
    def plays(self) -> bool:
        """Whether this client has a seat in the match, with the secrets in force."""
        return self.match is not None and self.match.standing is Standing.HOLDS and self.seat is not None

    async def ready(self) -> None:
        """Agree to start the table as it is shown; the last seat to do so starts the match.

        A client that stands by for a vacant seat agrees to step in, and does so before the next deal. Terms that differ
        are not signed. If the match has begun already, this seat agreed before a restart, and nothing is raised.
        """
        had_word = self._following.agreement.agree()
        if self._following.playing.is_vacant:
            self._following.guard(self._following.step_in)
            return
        try:
            await self._session.request(lambda n: Ready(id=n, table=self.code))
        except RefusedError as error:
            has_begun = error.code == Code.TABLE_NOT_OPEN and self.seat is not None
            if not (has_begun and had_word):
                self._following.agreement.withdraw()
            if not has_begun:
                raise

    async def unready(self) -> None:
        """Take `ready` back; terms that come nevertheless are not signed."""
        self._following.agreement.withdraw()
        await self._session.request(lambda n: Unready(id=n, table=self.code))

    async def leave(self) -> None:
        """Give the seat up, before or after a match; or stop watching."""
        if self.seat is None:
            await self._session.request(lambda n: Unwatch(id=n, table=self.code))
        else:
            await self._session.request(lambda n: Leave(id=n, table=self.code))
            self._following.maker.drop_unbegun(self._session)
        self._session.left(self.code)
        self.close()

    def close(self) -> None:
        """Stop following the table, without telling the server: one keeps one's seat."""
        self._following.drop()
        self._following.close()

    async def choose(self, choice: Choice, *, place: int | None = None) -> None:
        """Choose one of the newest options; `place` is where to cut. Return once the server has taken or refused it.

        A choice that comes too late raises nothing. If another record came first, `YourTurn` comes again if there is
        anything to decide; if nothing was decided in between and the same choice still stands, it is repeated instead.
        If the seat was taken over, `SeatTakenOver` says so, and nothing more is signed or sent for it here.

        Raises:
            ChoiceError: It is none of the newest options.
            RefusedError: The server refused it.
        """
        await self._following.playing.choose(choice, place)

    async def resign(self) -> None:
        """Give the match up for this side.

        Raises:
            ChoiceError: Something else was signed for this position.
            RefusedError: The server refused it.
        """
        await self._following.playing.resign()

    async def claim(self) -> None:
        """Ask to end the match because the other side is gone; `Away` tells when that will be granted.

        Raises:
            ChoiceError: No match is played, or another connection has the seat.
            RefusedError: It is not granted yet (`not_now`; `retry_after_ms` says when), or never to this seat.
        """
        await self._following.playing.claim()

    async def pause(self) -> None:
        """Ask for a pause, at any turn, once in a hand; the match rests once every seat has asked.

        If another record comes first, the request is repeated automatically.

        Raises:
            ChoiceError: One has asked already, the match rests, or cards are being dealt.
            RefusedError: The server refused it.
        """
        await self._following.playing.ask_rest("pause")

    async def unpause(self) -> None:
        """Ask to go on with a match that rests; it goes on once every seat has asked, or the longest pause is over.

        Raises:
            ChoiceError: One has asked already, or the match does not rest.
            RefusedError: The server refused it.
        """
        await self._following.playing.ask_rest("resume")

    async def sign(self, word: str) -> None:
        """Sign a word of the game to those who may see it.

        Raises:
            ChoiceError: There is no hand to sign in, or nobody sees a sign of this seat.
            RefusedError: The rules do not allow it; for example, the sign is false where signs must be true.
        """
        await sign(self._session, self.code, self._following.playing.current, word)

    async def say(self, phrase: str) -> None:
        """Say a phrase of the game to everybody at the table; RefusedError if the game has no such phrase."""
        await self._session.request(lambda n: Say(id=n, table=self.code, phrase=phrase))

    async def chat(self, text: str) -> None:
        """Say something to everybody who follows the table.

        Raises:
            RefusedError: It is no line of text, or too many have been said.
        """
        await self._session.request(lambda n: Chat(id=n, table=self.code, text=text))

"""What a player may ask of a server: tables, seats, the lobby, who is there, and past matches."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from truc_client.address import Address
from truc_client.errors import ClientError, ConnectError, LostError
from truc_client.line.single_connection import Build
from truc_client.lobby import Lobby
from truc_client.matches.signer import Intent
from truc_client.paging import (
    HistoryRecords,
    fetch_transcript,
    free_path,
    list_matches,
    list_players,
    list_standings,
    list_tables,
)
from truc_client.reports import HOUSE_BOTS, Calls
from truc_client.session import Session
from truc_client.subscriptions import Subscriptions, TablePreview, watch_for_a_moment
from truc_client.table import Table
from truc_client.table_session import TableSession
from truc_protocol import messages
from truc_protocol.crypto.keys import fingerprint
from truc_protocol.wire.handshake import Fingerprint, Trust
from truc_words import Sentence

Moderation = Literal["kick", "ban", "unban", "mute", "unmute", "say"]
"""What a moderator may do."""


class Connection:
    """A player at a server; made by `connect`.

    Attributes:
        session: what the tables work with; not for programs.
        subscriptions: what the line tells of tables and lobby; not for programs.
    """

    def __init__(self, session: Session, subscriptions: Subscriptions) -> None:
        self.session = session
        self.subscriptions = subscriptions
        self._tables: dict[TableSession, Table] = {}

    @property
    def name(self) -> str:
        """The name by which the server shows this player."""
        return self.session.name

    @property
    def is_renamed(self) -> bool:
        """Whether `name` is not the one asked for: look-alikes are numbered, returning guests keep the old one."""
        return self.session.name != self.session.account.name.strip()

    @property
    def tag(self) -> str | None:
        """This player's tag, which others see beside the name; None if the server gives no tags."""
        return self.session.tag

    @property
    def held(self) -> tuple[messages.SeatHeld, ...]:
        """The seats this player holds; `resume` goes on with one."""
        return self.session.held

    @property
    def address(self) -> Address:
        """Where the server is; not the address given to `connect`, if it has moved."""
        return self.session.line.address

    @property
    def info(self) -> messages.Info:
        """What the server said about itself when the connection was opened."""
        return self.session.server.info

    @property
    def capabilities(self) -> Mapping[str, object]:
        """What the server has beyond the core of the protocol, each with its value, as of now."""
        return self.session.capabilities

    @property
    def clock_offset_ms(self) -> int | None:
        """How many milliseconds the server's clock is ahead of this machine's, by the fastest of its answers."""
        return self.session.line.clock_offset_ms

    @property
    def fingerprint(self) -> Fingerprint:
        """The fingerprint of the server's key."""
        return Fingerprint(fingerprint(self.session.spk))

    @property
    def trust(self) -> Trust:
        """How the server's key came to be accepted."""
        return self.session.server.trust

    @property
    def followed(self) -> tuple[Table, ...]:
        """Every table followed now."""
        return tuple(self._table(each) for each in self.subscriptions.tables.values())

    async def tables(self, variant: str | None = None) -> tuple[messages.TableState, ...]:
        """Return every public table."""
        return await list_tables(self.session.line, variant)

    async def rules(self, variant: str) -> bytes:
        """Return the rule document of a game that the server plays, without any table option.

        Raises:
            RefusedError: It plays no game of that name.
        """
        answer = await self.session.line.request(lambda n: messages.ReadRules(id=n, variant=variant))
        if answer.doc is None:
            raise ConnectError(Sentence("failures.no_document"))
        return answer.doc

    async def players(self) -> tuple[messages.PlayerState, ...]:
        """Return every player who is connected.

        Raises:
            RefusedError: This server does not tell who is there.
        """
        return await list_players(self.session.line)

    async def leaderboard(self, variant: str, seats: int, *, top: int = 20) -> tuple[messages.Standing, ...]:
        """Return the best players of a game with so many seats, best first, at most `top`.

        Raises:
            RefusedError: There is no such game or number of seats, or this server rates nobody.
        """
        return await list_standings(self.session.line, variant, seats, top=top)

    async def profile(self, player: str | None = None) -> tuple[messages.Standing, ...]:
        """Return the standings of the player with this tag in every game they are rated in; without a tag, one's own.

        Raises:
            RefusedError: This server rates nobody.
        """
        reply = await self.session.line.request(lambda n: messages.Profile(id=n, player=player))
        return reply.standings or ()

    async def create(
        self,
        variant: str,
        *,
        seats: int | None = None,
        options: Mapping[str, int | str] | None = None,
        private: bool = False,
    ) -> Table:
        """Open a table and sit down at it.

        Raises:
            RefusedError: The server does not open such a table.
            LostError: The connection was lost meanwhile.
        """
        chosen = dict(options or {})
        return await self._sit_down(
            lambda n: messages.Create(id=n, variant=variant, seats=seats, options=chosen, private=private)
        )

    async def seek(
        self, variant: str, *, seats: int | None = None, options: Mapping[str, int | str] | None = None
    ) -> Table:
        """Take a seat at any open table of a game with exactly these options; if there is none, one is opened.

        Raises:
            RefusedError: There is no such game here, or this server does not find seats.
            LostError: The connection was lost meanwhile.
        """
        chosen = dict(options or {})
        return await self._sit_down(
            lambda n: messages.Seek(id=n, variant=variant, seats=seats, options=chosen)
        )

    async def _sit_down(self, build: Build) -> Table:
        """Follow the table that a reply names, beginning with what was shown of it before the reply."""
        found: list[TableSession] = []
        self.subscriptions.begin_seeking()
        try:
            await self.session.line.request(build, lambda answer: found.append(self._claim(answer)))
        finally:
            self.subscriptions.end_seeking()
        return self._table(found[0])

    def _claim(self, answer: messages.Ok) -> TableSession:
        if answer.table is None:
            raise LostError(Sentence("failures.table_without_code"), again=False)
        return self.subscriptions.claim(answer.table, answer.seat)

    def _table(self, followed: TableSession) -> Table:
        """Return what a program holds of a table, the same object as long as the table is followed."""
        live = self.subscriptions.tables.values()
        self._tables = {each: table for each, table in self._tables.items() if each in live}
        return self._tables.setdefault(followed, Table(self.session, followed))

    async def join(self, code: str, seat: int | None = None) -> Table:
        """Take a seat at a table, or come back to one's own.

        Raises:
            RefusedError: There is no such table, or that seat is not free.
            LostError: The connection was lost meanwhile.
        """
        is_followed = code in self.subscriptions.tables
        followed = self.subscriptions.return_to(code, seat)

        def seated(answer: messages.Ok) -> None:
            if answer.seat is None:
                raise LostError(Sentence("failures.table_without_seat"), again=False)
            followed.seated(answer)

        return await self._follow(
            followed, lambda n: messages.Join(id=n, table=code, seat=seat), seated, goes_on=is_followed
        )

    async def watch(self, code: str) -> Table:
        """Follow a table without a seat, as the table allows: live, with a delay, or hand by hand.

        Every record is checked. In the middle of a match, the records before are fetched first (`SnapshotTaken`).

        Raises:
            RefusedError: There is no such table, or it admits no watchers.
        """
        followed = self.subscriptions.follow(code, None)
        return await self._follow(followed, lambda n: messages.Watch(id=n, table=code))

    async def _follow(
        self,
        followed: TableSession,
        build: Build,
        at_once: Callable[[messages.Ok], None] | None = None,
        *,
        goes_on: bool = False,
    ) -> Table:
        """Ask for a table; if it is refused, it is followed no more unless it `goes_on`."""
        table = self._table(followed)
        followed.is_asked_for = not goes_on
        try:
            await self.session.line.request(build, at_once)
        except ClientError:
            if not goes_on:
                table.close()
            raise
        finally:
            followed.is_asked_for = False
        return table

    async def preview(self, code: str) -> TablePreview:
        """Look at a table for a moment, as a watcher, without joining it."""
        preview = self.subscriptions.previews[code] = TablePreview()
        try:
            await watch_for_a_moment(self.session.line, code, preview)
        finally:
            del self.subscriptions.previews[code]
        return preview

    async def resume(self, held: messages.SeatHeld, *, rekey: bool = False) -> Table:
        """Come back to a seat one holds, with every record that is missing.

        A seat whose secrets are not in this home can go on only with `rekey`: it begins a new chain before the next
        deal, does nothing until then, and can no longer be played from where it was played before.

        Raises:
            RefusedError: The seat is gone.
        """
        # a seat without a match is at a table that has none to resume (client-guide.md, 5)
        if held.match is None:
            return await self.join(held.table, held.seat)
        followed = self.subscriptions.return_to(held.table, held.seat)
        followed.take_back(held.seat)
        followed.come_back(held.match, Intent.REKEY if rekey else Intent.LOOK_ON)
        return self._table(followed)

    async def lobby(self) -> Lobby:
        """Follow the lobby: how full the server is, every public table as it changes, and what is said there.

        Raises:
            RefusedError: This server has no lobby to follow.
        """
        feed = self.subscriptions.lobby
        if feed is None:
            feed = self.subscriptions.follow_lobby()
            try:
                await self.session.line.request(lambda n: messages.FollowLobby(id=n))
            except ClientError:
                feed.close()
                raise
        return Lobby(self.session, feed)

    def calls(self) -> Calls:
        """Hear the server's calls to its host's own bots to take seats, as they come, and all again on reconnecting.

        Raises:
            ClientError: `connect` was not told to want `house-bots`.
        """
        reports = self.subscriptions.calls
        if reports is None:
            raise ClientError(Sentence("failures.calls_unwanted", name=repr(HOUSE_BOTS)))
        return Calls(reports)

    async def ignore(self, player: str, *, off: bool = False) -> None:
        """Hear no more of the player with this tag: no chat, phrases or signs; with `off`, hear them again.

        Raises:
            RefusedError: Too many are ignored already, or this server has no chat.
        """
        await self.session.line.request(lambda n: messages.Ignore(id=n, player=player, off=off))

    async def forget(self) -> None:
        """Ask the server to forget this player: name, token, chat, whom they ignored. A guest is then unknown there.

        Matches stay as they were, with the name in their records; from then on only those who played may read them.

        Raises:
            RefusedError: One has a seat in a running match, or this server forgets nobody.
        """
        await self.session.line.request(
            lambda n: messages.Forget(id=n), lambda _answer: self.session.forgotten()
        )

    async def moderate(
        self, do: Moderation, *, player: str | None = None, hours: int | None = None, text: str | None = None
    ) -> None:
        """Keep order as the host would; only for those whom the host has named moderators.

        Args:
            do: `kick`, `ban`, `unban`, `mute` or `unmute` a player, or `say` a text to everybody.
            player: the player's tag, or the name of one who is connected.
            hours: for how long a ban or mute holds; None until it is undone.
            text: what is said.

        Raises:
            RefusedError: One is no moderator here, or means nobody or another moderator.
        """
        await self.session.line.request(
            lambda n: messages.Moderate(id=n, do=do, player=player, hours=hours, text=text)
        )

    async def matches(self, newest: int | None = None) -> tuple[messages.PlayedMatch, ...]:
        """Return the matches one has had a seat in, as far as the server has them, newest first; at most `newest`.

        Raises:
            RefusedError: This server does not list matches.
        """
        return await list_matches(self.session.line, newest=newest)

    def history(self, match: bytes, first: int = 0) -> HistoryRecords:
        """Return the records of a match from a position on, to be iterated; unchecked, as far as they may be read."""
        return HistoryRecords(self.session.line, match, first)

    async def transcript(self, match: bytes, path: Path | None = None) -> Path:
        """Write the transcript of a match as the server gives it out, unchecked, and return its path.

        Without a path it goes into the home, beside the kept one, if there is one.

        Raises:
            RefusedError: There is no such match, or this player may not read it.
            HomeError: The file exists already, or cannot be written.
        """
        where = path or free_path(self.session.account.home.transcripts, match)
        return await fetch_transcript(self.session.line, match, where)

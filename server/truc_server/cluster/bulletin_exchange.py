"""What this node tells the others and what it hears from them: the lobby, who is here, what counts against limits.

About once a second, in threads, beside the journal: no act waits for it. What is heard is a moment old; if hearing fails,
what was heard before stands.
Invariants: what could not be told is told later, in its state at that time; a node that is gone is forgotten together
with what only it had, and its tables stay listed until another node tells of them.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Final, TypeVar, assert_never

import structlog
import trio

from truc_protocol.messages import ChatLine
from truc_server.lobby.other_nodes import BulletinDraft, table_news
from truc_server.net.peer import LoggedInPlayer
from truc_server.parts import ServerParts
from truc_server.requests.forgetting import forget_elsewhere
from truc_server.requests.moderating import kick, say_here
from truc_server.storage import StoreError
from truc_server.storage.bulletins import BulletinListener
from truc_server.storage.node_news import (
    Bulletin,
    BulletinMark,
    LineKind,
    LineNews,
    NodeNews,
    PlayerNews,
    TableNews,
)
from truc_server.table_data.codes import label

# Between two bulletins, and at most between two looks for those of others: whatever is noted at one node is
# known at all others within two seconds (cluster.md).
TELL_EVERY_S: Final = 1.0
HEAR_EVERY_S: Final = 1.0
SWEEP_EVERY_S: Final = 60.0
# Tables or players taken up at once, in some two milliseconds. All of a node with thousands of tables took a
# fifth of a second, in which nobody here could play.
_AT_ONCE: Final = 64
RETRY_S: Final = 5.0  # after a connection for hints was lost
_SWEPT: Final = "server"  # why a table is gone of which nobody has told why

Told = TypeVar("Told")

log = structlog.get_logger()


def _chunks(told: Sequence[Told]) -> Iterator[Sequence[Told]]:
    """Yield what was told, a part at a time."""
    return (told[first : first + _AT_ONCE] for first in range(0, len(told), _AT_ONCE))


class BulletinExchange:
    """What goes between this node and the others."""

    def __init__(self, parts: ServerParts) -> None:
        self._parts = parts
        self._lobby = parts.lobby
        self._others = parts.lobby.others
        self._admission = parts.admission
        self._marks: dict[str, BulletinMark] = {}
        self._has_told = self._has_heard = False
        self._strays: frozenset[str] = frozenset()
        self._hint = trio.Event()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Tell and hear until cancelled; the task counts as started once the others have been heard, if they can be."""
        async with trio.open_nursery() as tasks:
            tasks.start_soon(self._keep_telling)
            tasks.start_soon(self._keep_sweeping)
            tasks.start_soon(self._keep_listening)
            await self._try(log.warning, "nodes_not_heard", self._hear)
            task_status.started()
            await self._keep_hearing()

    async def _try(
        self, tell: Callable[..., object], event: str, work: Callable[[], Awaitable[None]]
    ) -> None:
        """Do something for the other nodes, or log why not: it is done again later, and what fails ends no match."""
        try:
            await work()
        except StoreError as error:
            tell(event, reason=str(error))
        except Exception:
            log.exception("internal", incident="bulletins")

    async def _keep_telling(self) -> None:
        while True:
            at = trio.current_time()
            await self._try(log.warning, "bulletin_not_told", self._tell)
            await trio.sleep_until(at + TELL_EVERY_S)
            with trio.move_on_after(TELL_EVERY_S):  # what counts against limits wakes nobody
                await self._others.untold.woken.wait()

    async def _tell(self) -> None:
        parts = self._parts
        draft, crowds = self._others.untold.take(), self._admission.news()
        try:
            bulletin = self._compose(draft)._replace(crowds=crowds)
            # The first is told even if there is nothing in it: only then do the others list this node.
            if self._has_told and not any(bulletin):
                return
            # No other node may show what this one may still lose.
            await parts.journal.wait_durable(parts.journal.gate)
            await trio.to_thread.run_sync(parts.store.tell, parts.lease, bulletin)
        except Exception:
            self._others.untold.put_back(draft)
            self._admission.put_back(crowds)
            raise
        self._has_told = True

    def _compose(self, draft: BulletinDraft) -> Bulletin:
        tables = (self._table_news(code, reason) for code, reason in draft.tables.items())
        players = tuple(self._player_news(player) for player in draft.players.values())
        return Bulletin(tuple(table for table in tables if table is not None), players, lines=draft.lines)

    def _table_news(self, code: str, reason: str | None) -> TableNews | None:
        """Return a table as it stands; None if it is gone from here and goes on elsewhere."""
        if reason is not None:
            return TableNews(code, reason)
        table = self._lobby.get(code)
        try:
            return None if table is None else table_news(table, self._lobby.made_tables.network_of(code))
        except Exception:  # put back, it would keep all that is told later from the others, too
            log.exception("internal", incident="bulletins", table=label(code))
            return None

    def _player_news(self, noted: LoggedInPlayer) -> PlayerNews:
        present = self._lobby.online.player(noted.tag)
        player = present or noted
        is_house = noted.tag in self._lobby.bot_calls.started
        return PlayerNews(player.id, player.kind, player.name, is_house, present is not None)

    async def _keep_hearing(self) -> None:
        while True:
            with trio.move_on_after(HEAR_EVERY_S):
                await self._hint.wait()
            self._hint = trio.Event()
            await self._try(log.warning, "nodes_not_heard", self._hear)

    async def _hear(self) -> None:
        parts = self._parts
        found = await trio.to_thread.run_sync(parts.store.news_of_others, parts.lease, dict(self._marks))
        await self._heed(found)

    async def _heed(self, found: tuple[NodeNews, ...]) -> None:
        """Take up what was heard, and forget who is gone; after every few tables and players others have a turn."""
        # A node that came again under its name has another claim: nothing of its earlier process holds.
        live = {heard.node: heard.mark.claimed for heard in found}
        for node, mark in tuple(self._marks.items()):
            if live.get(node) != mark.claimed:
                del self._marks[node]
                self._lobby.forget_node(node)
                self._admission.forget_node(node)
        for heard in found:
            bulletin = heard.bulletin
            self._marks[heard.node] = heard.mark
            self._others.places.pop(heard.node, None)
            if not heard.is_draining:  # no seat is sought at a node that is about to give its tables away
                self._others.places[heard.node] = heard.place
            self._admission.hear(heard.node, bulletin.crowds)
            for tables in _chunks(bulletin.tables):
                self._lobby.hear_tables(heard.node, tables)
                await trio.lowlevel.checkpoint()
            for players in _chunks(bulletin.players):
                self._lobby.hear_players(heard.node, players)
                await trio.lowlevel.checkpoint()
            for line in bulletin.lines:
                self._try_to_heed(line)
        self._has_heard = True

    def _try_to_heed(self, line: LineNews) -> None:
        try:
            self._heed_line(line)
        except StoreError:
            pass  # the server is stopping
        except Exception:  # harms nothing else that is heard
            log.exception("internal", incident="bulletins")

    def _heed_line(self, line: LineNews) -> None:
        """Do here what was said or done at another node; what was said before this one was there only if it still holds."""
        online = self._lobby.online
        match line.what:
            # Of a player, and so for good: also if it was said before this node came.
            case LineKind.IGNORE | LineKind.HEAR:
                online.note_ignored(line.player, line.kind, line.tag, off=line.what is LineKind.HEAR)
            case _ if not self._has_heard:
                pass
            case LineKind.CHAT:
                self._lobby.followers.tell(ChatLine(player=line.tag, name=line.name, text=line.text))
            case LineKind.HOST:
                say_here(self._lobby, line.text)
            case LineKind.KICK:
                kick(self._lobby, line.tag)
            case LineKind.FORGET:
                forget_elsewhere(self._lobby, LoggedInPlayer(line.kind, line.player, ""))
            case LineKind.CALL:
                self._lobby.bot_calls.pass_on(line)
            case _:
                assert_never(line.what)

    async def _keep_sweeping(self) -> None:
        while True:
            await trio.sleep(SWEEP_EVERY_S)
            await self._try(log.warning, "bulletins_not_swept", self._sweep)

    async def _sweep(self) -> None:
        """Drop what is over; a table that is told of and nobody has, found so twice, is told to be gone."""
        parts = self._parts
        await trio.to_thread.run_sync(parts.store.sweep_bulletins)
        found = await trio.to_thread.run_sync(parts.store.stray_listings, parts.lease)
        # Once may be chance: a table that this node has just taken is not in its lobby before it was read.
        strays = frozenset(code for code in found if self._lobby.get(code) is None)
        gone = sorted(strays & self._strays)
        for code in gone:
            self._others.untold.note_table(code, _SWEPT)
        told_gone = [TableNews(code, _SWEPT) for code in gone]
        self._lobby.hear_tables(parts.lease.owner, told_gone)
        self._strays = strays

    async def _keep_listening(self) -> None:
        """Hear at once what is told, where the database says so; without that it is heard a moment later."""
        while True:
            try:
                listener = await trio.to_thread.run_sync(self._parts.store.listener)
                if listener is None:
                    return
                with listener:
                    await self._listen(listener)
            except (StoreError, OSError) as error:
                log.warning("hints_lost", reason=str(error))
            except Exception:
                log.exception("internal", incident="bulletins")
            await trio.sleep(RETRY_S)

    async def _listen(self, listener: BulletinListener) -> None:
        while True:
            await trio.lowlevel.wait_readable(listener.socket)
            if listener.has_news():
                self._hint.set()

"""What this node tells the others and what it hears from them: the lobby, who is here, what counts against limits.

About once a second, in threads, beside the journal: no act waits for it. What is told is durable by then, so that no
other node shows what this one may still lose. What is heard is a moment old; if hearing fails, what was heard before
stands.
Invariants: what could not be told is told later, in its state at that time; a node that is gone is forgotten together
with what only it had, and its tables stay listed until another node tells of them.
"""

from collections.abc import Iterator, Sequence
from typing import Final, TypeVar, assert_never

import structlog
import trio

from truc_protocol.messages import ChatLine
from truc_server.house import House
from truc_server.lobby.lobby import Lobby
from truc_server.lobby.others import Draft, Others, told
from truc_server.net.admission import Admission
from truc_server.net.peer import Player
from truc_server.operation.logs import Seldom
from truc_server.requests.forgetting import forget_elsewhere
from truc_server.requests.moderating import kick, say_here
from truc_server.storage import StoreError
from truc_server.storage.bulletins import Ear
from truc_server.storage.told import Bulletin, Heard, Mark, Said, ToldLine, ToldPlayer, ToldTable

EVERY_S: Final = 1.0  # between two bulletins
HEAR_S: Final = 1.0  # at most between two times that the others are heard
SWEEP_S: Final = 60.0
_AT_ONCE: Final = 64  # tables or players taken up at once: some two milliseconds
AGAIN_S: Final = 5.0  # after a connection for hints was lost
_SWEPT: Final = "server"  # why a table is gone of which nobody has told why

Told = TypeVar("Told")

log = structlog.get_logger()


def _some(told: Sequence[Told]) -> Iterator[Sequence[Told]]:
    """Yield what was told, a part at a time."""
    return (told[first : first + _AT_ONCE] for first in range(0, len(told), _AT_ONCE))


class Telling:
    """What goes between this node and the others."""

    def __init__(self, house: House, lobby: Lobby, others: Others, admission: Admission) -> None:
        self._house = house
        self._lobby = lobby
        self._others = others
        self._admission = admission
        self._marks: dict[str, Mark] = {}
        self._has_told = self._has_heard = False
        self._strays: frozenset[str] = frozenset()
        self._hint = trio.Event()
        self._complaints = Seldom()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Tell and hear until cancelled; the task counts as started once the others have been heard, if they can be."""
        async with trio.open_nursery() as tasks:
            tasks.start_soon(self._keep_telling)
            tasks.start_soon(self._keep_sweeping)
            tasks.start_soon(self._keep_listening)
            await self._try_to_hear()
            task_status.started()
            await self._keep_hearing()

    async def _keep_telling(self) -> None:
        while True:
            at = trio.current_time()
            try:
                await self._tell()
            except Exception:  # what cannot be told ends no match
                log.exception("internal", incident="bulletins")
            await trio.sleep_until(at + EVERY_S)
            with trio.move_on_after(EVERY_S):  # what counts against limits wakes nobody
                await self._others.notes.woken.wait()

    async def _tell(self) -> None:
        house = self._house
        draft, crowds = self._others.notes.take(), self._admission.news()
        bulletin = self._composed(draft)._replace(crowds=crowds)
        if self._has_told and not any(bulletin):
            return
        try:
            await house.journal.wait_durable(house.journal.gate)
            await trio.to_thread.run_sync(house.store.tell, house.lease, bulletin)
        except StoreError as error:
            self._others.notes.put_back(draft)
            self._admission.put_back(crowds)
            self._complaints.say(log.warning, "bulletin_not_told", reason=str(error))
            return
        self._has_told = True

    def _composed(self, draft: Draft) -> Bulletin:
        tables = (self._told(code, reason) for code, reason in draft.tables.items())
        players = tuple(self._told_player(player) for player in draft.players.values())
        return Bulletin(tuple(table for table in tables if table is not None), players, lines=draft.lines)

    def _told(self, code: str, reason: str | None) -> ToldTable | None:
        """Return a table as it stands; None if it is gone from here and goes on elsewhere."""
        if reason is not None:
            return ToldTable(code, reason)
        table = self._lobby.get(code)
        return None if table is None else told(table, self._lobby.made.network_of(code))

    def _told_player(self, noted: Player) -> ToldPlayer:
        present = self._lobby.presence.player(noted.tag)
        player = present or noted
        is_house = noted.tag in self._lobby.calls.started
        return ToldPlayer(player.id, player.kind, player.name, is_house, present is not None)

    async def _keep_hearing(self) -> None:
        while True:
            with trio.move_on_after(HEAR_S):
                await self._hint.wait()
            self._hint = trio.Event()
            await self._try_to_hear()

    async def _try_to_hear(self) -> None:
        house = self._house
        try:
            found = await trio.to_thread.run_sync(house.store.heard, house.lease, dict(self._marks))
        except StoreError as error:
            self._complaints.say(log.warning, "nodes_not_heard", reason=str(error))
            return
        try:
            await self._heed(found)
        except Exception:  # nor does what cannot be understood
            log.exception("internal", incident="bulletins")

    async def _heed(self, found: tuple[Heard, ...]) -> None:
        """Take up what was heard, and forget who is gone; after every few tables and players others have a turn."""
        live = {heard.node: heard.mark.claimed for heard in found}
        for node, mark in tuple(self._marks.items()):
            if live.get(node) != mark.claimed:
                del self._marks[node]
                self._lobby.lose(self._others, node)
                self._admission.lose(node)
        for heard in found:
            bulletin = heard.bulletin
            self._marks[heard.node] = heard.mark
            self._others.places.pop(heard.node, None)
            if not heard.is_draining:
                self._others.places[heard.node] = heard.place
            self._admission.hear(heard.node, bulletin.crowds)
            for tables in _some(bulletin.tables):
                self._lobby.hear_tables(self._others, heard.node, tables)
                await trio.lowlevel.checkpoint()
            for players in _some(bulletin.players):
                self._lobby.hear_players(self._others, heard.node, players)
                await trio.lowlevel.checkpoint()
            for line in bulletin.lines:
                self._try_to_heed(line)
        self._has_heard = True

    def _try_to_heed(self, line: ToldLine) -> None:
        try:
            self._heed_line(line)
        except StoreError:
            pass  # the server is stopping
        except Exception:  # harms nothing else that is heard
            log.exception("internal", incident="bulletins")

    def _heed_line(self, line: ToldLine) -> None:
        """Do here what was said or done at another node; what was said before this one was there only if it still holds."""
        presence = self._lobby.presence
        match line.what:
            case Said.IGNORE | Said.HEAR:
                presence.note_ignored(line.player, line.kind, line.tag, off=line.what is Said.HEAR)
            case _ if not self._has_heard:
                pass
            case Said.CHAT:
                self._lobby.following.tell(ChatLine(player=line.tag, name=line.name, text=line.text))
            case Said.HOST:
                say_here(self._lobby, line.text)
            case Said.KICK:
                kick(self._lobby, line.tag)
            case Said.FORGET:
                forget_elsewhere(self._lobby, Player(line.kind, line.player, ""))
            case Said.CALL:
                self._lobby.calls.pass_on(line)
            case _:
                assert_never(line.what)

    async def _keep_sweeping(self) -> None:
        while True:
            await trio.sleep(SWEEP_S)
            try:
                await self._sweep()
            except StoreError as error:
                self._complaints.say(log.warning, "bulletins_not_swept", reason=str(error))

    async def _sweep(self) -> None:
        """Drop what is over; a table that is told of and nobody has, found so twice, is told to be gone."""
        house = self._house
        await trio.to_thread.run_sync(house.store.sweep)
        found = await trio.to_thread.run_sync(house.store.stray_told, house.lease)
        strays = frozenset(code for code in found if self._lobby.get(code) is None)
        gone = sorted(strays & self._strays)
        for code in gone:
            self._others.notes.table(code, _SWEPT)
        told_gone = [ToldTable(code, _SWEPT) for code in gone]
        self._lobby.hear_tables(self._others, house.lease.owner, told_gone)
        self._strays = strays

    async def _keep_listening(self) -> None:
        """Hear at once what is told, where the database says so; without that it is heard a moment later."""
        while True:
            try:
                ear = await trio.to_thread.run_sync(self._house.store.ear)
                if ear is None:
                    return
                with ear:
                    await self._listen(ear)
            except (StoreError, OSError) as error:
                self._complaints.say(log.warning, "hints_lost", reason=str(error))
            await trio.sleep(AGAIN_S)

    async def _listen(self, ear: Ear) -> None:
        while True:
            await trio.lowlevel.wait_readable(ear.socket)
            if ear.heard():
                self._hint.set()

"""What the host imposes by command beside the running server: read again and again, and the shut out are cut off.

Invariant: a store that cannot be read lifts nothing; what was imposed holds until its end, or until the host is known
to have lifted it.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

import structlog
import trio

from truc_protocol.errors import Code
from truc_server.net.connections import Connections
from truc_server.net.peer import LoggedInPlayer, Peer
from truc_server.net.sanctions import Sanctions, in_force
from truc_server.parts import ServerParts
from truc_server.requests.forgetting import vacate_seats
from truc_server.settings.subjects import is_subject
from truc_server.storage import DamagedRowError, Sanction, StoreError
from truc_server.storage.sql import Store
from truc_server.timing.clock import now_ms

SANCTIONS_S: Final = 5.0  # between two looks at what is imposed

log = structlog.get_logger()


class SanctionWatch:
    """What is imposed, as last read."""

    def __init__(self, parts: ServerParts, connections: Connections) -> None:
        self._parts = parts
        self._lobby = parts.lobby
        self._connections = connections
        self._imposed: Sequence[Sanction] = ()
        self._enforced: tuple[Sanction, ...] = ()
        self._mutex = trio.Lock()  # an older answer of the store is never enforced after a newer one

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Enforce sanctions as long as the server runs; the task counts as started once they are known.

        Raises:
            StoreError: It cannot be known whom the host has shut out.
        """
        self._imposed = await trio.to_thread.run_sync(_read, self._parts.store)
        self._enforced = in_force(self._imposed, now_ms())
        self._parts.sanctions.now = Sanctions.of(self._parts.settings.now.access, self._enforced)
        log.info("sanctions", imposed=len(self._enforced))
        task_status.started()
        while True:
            await trio.sleep(SANCTIONS_S)
            await self.reread()

    async def reread(self) -> None:
        """Read the sanctions and enforce those in force; if they cannot be read, those that were read before."""
        async with self._mutex:
            try:
                self._imposed = await trio.to_thread.run_sync(_read, self._parts.store)
            except StoreError as error:
                log.warning("sanctions_unread", reason=str(error))
            in_force_now = in_force(self._imposed, now_ms())
            if in_force_now != self._enforced:
                _tell(self._enforced, in_force_now)
                self._enforced = in_force_now
                self.enforce()
            else:
                # tables come from the store or another node, and a match ends that somebody was banned in
                self._try(self._vacate_of_banned)

    def enforce(self) -> None:
        """Put in force what is imposed now and what the settings say, and cut off everybody whom that shuts out."""
        self._parts.sanctions.now = Sanctions.of(self._parts.settings.now.access, self._enforced)
        self._try(self._cut)

    def _try(self, do: Callable[[], None]) -> None:
        try:
            do()
        except StoreError:
            pass  # the server is stopping, and cuts everybody
        except Exception:
            log.exception("internal", incident="sanctions")

    def _cut(self) -> None:
        """Say goodbye to everybody who is shut out; those with no connection, now or before, give up their seats."""
        players = set[LoggedInPlayer]()
        for peer in _shut_out(self._parts, self._connections):
            if peer.player is not None:
                players.add(peer.player)
            tag = None if peer.player is None else peer.player.tag
            log.info("cut", connection=peer.number, subject=tag, address=peer.address)
            peer.dismiss(Code.BANNED, "the host has shut you out")
        self._vacate(players)
        self._vacate_of_banned()

    def _vacate_of_banned(self) -> None:
        """Give up the seats of players who are banned by their tag."""
        tags = self._parts.sanctions.now.banned.tags
        if tags:
            self._vacate([player for player in self._lobby.seated() if player.tag in tags])

    def _vacate(self, players: Iterable[LoggedInPlayer]) -> None:
        """Give up the seats of those of the players who have no connection."""
        for player in players:
            if not any(peer.is_open for peer in self._lobby.online.connections(player.tag)):
                vacate_seats(self._lobby, player)


def _read(store: Store) -> Sequence[Sanction]:
    """Return everything imposed by command; blocks.

    Raises:
        StoreError: It cannot be known.
    """
    imposed = store.sanctions()
    if not all(is_subject(sanction.subject) for sanction in imposed):
        raise DamagedRowError(
            "a row is not as it was written: expected a subject in sanctions.subject, got other text;"
            " truc-server sanctions lists it: restore a backup, or delete the row and ban again"
        )
    return imposed


def _tell(before: Collection[Sanction], in_force_now: Collection[Sanction]) -> None:
    """Log what has been imposed and lifted."""
    for sanction in in_force_now:
        if sanction not in before:
            log.info("imposed", kind=str(sanction.kind), subject=sanction.subject)
    for sanction in before:
        if sanction not in in_force_now:
            log.info("lifted", kind=str(sanction.kind), subject=sanction.subject)


def _shut_out(parts: ServerParts, connections: Connections) -> tuple[Peer, ...]:
    banned = parts.sanctions.now.banned
    named = {peer for tag in banned.tags for peer in parts.lobby.online.connections(tag)}
    placed = {peer for peer in connections.everybody() if banned.has_address(peer.address)}
    return tuple(peer for peer in named | placed if peer.is_open)

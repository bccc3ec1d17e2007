"""What the host imposes by command beside the running server: it is read again and again, and who is shut out is cut.

Invariant: a store that cannot be read lifts nothing; what was imposed holds until its end, or until the host is known
to have lifted it.
"""

from collections.abc import Collection
from typing import Final

import structlog
import trio

from truc_protocol.errors import Code
from truc_server.connections.net import Net
from truc_server.connections.peer import Peer, Player
from truc_server.house import House, now_ms
from truc_server.lobby.forgetting import vacate
from truc_server.lobby.lobby import Lobby
from truc_server.lobby.sanctions import Sanctions, in_force
from truc_server.store import Sanction, StoreError

SANCTIONS_S: Final = 5.0  # between two looks at what is imposed

log = structlog.get_logger()


async def keep(
    house: House,
    lobby: Lobby,
    net: Net,
    *,
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Heed what is imposed, for as long as the server runs; it is started when that is known.

    Raises:
        StoreError: It cannot be known whom the host has shut out.
    """
    imposed = await trio.to_thread.run_sync(house.store.sanctions)
    heeded = in_force(imposed, now_ms())
    house.sanctions = Sanctions.of(house.settings.access, heeded)
    log.info("sanctions", imposed=len(heeded))
    task_status.started()
    is_readable = True
    while True:
        await trio.sleep(SANCTIONS_S)
        try:
            imposed, is_readable = await trio.to_thread.run_sync(house.store.sanctions), True
        except StoreError as error:
            if is_readable:
                log.warning("sanctions_unread", reason=str(error))
            is_readable = False
        before, heeded = heeded, in_force(imposed, now_ms())
        if heeded != before:
            _heed(house, lobby, net, before, heeded)


def _heed(
    house: House, lobby: Lobby, net: Net, before: Collection[Sanction], heeded: Collection[Sanction]
) -> None:
    """Let what is imposed by now hold, and cut who is shut out by it."""
    house.sanctions = Sanctions.of(house.settings.access, heeded)
    for sanction in heeded:
        if sanction not in before:
            log.info("imposed", kind=str(sanction.kind), subject=sanction.subject)
    for sanction in before:
        if sanction not in heeded:
            log.info("lifted", kind=str(sanction.kind), subject=sanction.subject)
    try:
        _cut(house, lobby, net)
    except StoreError:
        pass  # the server is stopping, and cuts everybody
    except Exception:
        log.exception("internal", incident="sanctions")


def _cut(house: House, lobby: Lobby, net: Net) -> None:
    """Say goodbye to everybody who is shut out; who of them is not here, by now or before, gives their seats up."""
    tags = house.sanctions.banned.tags
    players = {player for player in lobby.seated() if player.tag in tags} if tags else set[Player]()
    for peer in _shut_out(house, lobby, net):
        if peer.player is not None:
            players.add(peer.player)
        log.info("cut", subject=None if peer.player is None else peer.player.tag, address=peer.address)
        peer.dismiss(Code.BANNED, "the host has shut you out")
    for player in players:
        if not any(peer.is_open for peer in lobby.presence.connections(player.tag)):
            vacate(lobby, player)


def _shut_out(house: House, lobby: Lobby, net: Net) -> tuple[Peer, ...]:
    banned = house.sanctions.banned
    named = {peer for tag in banned.tags for peer in lobby.presence.connections(tag)}
    placed = {peer for peer in net.everybody() if banned.has_address(peer.address)}
    return tuple(peer for peer in named | placed if peer.is_open)

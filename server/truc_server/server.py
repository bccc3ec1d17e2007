"""One running server: its tasks, from taking the tables over to the last goodbye.

Invariants: it listens only when every table is back; when it ends, whatever was acknowledged is in the store.
"""

import os
import socket
from collections.abc import Callable
from typing import Final

import structlog
import trio

from truc_protocol.errors import Code
from truc_server import recovery
from truc_server.connections.net import Net, open_listeners, port_of
from truc_server.host.disk import Disk
from truc_server.host.folder import Folder
from truc_server.host.identity import Identity
from truc_server.host.settings import Settings
from truc_server.host.variants import Catalogue
from truc_server.house import House
from truc_server.lobby import guests, upkeep
from truc_server.lobby.lobby import Lobby
from truc_server.store import Lease, Store, StoreError

GOODBYE_S: Final = 5.0  # for the last batch and the last words

log = structlog.get_logger()


async def serve(
    settings: Settings,
    folder: Folder,
    store: Store,
    identity: Identity,
    announce: Callable[[int], None],
    *,
    catalogue: Catalogue,
) -> None:
    """Serve until cancelled; then say goodbye and end with everything stored.

    Raises:
        StoreError: The store failed; nothing more can be acknowledged.
        OSError: An address cannot be listened on.
    """
    lease, stored = await trio.to_thread.run_sync(_take_over, settings, store)
    house = House(settings, catalogue, identity, store, lease, disk=Disk(folder.root, settings.store))
    stop = trio.Event()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_run, house, stored, announce, stop)
        try:
            await house.failed.wait()
        finally:
            stop.set()


def _take_over(settings: Settings, store: Store) -> tuple[Lease, recovery.Stored]:
    """Take every table over; but none where the server has moved, as they go on elsewhere by now; blocks."""
    owner = f"{socket.gethostname()}:{os.getpid()}"
    if settings.access.moved_to:
        return Lease(owner, 0), recovery.Stored((), ())
    return store.claim(owner), recovery.read(store)


async def _run(
    house: House, stored: recovery.Stored, announce: Callable[[int], None], stop: trio.Event
) -> None:
    """Run every task, out of reach of the cancellation that asks for the end."""
    with trio.CancelScope(shield=True):
        async with trio.open_nursery() as tasks:
            tasks.start_soon(house.flusher.run)
            tasks.start_soon(house.timers.run)
            tasks.start_soon(house.journal.run)
            tasks.start_soon(house.pages.run)
            await house.disk.look()
            tasks.start_soon(house.disk.run)
            lobby = Lobby(house)
            recovery.restore(house, lobby, stored)
            net = Net(house, lobby)
            await tasks.start(upkeep.keep, house, lobby, net)
            tasks.start_soon(guests.prune_daily, house, lobby)
            listeners = await open_listeners(house.settings.listen)
            accepting = trio.CancelScope()
            tasks.start_soon(_accept, net, listeners, tasks, accepting)
            port = port_of(listeners)
            announce(port)
            log.info(
                "listening", port=port, tables=len(stored.tables), fingerprint=house.identity.fingerprint
            )
            await stop.wait()
            accepting.cancel()
            await _end(house, net)
            tasks.cancel_scope.cancel()
    if house.failure is not None:
        raise StoreError(f"the server has stopped: {house.failure}")


async def _accept(
    net: Net, listeners: list[trio.SocketListener], readers: trio.Nursery, accepting: trio.CancelScope
) -> None:
    with accepting:
        await trio.serve_listeners(net.serve, listeners, handler_nursery=readers)


async def _end(house: House, net: Net) -> None:
    failed = house.failure is not None
    log.info("stopping", reason="the store has failed" if failed else "asked to")
    house.journal.close()
    with trio.move_on_after(GOODBYE_S):
        if failed:
            net.forget()
            house.renounce()
        net.dismiss(Code.INTERNAL if failed else Code.SHUTTING_DOWN, "the server is being stopped")
        if not failed:
            await house.journal.wait_durable(house.gate)
        await net.wait_quiet()
        return
    if not house.journal.is_idle:
        log.warning("store_hangs", reason="the end waits for a commit that does not return")

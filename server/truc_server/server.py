"""One running server: its tasks, from taking over the tables to the last goodbye.

Invariants: it listens only when every table is back; when it ends, whatever was acknowledged is in the store.
"""

import os
import socket
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

import structlog
import trio

from truc_protocol.errors import Code
from truc_server import recovery
from truc_server.admin import command_socket
from truc_server.admin.desk import Desk
from truc_server.cluster.bulletin_exchange import BulletinExchange
from truc_server.cluster.lease_keeper import LeaseKeeper, lease_ms
from truc_server.cluster.routing import Routing
from truc_server.identity.certificate import Tls, open_tls, open_web_tls
from truc_server.identity.identity import Identity
from truc_server.net.connections import Connections
from truc_server.net.listening import open_listeners, place_from_here, port_of
from truc_server.net.peer import Peer
from truc_server.operation import notify
from truc_server.parts import ServerParts
from truc_server.requests.dispatch import Dispatch
from truc_server.settings.folder import Folder
from truc_server.settings.in_force import Control
from truc_server.settings.settings import Settings
from truc_server.settings.variants import VariantCatalogue
from truc_server.storage import Lease, NodePlace, StoreError
from truc_server.storage.backups import read_restored
from truc_server.storage.node_keys import keys_of
from truc_server.storage.sql import Store
from truc_server.timing.clock import now_ms
from truc_server.upkeep import draining, retention, sanction_watch
from truc_server.upkeep.draining import TableGiver
from truc_server.upkeep.own_bots import OwnBots

if TYPE_CHECKING:
    from truc_server.web import WebDoor

GOODBYE_S: Final = 5.0  # for the last batch and the last words
_STOPPED: Final = "the server is being stopped"
_LISTENING: Final = "listening on port {}"

log = structlog.get_logger()


async def serve(
    settings: Settings,
    folder: Folder,
    store: Store,
    identity: Identity,
    announce: Callable[[int, str | None], None],
    *,
    catalogue: VariantCatalogue,
    control: Control | None = None,
) -> None:
    """Serve until cancelled, or drained by `control`; then say goodbye and end with everything stored.

    As a node of a cluster, if the settings name it, it has the tables of its name and those that nobody owns; alone, all.

    Once it listens `announce` is told the port, and the origin for browsers if there is one.

    With a `control` it also takes the host's commands, on a socket in the folder.

    Raises:
        StoreError: The store failed; nothing more can be acknowledged.
        OSError: An address cannot be listened on.
        TlsError: The host's own certificate cannot be used.
    """
    tls = await trio.to_thread.run_sync(open_tls, settings.listen, folder, int(time.time()))
    web_tls = await trio.to_thread.run_sync(open_web_tls, settings.web, int(time.time()))
    # from before the lease is asked for, so that it never lasts longer here than on the database's clock
    since = time.monotonic()
    lease, stored = await trio.to_thread.run_sync(_take_over, settings, folder, store, identity)
    parts = ServerParts(settings, catalogue, identity, store, lease, folder=folder.root)
    stop = trio.Event()
    lease_keeper = LeaseKeeper(parts, since=since) if parts.is_node else None
    async with trio.open_nursery() as nursery:
        run = partial(
            _run,
            tls=tls,
            web_tls=web_tls,
            announce=announce,
            stop=stop,
            control=control,
            lease_keeper=lease_keeper,
        )
        nursery.start_soon(run, parts, folder, stored)
        try:
            await stop.wait()
        finally:
            stop.set()


def _take_over(
    settings: Settings, folder: Folder, store: Store, identity: Identity
) -> tuple[Lease, recovery.StoredState]:
    """Claim what is the server's own, and read every table; a node reads those of its name later; blocks.

    If the server has moved that is none, as they go on elsewhere by now.
    """
    owner = f"{socket.gethostname()}:{os.getpid()}"
    # backup.md, "Moving": these tables go on elsewhere; here they would get a second history
    if settings.access.moved_to:
        return Lease(owner, 0), recovery.StoredState((), (), 0)
    restored = read_restored(folder)
    node = settings.cluster.node
    if not node:
        # claimed first: whoever had the store until now can write no more once the tables are read
        lease = store.claim(owner)
        return lease, recovery.read(store, restored, lease.epoch)
    store.check_keys(node, keys_of(identity))
    # of no place yet, as it does not listen
    lease = store.join(node, NodePlace("", "", version("truc")), lease_ms=lease_ms(settings.cluster))
    return lease, recovery.StoredState((), (), lease.epoch, restored=restored)


def _place(settings: Settings, port: int) -> NodePlace:
    """Return what a node that listens on a port says about itself."""
    host = settings.listen.public_host or settings.listen.hosts[0]
    bracketed = f"[{host}]" if ":" in host else host
    public = settings.cluster.public or f"{bracketed}:{port}"
    return NodePlace(public, settings.cluster.inner, version("truc"))


async def _run(
    parts: ServerParts,
    folder: Folder,
    stored: recovery.StoredState,
    *,
    tls: Tls | None,
    web_tls: Tls | None,
    announce: Callable[[int, str | None], None],
    stop: trio.Event,
    control: Control | None,
    lease_keeper: LeaseKeeper | None,
) -> None:
    """Run every task, shielded from the cancellation that asks for the end."""
    with trio.CancelScope(shield=True), closing(parts.signatures), closing(parts.steps):
        async with trio.open_nursery() as tasks:
            await _start_inner_tasks(parts, tasks)
            await _restore_tables(parts, stored, lease_keeper, tasks)
            routing = Routing(parts) if parts.is_node else None
            dispatch = Dispatch(parts, parts.lobby, routing)
            connections = Connections(
                parts, parts.admission, tls, handle=dispatch.handle, on_left=partial(_leave, parts, routing)
            )
            await tasks.start(connections.run)
            if routing is not None:
                await routing.open(connections, tasks)
            # nobody is in yet: names of other nodes and what the host has imposed are known before
            await _hear_other_nodes(parts, tasks)
            watch = sanction_watch.SanctionWatch(parts, connections)
            await tasks.start(watch.run)
            tasks.start_soon(_stop_when_failed, parts, stop)
            # each of several nodes does so, and finds only what is left
            tasks.start_soon(retention.prune_daily, parts)
            # only now: everything that a connection may ask for is there
            listeners = await open_listeners(
                parts.settings.now.listen, is_shared=parts.settings.now.cluster.shares_ports
            )
            await _serve_metrics(parts, tasks)
            port = port_of(listeners)
            if lease_keeper is not None:
                # other nodes send players here as soon as they know the port
                parts.place = _place(parts.settings.now, port)
                lease_keeper.renew_now()
            web = await _open_web(parts, connections, web_tls, tasks=tasks, port=port)
            tasks.start_soon(connections.accept, listeners)
            if control is not None:
                giver = None if lease_keeper is None else TableGiver(parts, control.drain)
                desk = Desk(parts, connections, watch, control, folder, port, now_ms(), web, giver)
                await _open_desk(desk, lease_keeper, stop, tasks)
            announce(port, None if web is None else web.origin)
            notify.tell(notify.READY, status=_LISTENING.format(port))
            tasks.start_soon(notify.give_signs_of_life)
            fingerprint = parts.identity.fingerprint
            log.info("listening", port=port, tables=len(parts.lobby.tables()), fingerprint=fingerprint)
            if own := parts.catalogue.own():
                log.info("own_games", names=", ".join(own))
            bots = OwnBots(parts, folder, place_from_here(listeners))
            tasks.start_soon(bots.run)
            await stop.wait()
            # first, or each would lose its connection and try to come back
            bots.ends.cancel()
            if control is not None:
                control.on_end()
            connections.shut()
            await _end(parts, connections)
            tasks.cancel_scope.cancel()
        await _release(parts)
    if parts.failure is not None:
        raise StoreError(f"the server has stopped: {parts.failure}")


async def _start_inner_tasks(parts: ServerParts, tasks: trio.Nursery) -> None:
    """Start the tasks that tables and connections rely on."""
    await tasks.start(parts.flusher.run)
    for part in (
        parts.timers,
        parts.journal,
        parts.page_reader,
        parts.tokens,
    ):
        tasks.start_soon(part.run)
    await parts.disk.look()
    tasks.start_soon(parts.disk.run)


async def _hear_other_nodes(parts: ServerParts, tasks: trio.Nursery) -> None:
    """Hear the other nodes, if there may be any, before anybody comes in; and from now on tell them what changes here."""
    if parts.is_node:
        await tasks.start(BulletinExchange(parts).run)


async def _restore_tables(
    parts: ServerParts, stored: recovery.StoredState, lease_keeper: LeaseKeeper | None, tasks: trio.Nursery
) -> None:
    """Put every table that is the server's own into the lobby; a node takes more from now on."""
    recovery.restore(parts, stored)
    if lease_keeper is not None:
        # codes of tables that other nodes have, or nobody yet: none of them may be drawn for a new table
        parts.lobby.withhold(*await trio.to_thread.run_sync(parts.store.table_codes))
        await tasks.start(lease_keeper.run, stored.restored)


def _leave(parts: ServerParts, routing: Routing | None, peer: Peer) -> None:
    """Forget a connection that has ended."""
    parts.lobby.drop_connection(peer)
    if routing is not None:
        routing.leave(peer)


async def _release(parts: ServerParts) -> None:
    """Let others have the tables at once, if everything is stored."""
    # after a failure it is unknown what is stored: the others wait for the end of the lease
    if parts.failure is not None or not parts.lease.epoch:
        return
    try:
        await trio.to_thread.run_sync(parts.store.release, parts.lease)
    except StoreError as error:
        log.warning("lease_not_released", reason=str(error))


async def _serve_metrics(parts: ServerParts, tasks: trio.Nursery) -> None:
    """Serve the metrics over HTTP, if the settings say so."""
    if parts.settings.now.metrics.port:
        # Slow to import, and needed only where it is wanted.
        from truc_server.metrics import page

        await tasks.start(page.run, parts)


async def _open_desk(
    desk: Desk, lease_keeper: LeaseKeeper | None, stop: trio.Event, tasks: trio.Nursery
) -> None:
    """Do what the host asks for; a node gives tables away when it is told to, or drains."""
    if desk.giver is not None:
        await tasks.start(desk.giver.run)
    await tasks.start(command_socket.serve, desk)
    tasks.start_soon(_drain_when_asked, desk, lease_keeper, stop)


async def _drain_when_asked(desk: Desk, lease_keeper: LeaseKeeper | None, stop: trio.Event) -> None:
    """Once a drain is asked for, let hands under way end, then stop the server."""
    parts, together = desk.parts, desk.control.machine_drain
    await desk.control.drain.wait()
    if lease_keeper is not None:
        lease_keeper.renew_now()  # so that no other node gives it a table
    # New connections are left to the others on its ports, unless they drain too: then there is nobody else, and
    # players with a seat may still come back.
    if parts.settings.now.cluster.shares_ports and not (together is not None and together.is_on):
        desk.connections.shut()
        if desk.web is not None:
            desk.web.shut()
    await draining.drain(parts, desk.giver)
    # nodes that drain together end together: clients may still be at a table of another through this one
    if together is not None:
        await together.wait()
    stop.set()


async def _open_web(
    parts: ServerParts,
    connections: Connections,
    tls: Tls | None,
    *,
    tasks: trio.Nursery,
    port: int,
) -> "WebDoor | None":
    """Serve browsers, if the settings say so."""
    if not parts.settings.now.web.listen:
        return None
    # Slow to import, and needed only where it is wanted.
    from truc_server.web import WebDoor

    web = WebDoor(parts, connections, tls)
    await tasks.start(web.run, port)
    return web


async def _stop_when_failed(parts: ServerParts, stop: trio.Event) -> None:
    await parts.failed.wait()
    stop.set()


async def _end(parts: ServerParts, connections: Connections) -> None:
    notify.tell(notify.STOPPING, status="stopping")
    failed = parts.failure is not None
    log.info("stopping", reason="the store has failed" if failed else "asked to")
    # from here on nothing is decided: a gift of a table, or an alarm that rings now, comes to nothing
    parts.journal.close()
    with trio.move_on_after(GOODBYE_S):
        if failed:
            connections.drop_unsent()
            parts.journal.open_gate()
        if not failed:
            connections.send_away(_STOPPED, to=parts.drain.to)
        connections.dismiss(Code.INTERNAL if failed else Code.SHUTTING_DOWN, _STOPPED)
        if not failed:
            await parts.journal.wait_durable(parts.journal.gate)
        await connections.wait_quiet()
        return
    if not parts.journal.is_idle:
        log.warning("store_hangs", reason="the end waits for a commit that does not return")

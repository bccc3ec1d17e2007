"""The door for other nodes: a player whom one of them brings speaks here as if they had connected to this node.

Whoever connects must prove that it has the server's keys (inner_protocol.py). It then names one player, whom it has let
in itself, and from then on the connection is that player's, with the limits, bans and rights that they have here.
Invariants: nobody else gets a byte but a nonce and a proof, and few of them may try at once; a player who is brought
counts against their address's limits at the node they came to, not a second time here; what is asked for here is never
passed on to a third node.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Final

import structlog
import trio

from truc_protocol.errors import Code
from truc_protocol.messages import AnyMessage, Refusal, refusal
from truc_protocol.wire.connection import Failure
from truc_server.cluster.inner_protocol import (
    DoorAnswer,
    LinkSealer,
    Preface,
    StrangerError,
    accept_link,
    answer_preface,
)
from truc_server.lobby import members
from truc_server.net.connections import Connections
from truc_server.net.listening import KERNEL_BYTES, accept, listen_at
from truc_server.net.peer import LoggedInPlayer, Peer, RefusedRequestError
from truc_server.parts import ServerParts
from truc_server.settings.settings import host_and_port

# Who have proved nothing yet, at once. One more is cut, so that a flood of them costs no more than that.
MAX_STRANGERS: Final = 64

log = structlog.get_logger()


async def open_inner(inner: str) -> list[trio.SocketListener]:
    """Listen where other nodes connect: on host:port, or on the path of a socket.

    Raises:
        OSError: That cannot be listened on.
    """
    try:
        if inner.startswith("/"):
            return [await trio.to_thread.run_sync(listen_at, Path(inner))]
        host, port = host_and_port(inner)
        return list(await trio.open_tcp_listeners(port, host=host))
    except OSError as error:
        raise OSError(f"cannot listen on {inner} (cluster.inner): {error.strerror or error}") from error


class InnerDoor:
    """Where other nodes bring players to the tables here; `handle` takes what these say."""

    def __init__(
        self,
        parts: ServerParts,
        connections: Connections,
        handle: Callable[[Peer, AnyMessage | Failure], Awaitable[None]],
    ) -> None:
        self._parts = parts
        self._lobby = parts.lobby
        self._connections = connections
        self._admission = parts.admission
        self._handle = handle
        self._strangers = 0

    async def run(self, listeners: list[trio.SocketListener]) -> None:
        """Let other nodes in, until cancelled."""
        for listener in listeners:  # the connections inherit it
            listener.socket.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_SNDBUF, KERNEL_BYTES)
        try:
            async with trio.open_nursery() as tasks:
                await accept(listeners, self._serve, tasks)
        finally:
            _remove(self._parts.settings.now.cluster.inner)

    async def _serve(self, stream: trio.SocketStream) -> None:
        """Speak with a player whom another node brings, until one of them ends it."""
        try:
            sealer, preface = await self._receive(stream)
            # Only a node gets here, so its word about the address is good.
            why = self._admission.enter_brought(preface.address)
            if why is not None:
                await answer_preface(stream, sealer, _refused(why))
                return
            try:
                await self._let_in(stream, sealer, preface)
            finally:
                self._admission.leave_brought()
        except StrangerError as error:
            self._parts.figures.brought[str(error)] += 1
            log.warning("inner_stranger", reason=str(error))
        except Exception:  # harms no other connection
            log.exception("internal", incident=token_hex(4))

    async def _receive(self, stream: trio.SocketStream) -> tuple[LinkSealer, Preface]:
        if self._strangers >= MAX_STRANGERS:
            raise StrangerError("crowded")
        self._strangers += 1
        try:
            return await accept_link(stream, self._parts.identity.at_rest)
        finally:
            self._strangers -= 1

    async def _let_in(self, stream: trio.SocketStream, sealer: LinkSealer, preface: Preface) -> None:
        player = LoggedInPlayer(preface.kind, preface.player, preface.name)
        # Looked up where the table is, too: the other node may not have heard of a ban yet.
        try:
            members.check_banned(self._parts.sanctions.now, player)
        except RefusedRequestError as error:
            await answer_preface(stream, sealer, _refused(error.refusal(None)))
            return
        if self._lobby.drain.is_on and not self._lobby.has_seat(player):
            away = refusal(Code.SHUTTING_DOWN, "the server is about to be stopped: come back in a moment")
            await answer_preface(stream, sealer, _refused(away))
            return
        await answer_preface(stream, sealer, DoorAnswer())
        self._parts.figures.brought["in"] += 1
        peer = self._brought(stream, sealer, preface)
        # The name that they have there: their client signs with it.
        self._lobby.note_name(player)
        peer.admit(player)
        log.info("brought", node=preface.node, name=player.name, tag=player.tag, address=preface.address)
        self._lobby.enter(peer, player)
        peer.ignored |= set(preface.ignored)
        await self._connections.attend(peer, self._handle)

    def _brought(self, stream: trio.SocketStream, sealer: LinkSealer, preface: Preface) -> Peer:
        peer = Peer(self._parts, stream, preface.address, began=trio.current_time(), sealer=sealer)
        peer.connection.begin_ready()  # hello and login were said to the node that brings them
        peer.wanted = preface.wanted
        return peer


def _remove(inner: str) -> None:
    """Remove the socket of a node that ends, if it is a file."""
    if inner.startswith("/"):
        with suppress(OSError):
            Path(inner).unlink()


def _refused(why: Refusal) -> DoorAnswer:
    return DoorAnswer(code=why.code, msg=why.msg, retry_after_ms=why.retry_after_ms)

"""Sockets: the listeners, and one reader task for each connection.

What is read goes to the reception; what is sent leaves through the flusher. Invariant: no connection outlives its
reader task, and no task or byte is spent on a connection beyond its limits.
"""

import errno
from collections import Counter
from secrets import token_hex
from typing import Final

import structlog
import trio

from truc_protocol.connection import State
from truc_protocol.errors import Code
from truc_protocol.messages import refusal
from truc_server.house import House
from truc_server.lobby import Lobby
from truc_server.peer import LINGER_S, Peer
from truc_server.reception import Reception
from truc_server.settings import Listen

CHUNK: Final = 4_096
_MISSING_FAMILY: Final = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL)

log = structlog.get_logger()


async def open_listeners(listen: Listen) -> list[trio.SocketListener]:
    """Listen on every address of the settings, all on one port.

    Raises:
        OSError: An address cannot be listened on, or none of them exists on this machine.
    """
    port, listeners = listen.port, list[trio.SocketListener]()
    missing: OSError | None = None
    for host in listen.hosts:
        try:
            opened = await trio.open_tcp_listeners(port, host=host)
        except OSError as error:
            if error.errno not in _MISSING_FAMILY:
                raise OSError(f"cannot listen on {host} port {port}: {error.strerror}") from error
            log.warning("address_missing", host=host, reason=error.strerror)
            missing = error
            continue
        listeners += opened
        port = port or port_of(opened)
    if not listeners:
        raise OSError(f"cannot listen on any of {', '.join(listen.hosts)}") from missing
    return listeners


def port_of(listeners: list[trio.SocketListener]) -> int:
    """Return the port that listeners are on."""
    return int(listeners[0].socket.getsockname()[1])


class Net:
    """Every open connection."""

    def __init__(self, house: House, lobby: Lobby) -> None:
        self._house = house
        self._lobby = lobby
        self._reception = Reception(house, lobby)
        self._peers: set[Peer] = set()
        self._addresses: Counter[str] = Counter()

    async def serve(self, stream: trio.SocketStream) -> None:
        """Speak with one client until the connection ends; what fails there harms no other."""
        try:
            await self._serve(stream)
        except Exception:
            log.exception("internal", incident=token_hex(4), address=_address(stream))

    async def _serve(self, stream: trio.SocketStream) -> None:
        address = _address(stream)
        with trio.CancelScope() as scope:
            peer = Peer(self._house, stream, address, scope)
            try:
                self._enter(peer)
                await self._speak(peer)
                with trio.move_on_after(LINGER_S):
                    await peer.outbox.wait_empty()
            finally:
                try:
                    self._leave(peer)
                finally:
                    await trio.aclose_forcefully(stream)

    def _enter(self, peer: Peer) -> None:
        self._peers.add(peer)
        self._addresses[peer.address] += 1
        limits = self._house.settings.limits
        if self._house.bans.has_address(peer.address):
            peer.refuse(refusal(Code.BANNED, "the host has shut this address out"))
        elif len(self._peers) > limits.connections:
            peer.refuse(refusal(Code.SERVER_FULL, f"expected at most {limits.connections} connections"))
        elif self._addresses[peer.address] > limits.connections_per_address:
            most = limits.connections_per_address
            peer.refuse(refusal(Code.SERVER_FULL, f"expected at most {most} connections of one address"))

    def _leave(self, peer: Peer) -> None:
        peer.leave()
        self._peers.discard(peer)
        self._addresses[peer.address] -= 1
        if not self._addresses[peer.address]:
            del self._addresses[peer.address]
        self._lobby.leave_all(peer)

    async def _speak(self, peer: Peer) -> None:
        """Read to the end, or to what fails; then the client is told."""
        try:
            await self._read(peer)
        except Exception:
            incident = token_hex(4)
            log.exception("internal", incident=incident, address=peer.address)
            peer.refuse(refusal(Code.INTERNAL, "the server has failed", detail={"incident": incident}))
            peer.dismiss(Code.INTERNAL, "the server has failed")

    async def _read(self, peer: Peer) -> None:
        while True:
            try:
                received = await peer.outbox.stream.receive_some(CHUNK)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                return
            if not received:
                return
            peer.hear()
            for item in peer.connection.receive(received):
                await self._reception.take(peer, item)

    def dismiss(self, code: Code, message: str) -> None:
        """Say goodbye to everybody."""
        for peer in self._peers:
            if peer.connection.state is not State.CLOSED:
                peer.dismiss(code, message)

    def forget(self) -> None:
        """Drop everything that waits for a store that will not take it."""
        for peer in self._peers:
            peer.outbox.forget()

    async def wait_quiet(self) -> None:
        """Wait until everything that may be sent has been."""
        for peer in tuple(self._peers):
            await peer.outbox.wait_empty()


def _address(stream: trio.SocketStream) -> str:
    try:
        return str(stream.socket.getpeername()[0])
    except OSError:
        return "gone"

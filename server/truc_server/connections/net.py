"""Sockets: the listeners, and one task for each connection.

What is read goes to the reception; what is sent leaves through the flusher. Invariant: no connection outlives its
task, and no task or byte is spent on a connection beyond its limits.
"""

import errno
from secrets import token_hex
from typing import Final

import structlog
import trio
from structlog.contextvars import bind_contextvars

from truc_protocol.errors import Code
from truc_protocol.messages import refusal
from truc_protocol.transport import ALPN
from truc_server.connections.door import Door
from truc_server.connections.meters import network_of
from truc_server.connections.peer import LINGER_S, Peer
from truc_server.connections.reading import Reader
from truc_server.connections.reception import Reception
from truc_server.connections.tls import Encrypted, HandshakeFailedError, MistakenSchemeError
from truc_server.host.settings import Listen, Settings
from truc_server.house import House
from truc_server.keys.certificate import Tls
from truc_server.lobby.lobby import Lobby

KERNEL_BYTES: Final = 65_536
"""What the kernel may keep for who does not read. Linux takes twice as much; untold, it goes up to 4 MiB."""

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
        for listener in opened:  # the connections inherit it
            listener.socket.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_SNDBUF, KERNEL_BYTES)
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

    def __init__(self, house: House, lobby: Lobby, tls: Tls | None = None) -> None:
        self._house = house
        self._tls: Tls | None = None
        self.show(tls)
        self._lobby = lobby
        self._limits = house.settings.limits
        self._door = Door(house)
        self._reception = Reception(house, lobby, self._door)
        self._peers: set[Peer] = set()
        self._goodbye: tuple[Code, str] | None = None

    async def serve(self, stream: trio.SocketStream) -> None:
        """Speak with one client until the connection ends; what fails there harms no other."""
        try:
            await self._serve(stream)
        except Exception:
            log.exception("internal", incident=token_hex(4), address=_address(stream))

    async def _serve(self, stream: trio.SocketStream) -> None:
        address = _address(stream)
        network = network_of(address)
        refused = self._door.enter(address, network)
        try:
            if refused is None:
                await self._let_in(stream, address)
            else:
                await self._door.turn_away(stream, refused)
        finally:
            if refused is None:
                self._door.leave(network)

    async def _let_in(self, stream: trio.SocketStream, address: str) -> None:
        """Agree on encryption first, where there is any; the time for a login runs already."""
        began = trio.current_time()
        if self._tls is None:
            await self._attend(stream, address, began)
            return
        encrypted = await self._encrypt(stream, self._tls, address)
        if encrypted is None:
            self._house.figures.unencrypted += 1
        else:
            await self._attend(stream, address, began, encrypted)

    async def _encrypt(self, stream: trio.SocketStream, tls: Tls, address: str) -> Encrypted | None:
        """Agree with a client on encryption; None if that came to nothing."""
        encrypted, seconds = Encrypted(stream, tls), self._house.settings.limits.login_s
        try:
            with trio.move_on_after(seconds):
                return encrypted if await encrypted.shake_hands() else None
            log.info("not_encrypted", address=address, reason=f"expected a handshake within {seconds} s")
        except MistakenSchemeError as error:
            log.info("not_encrypted", address=address, reason=str(error))
            await self._door.redirect(stream, error.first)
        except HandshakeFailedError as error:
            log.info("not_encrypted", address=address, reason=str(error))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # gone before it was agreed on
        return None

    async def _attend(
        self, stream: trio.SocketStream, address: str, began: float, encrypted: Encrypted | None = None
    ) -> None:
        """Speak with a client that was let in."""
        with trio.CancelScope() as scope:
            peer = Peer(self._house, stream, address, scope, began=began, encrypted=encrypted)
            bind_contextvars(connection=peer.number)
            self._peers.add(peer)
            if self._goodbye is not None:
                peer.dismiss(*self._goodbye)
            elif encrypted is not None and not encrypted.speaks_truc:
                peer.refuse(refusal(Code.UNSUPPORTED, f"expected the protocol name {ALPN} (ALPN) from TLS"))
            try:
                await Reader(self._house, peer, self._reception).run()
                if not peer.outbox.is_empty:
                    scope.deadline = trio.current_time() + LINGER_S
                    await peer.outbox.wait_empty()
            finally:
                self._leave(peer)

    def _leave(self, peer: Peer) -> None:
        peer.leave()
        self._peers.discard(peer)
        self._lobby.leave_all(peer)

    def renew(self, settings: Settings) -> None:
        """Go by other settings from now on, which the house has already; who is connected keeps their pace."""
        if settings.limits != self._limits:
            self._limits = settings.limits
            self._door.renew(settings.limits)
        self._reception.renew()

    def show(self, tls: Tls | None) -> bool:
        """Encrypt with this whoever connects from now on; tell whether it shows another certificate than before."""
        before, self._tls = self._tls, tls
        self._house.figures.certificate_ends = 0 if tls is None else tls.ends
        return tls is not None and (before is None or before.digest != tls.digest)

    def everybody(self) -> tuple[Peer, ...]:
        """Return every connection, logged in or not."""
        return tuple(self._peers)

    def dismiss(self, code: Code, message: str) -> None:
        """Say goodbye to everybody, also to who was accepted at the last moment."""
        self._goodbye = (code, message)
        for peer in self._peers:
            if peer.connection.is_open:
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

"""Sockets: the listeners, and every connection that was let in.

What is read goes to the reception; what is sent leaves through the flusher. A connection has a task while it is turned
away, and while it agrees on encryption. Invariant: no task or byte is spent on a connection beyond its limits.
"""

import errno
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from secrets import token_hex
from typing import Final

import structlog
import trio

from truc_protocol.errors import Code
from truc_protocol.messages import Refusal, refusal
from truc_protocol.wire.transport import ALPN
from truc_server.connections.reading import Reader
from truc_server.house import House
from truc_server.identity.certificate import Tls
from truc_server.lobby.lobby import Lobby
from truc_server.net.accepting import Entrance, plain, stream_of
from truc_server.net.admission import Door
from truc_server.net.peer import Peer
from truc_server.net.tls import Encrypted, HandshakeFailedError, MistakenSchemeError
from truc_server.requests.dispatch import Reception
from truc_server.settings.settings import ListenSettings, Settings
from truc_server.timing.rate_limits import network_of

KERNEL_BYTES: Final = 65_536
"""What the kernel may keep for a client that does not read. Linux takes twice as much; without this, up to 4 MiB."""

_MISSING_FAMILY: Final = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL)

log = structlog.get_logger()


async def open_listeners(listen: ListenSettings) -> list[socket.socket]:
    """Listen on every address of the settings, all on one port.

    Raises:
        OSError: An address cannot be listened on, or none of them exists on this machine.
    """
    port, listeners = listen.port, list[socket.socket]()
    missing: OSError | None = None
    for host in listen.hosts:
        try:
            opened = [plain(listener) for listener in await trio.open_tcp_listeners(port, host=host)]
        except OSError as error:
            if error.errno not in _MISSING_FAMILY:
                raise OSError(f"cannot listen on {host} port {port}: {error.strerror}") from error
            log.warning("address_missing", host=host, reason=error.strerror)
            missing = error
            continue
        for listener in opened:  # the connections inherit it
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, KERNEL_BYTES)
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listeners += opened
        port = port or port_of(opened)
    if not listeners:
        raise OSError(f"cannot listen on any of {', '.join(listen.hosts)}") from missing
    return listeners


def port_of(listeners: list[socket.socket]) -> int:
    """Return the port that listeners are on."""
    return int(listeners[0].getsockname()[1])


class Net:
    """Every open connection."""

    _tasks: trio.Nursery  # for what takes time

    def __init__(self, house: House, lobby: Lobby, tls: Tls | None) -> None:
        self._house = house
        self._tls: Tls | None = None
        self.show(tls)
        self._lobby = lobby
        self._limits = house.settings.limits
        self._door = Door(house)
        self._reception = Reception(house, lobby, self._door)
        self._entrance = Entrance(house.poller, house.timers, self.come)
        self._readers: dict[Peer, Reader] = {}
        self._goodbye: tuple[Code, str] | None = None

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Run what takes time for connections, until cancelled; then close all of them."""
        async with trio.open_nursery() as self._tasks:
            task_status.started()
            try:
                await trio.sleep_forever()
            finally:
                self._close()

    def _close(self) -> None:
        self.shut()
        for reader in tuple(self._readers.values()):
            reader.leave()

    def open(self, listeners: Iterable[socket.socket]) -> None:
        """Let in whoever connects from now on."""
        self._entrance.open(listeners)

    def shut(self) -> None:
        """Let nobody else in."""
        self._entrance.close()

    def come(self, wire: socket.socket, other_end: tuple[str, int] | None) -> None:
        """Speak with a client until the connection ends; what fails there harms no other."""
        if other_end is None:  # how some systems report a client that is gone already
            wire.close()
            return
        with _alone(wire, other_end[0]):
            self._come(wire, other_end[0])

    def _come(self, wire: socket.socket, address: str) -> None:
        network = network_of(address)
        refused = self._door.enter(address, network)
        if refused is not None:
            self._tasks.start_soon(self._turn_away, wire, address, refused)
        elif self._tls is not None:
            self._tasks.start_soon(self._let_in_encrypted, wire, address, self._tls)
        else:
            self._attend(wire, address, trio.current_time())

    async def _turn_away(self, wire: socket.socket, address: str, why: Refusal) -> None:
        with _alone(wire, address):
            stream = stream_of(wire)
            try:
                await self._door.turn_away(stream, why)
            finally:
                stream.socket.close()

    async def _let_in_encrypted(self, wire: socket.socket, address: str, tls: Tls) -> None:
        """Agree on encryption first; the time for the login is running already."""
        with _alone(wire, address):
            began, encrypted, stream = trio.current_time(), None, stream_of(wire)
            try:
                encrypted = await self._encrypt(stream, tls, address)
            finally:
                if encrypted is None:
                    self._house.figures.unencrypted += 1
                    self._door.leave(network_of(address))
                    stream.socket.close()
            if encrypted is not None:
                self._attend(wire, address, began, encrypted)

    async def _encrypt(self, stream: trio.SocketStream, tls: Tls, address: str) -> Encrypted | None:
        """Agree with a client on encryption; None if that came to nothing."""
        encrypted, seconds = Encrypted(tls), self._house.settings.limits.login_s
        try:
            with trio.move_on_after(seconds):
                return encrypted if await encrypted.shake_hands(stream) else None
            log.info("not_encrypted", address=address, reason=f"expected a handshake within {seconds} s")
        except MistakenSchemeError as error:
            log.info("not_encrypted", address=address, reason=str(error))
            await self._door.redirect(stream, error.first)
        except HandshakeFailedError as error:
            log.info("not_encrypted", address=address, reason=str(error))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # gone before it was agreed on
        return None

    def _attend(
        self, wire: socket.socket, address: str, began: float, encrypted: Encrypted | None = None
    ) -> None:
        """Speak with a client that was let in."""
        peer = Peer(self._house, wire, address, began=began, encrypted=encrypted)
        reader = Reader(self._house, peer, self._reception, self._tasks, partial(self._leave, peer))
        self._readers[peer] = reader
        if self._goodbye is not None:
            peer.dismiss(*self._goodbye)
        elif encrypted is not None and not encrypted.speaks_truc:
            peer.refuse(refusal(Code.UNSUPPORTED, f"expected the protocol name {ALPN} (ALPN) from TLS"))
        reader.start()

    def _leave(self, peer: Peer) -> None:
        try:
            del self._readers[peer]
            self._door.leave(peer.network)
            peer.leave()
            self._lobby.leave_all(peer)
        except Exception:
            log.exception("internal", incident=token_hex(4), address=peer.address)

    def renew(self, settings: Settings) -> None:
        """Use these settings, which the house has already, from now on; those who are connected keep their pace."""
        if settings.limits != self._limits:
            self._limits = settings.limits
            self._door.renew(settings.limits)
        self._reception.renew()

    def show(self, tls: Tls | None) -> bool:
        """Encrypt new connections with this from now on; tell whether it shows another certificate than before."""
        before, self._tls = self._tls, tls
        self._house.figures.certificate_ends = 0 if tls is None else tls.ends
        return tls is not None and (before is None or before.digest != tls.digest)

    def everybody(self) -> tuple[Peer, ...]:
        """Return every connection, logged in or not."""
        return tuple(self._readers)

    def dismiss(self, code: Code, message: str) -> None:
        """Say goodbye to everybody, also to those accepted at the last moment."""
        self._goodbye = (code, message)
        for peer in self._readers:
            if peer.connection.is_open:
                peer.dismiss(code, message)

    def forget(self) -> None:
        """Drop everything that waits for a store that will not take it."""
        for peer in self._readers:
            peer.outbox.forget()

    async def wait_quiet(self) -> None:
        """Wait until everything that may be sent has been."""
        for peer in self.everybody():
            await peer.outbox.wait_empty()


@contextmanager
def _alone(wire: socket.socket, address: str) -> Iterator[None]:
    """Close a connection for which something fails that should not; that harms no other."""
    try:
        yield
    except Exception:
        log.exception("internal", incident=token_hex(4), address=address)
        wire.close()

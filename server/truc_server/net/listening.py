"""Sockets that listen: opening them, and a task for each connection that comes.

`trio.serve_listeners` would do, but it reports a system that can open no more by a traceback ten times a second.
Invariant: while nobody can be accepted, for whatever reason, those who are connected notice nothing.
"""

import errno
import ipaddress
import socket
import stat
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, NoReturn

import structlog
import trio

from truc_server.settings.settings import ListenSettings

KERNEL_BYTES: Final = 65_536
"""What the kernel may keep for a client that does not read. Linux takes twice as much; without this, up to 4 MiB."""
AGAIN_S: Final = 0.1  # after the system could accept nobody; as long as `trio.serve_listeners` sleeps then
CHUNK: Final = 4_096  # bytes read at once
_READS: Final = 16  # of what comes after the last word
_BACKLOG: Final = 16  # on a path; whoever comes there is let in at once

MISSING_ADDRESS: Final = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL)
"""What a machine without IPv6 says, which serves IPv4 all the same: by default both are listened on."""

_IPV4: Final = 4

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Serve = Callable[[trio.SocketStream], Awaitable[None]]

log = structlog.get_logger()


async def open_tcp(host: str, port: int, *, is_shared: bool) -> list[trio.SocketListener]:
    """Listen on every address of a host; a shared port may be listened on by other processes of this user too.

    Raises:
        OSError: It cannot be listened on.
    """
    if not is_shared:
        return list(await trio.open_tcp_listeners(port, host=host))
    # `trio.open_tcp_listeners` cannot set SO_REUSEPORT.
    found = await trio.socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE | socket.AI_ADDRCONFIG
    )
    listeners: list[trio.SocketListener] = []
    try:
        for family, _, _, _, address in found:
            listeners.append(_listen_with_others(family, address))
    except OSError:
        for listener in listeners:
            listener.socket.close()
        raise
    return listeners


def _listen_with_others(family: int, address: tuple[object, ...]) -> trio.SocketListener:
    """Listen on an address beside other processes; the system gives each of them a share of who connects."""
    listener = bound_socket(family, address, is_shared=True)
    try:
        listener.listen(socket.SOMAXCONN)
    except OSError:
        listener.close()
        raise
    return trio.SocketListener(trio.socket.from_stdlib_socket(listener))


def bound_socket(family: int, address: tuple[object, ...], *, is_shared: bool) -> socket.socket:
    """Return a socket that has an address, which nobody can connect to yet; other processes of this user may share it.

    Raises:
        OSError: The address is not to be had.
    """
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        # connections of a server that has just ended keep nobody from the port
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if is_shared:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            # Else "::" would take IPv4 as well, for which "0.0.0.0" has a socket of its own.
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        bound.bind(address)
    except OSError:
        bound.close()
        raise
    return bound


async def open_listeners(listen: ListenSettings, *, is_shared: bool = False) -> list[trio.SocketListener]:
    """Listen on every address of the settings, all on one port, which may be shared.

    Raises:
        OSError: An address cannot be listened on, or none of them exists on this machine.
    """
    port, listeners = listen.port, list[trio.SocketListener]()
    missing: OSError | None = None
    for host in listen.hosts:
        try:
            opened = await open_tcp(host, port, is_shared=is_shared)
        except OSError as error:
            if error.errno not in MISSING_ADDRESS:
                raise OSError(f"cannot listen on {host} port {port}: {error.strerror}") from error
            log.warning("address_missing", host=host, reason=error.strerror)
            missing = error
            continue
        for listener in opened:  # the connections inherit it
            listener.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, KERNEL_BYTES)
        listeners += opened
        # Port 0 takes a free one for the first address; the others must be reached at the same.
        port = port or port_of(opened)
    if not listeners:
        raise OSError(f"cannot listen on any of {', '.join(listen.hosts)}") from missing
    return listeners


def listen_at(path: Path) -> trio.SocketListener:
    """Listen on a path, for this user alone; the socket of a server that is gone is removed.

    Raises:
        OSError: Somebody listens there, something that is no socket is there, or the system refuses.
    """
    if path.exists() or path.is_symlink():
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise OSError("expected a socket or nothing there, got something else")
        # A killed server leaves its socket behind: only if nobody answers there may it go.
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as tried, suppress(ConnectionRefusedError):
            tried.connect(str(path))
            raise OSError(errno.EADDRINUSE, "another program listens there")
        path.unlink()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        path.chmod(0o600)  # before it listens: nobody can have come in
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    return trio.SocketListener(trio.socket.from_stdlib_socket(listener))


def port_of(listeners: list[trio.SocketListener]) -> int:
    """Return the port that listeners are on."""
    return int(listeners[0].socket.getsockname()[1])


def place_from_here(listeners: Iterable[trio.SocketListener]) -> str:
    """Return HOST:PORT by which this machine reaches a server: on its loopback, or else wherever the server listens."""
    found = [listener.socket.getsockname()[:2] for listener in listeners]
    hosts = [(_from_here(ipaddress.ip_address(host)), port) for host, port in found]
    host, port = next((place for place in hosts if place[0].is_loopback), hosts[0])
    return f"{host}:{port}" if host.version == _IPV4 else f"[{host}]:{port}"


def _from_here(address: _Address) -> _Address:
    """Return an address that a server on this machine is reached by, given the one that it listens on."""
    if not address.is_unspecified:
        return address
    return ipaddress.ip_address("127.0.0.1" if address.version == _IPV4 else "::1")


async def accept(listeners: Iterable[trio.SocketListener], serve: Serve, tasks: trio.Nursery) -> None:
    """Give each connection that comes a task in `tasks` that serves it and then closes it; until cancelled."""
    async with trio.open_nursery() as doors:
        for listener in listeners:
            doors.start_soon(_accept, listener, serve, tasks)


async def _accept(listener: trio.SocketListener, serve: Serve, tasks: trio.Nursery) -> NoReturn:
    async with listener:
        while True:
            try:
                tasks.start_soon(_serve_and_close, serve, await listener.accept())
            except ConnectionAbortedError:
                pass  # the newcomer is gone
            except OSError as error:
                # No more can be opened; or the system tells here what became of one newcomer (EPROTO, EPERM,
                # ETIMEDOUT and more). Ending for either would cut everybody who is connected.
                await _pause(error)


async def _pause(error: OSError) -> None:
    """Accept nobody for a moment."""
    log.error("cannot_accept", reason=error.strerror)
    await trio.sleep(AGAIN_S)


async def _serve_and_close(serve: Serve, stream: trio.SocketStream) -> None:
    try:
        await serve(stream)
    finally:
        stream.socket.close()


async def half_close(stream: trio.SocketStream) -> None:
    """End what is sent, and read a little of what still comes."""
    await stream.send_eof()
    # A close with bytes unread is sent as a reset (RFC 1122, 4.2.2.13), at which the other end may drop what
    # it has not read yet: the last words. Whoever never stops sending is closed on all the same.
    for _ in range(_READS):
        if not await stream.receive_some(CHUNK):
            return

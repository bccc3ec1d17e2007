"""What `truc-server check` says about addresses, ports and the machine's clock.

A port is tried by listening on it for a moment, and only if no server is running in the data folder. Invariant: what was
tried is given back.
"""

import errno
import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from truc_server.admin.address import MAX_PATH
from truc_server.identity.links import is_any, is_local
from truc_server.settings.findings import Finding, note, right, wrong
from truc_server.settings.folder import Folder
from truc_server.settings.settings import Settings

_YEAR: Final = 2026  # no machine that runs this is in an earlier one
_MISSING: Final = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL)
_SLACK_S: Final = 60  # by which a file may seem newer than now


class Place(NamedTuple):
    """Where something listens, and in which section of the settings that is; alone if it is the section's only one."""

    section: str
    host: str
    port: int
    is_alone: bool = True

    @property
    def setting(self) -> str:
        """The setting that names the address."""
        return "listen.hosts" if self.section == "listen" else "metrics.host"

    def __str__(self) -> str:
        return f"{self.section}: port {self.port} of {self.host}"


def look_at_name(settings: Settings) -> Iterator[Finding]:
    """Look at the address that players are told."""
    public, port = settings.listen.public_host, settings.listen.port
    if is_local(settings):
        yield note(
            "listen.public_host: not set, so invites lead to this machine only; set the name that players use"
        )
    if public and settings.access.moved_to == f"{public}:{port}":
        yield wrong(
            "access.moved_to: is this server itself, and everybody would be sent in a circle: take it out"
        )


def look_at_ports(settings: Settings) -> Iterator[Finding]:
    """Try to listen where the server will, on every address."""
    for host in settings.listen.hosts:
        yield from _try(Place("listen", host, settings.listen.port, len(settings.listen.hosts) == 1))
    if settings.metrics.port:
        yield from _try(Place("metrics", settings.metrics.host, settings.metrics.port))


def look_at_socket(folder: Folder) -> Iterator[Finding]:
    """Check that the path of the socket of `truc-server admin` is short enough."""
    length = len(os.fsencode(folder.admin_socket.absolute()))
    if length > MAX_PATH:
        yield wrong(
            f"data folder: {folder.admin_socket.absolute()} has {length} bytes, and the system takes {MAX_PATH} for a"
            " socket: truc-server admin will not work; choose a folder with a shorter name"
        )


def look_at_clock(folder: Folder, now: float) -> Finding:
    """Check that the clock is not behind what has happened; `now` is Unix time in seconds."""
    if datetime.fromtimestamp(now, UTC).year < _YEAR:
        return wrong(f"clock: it says {_moment(now)}: set it, bans, invites and changes of the key go by it")
    newest = max((_changed(path) for path in (folder.database, folder.rolls, folder.identity)), default=0.0)
    if newest > now + _SLACK_S:
        return wrong(
            f"clock: it says {_moment(now)}, but the data folder was changed at {_moment(newest)}: set it"
        )
    return right(f"clock: {_moment(now)}")


def _changed(path: Path) -> float:
    with suppress(OSError):
        return path.stat().st_mtime
    return 0.0


def _moment(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"


def _try(place: Place) -> Iterator[Finding]:
    try:
        found = socket.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        yield wrong(
            f"{place.section}: {place.host} is no address of this machine: {error.strerror}; change {place.setting}"
        )
        return
    for family, kind, protocol, _, address in found:
        try:
            with socket.socket(family, kind, protocol) as tried:
                tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    tried.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                tried.bind(address)
                tried.listen()
        except OSError as error:
            yield _why(place, error)


def _why(place: Place, error: OSError) -> Finding:
    if error.errno == errno.EADDRINUSE:
        return wrong(f"{place} is in use by another program: stop it, or change {place.section}.port")
    if error.errno == errno.EACCES:
        return wrong(
            f"{place} may not be listened on by this user: choose one above 1023 as {place.section}.port"
        )
    if error.errno in _MISSING and is_any(place.host) and not place.is_alone:
        return note(f"{place.section}: this machine has no such address as {place.host}")  # the others serve
    return wrong(f"{place} cannot be listened on: {error.strerror}; change {place.setting}")

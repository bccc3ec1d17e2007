"""Reading settings and certificate again while the server runs: what holds from now on, and what waits for a start.

Invariants: if anything is wrong, nothing changes; what a match or a table has agreed on stays as it was, and so does the
encryption of a connection.
"""

import sys
import time
from typing import TYPE_CHECKING, Final

import structlog
import trio
from msgspec.structs import replace

from truc_server.admin.requests import AdminError, Answer
from truc_server.house import House
from truc_server.identity.certificate import Tls, TlsError, open_tls, open_web_tls
from truc_server.lobby.lobby import Lobby
from truc_server.net.connections import Connections
from truc_server.operation import logs
from truc_server.settings.folder import Folder
from truc_server.settings.setting_keys import KEYS
from truc_server.settings.settings import Settings, SettingsError
from truc_server.settings.settings_file import value_of
from truc_server.upkeep.control import Control
from truc_server.upkeep.sanction_watch import Upkeep

if TYPE_CHECKING:
    from truc_server.web.listen import WebDoor

FIXED: Final = (
    "data",
    "grease",
    "listen.hosts",
    "listen.port",
    "listen.tls",
    "metrics.",
    "web.listen",
    "web.origin",
    "store.url",
    "store.passphrase_file",
    "access.moved_to",
    "limits.connections",
    "tables.drain_s",
    "cluster.",
)
"""What only a start can change: these settings, and those of these sections."""

log = structlog.get_logger()


async def reload(
    house: House,
    lobby: Lobby,
    connections: Connections,
    upkeep: Upkeep,
    control: Control,
    *,
    folder: Folder,
    web: "WebDoor | None",
) -> Answer:
    """Read the settings and the certificate again, and apply what can change now; return what has, and what could not.

    Raises:
        AdminError: Something is wrong with them, and nothing has changed.
    """
    try:
        wanted = await trio.to_thread.run_sync(control.reread)
    except SettingsError as error:
        raise AdminError(f"{error}; nothing has changed") from error
    before = house.settings.now
    taken = changeable(before, wanted)
    tls, web_tls = await _open_tls(taken, folder)
    changed, left = differing(before, taken), differing(taken, wanted)
    house.renew(taken)
    lobby.renew(taken)
    connections.renew(taken)
    if web is not None:
        web.tls = web_tls
    until_ms = tls.ends * 1_000 if connections.show(tls) and tls is not None else None
    await house.disk.look()
    if taken.log != before.log:
        logs.configure(taken.log, sys.stderr)
    log.info("reloaded", changed=changed, left=left, certificate=until_ms is not None)
    upkeep.heed()
    return {"changed": changed, "left": left, "certificate_until_ms": until_ms}


async def _open_tls(settings: Settings, folder: Folder) -> tuple[Tls | None, Tls | None]:
    """Return what the connections of programs and of browsers are encrypted with."""
    now = int(time.time())
    try:
        tls = await trio.to_thread.run_sync(open_tls, settings.listen, folder, now)
        return tls, await trio.to_thread.run_sync(open_web_tls, settings.web, now)
    except (TlsError, OSError) as error:
        raise AdminError(f"TLS: {error}; nothing has changed") from error


def changeable(before: Settings, wanted: Settings) -> Settings:
    """Return the wanted settings, except those that only a start can change, which stay as before."""
    taken = wanted
    for name in filter(is_fixed, KEYS):
        taken = _with(taken, name, value_of(before, name))
    return taken


def is_fixed(name: str) -> bool:
    """Tell whether only a start can change a setting."""
    return any(name == fixed or (fixed.endswith(".") and name.startswith(fixed)) for fixed in FIXED)


def differing(one: Settings, other: Settings) -> list[str]:
    """Return the names of the settings that differ."""
    return [name for name in KEYS if value_of(one, name) != value_of(other, name)]


def _with(settings: Settings, name: str, value: object) -> Settings:
    section, _, field = name.rpartition(".")
    changed = {field: value}
    if section:
        changed = {section: replace(value_of(settings, section), **changed)}
    return replace(settings, **changed)

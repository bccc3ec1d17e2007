"""Where the host's commands are carried out; each is answered once it is in force.

Settings and certificate are read again here too: what applies from now on, and what waits for the next start.
Invariants: before a command is answered, what it changes is in force, and in the store if it is to last; if anything is
wrong with new settings, nothing changes; what a match or a table has agreed on stays as it was, and so does the
encryption of a connection.
"""

import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Final, NamedTuple

import structlog
import trio
from msgspec.structs import replace

from truc_protocol.errors import Code
from truc_server.admin import requests
from truc_server.admin.requests import MOST_ROWS, AdminError, Answer
from truc_server.identity.certificate import Tls, TlsError, open_tls, open_web_tls
from truc_server.lobby.lobby import Lobby
from truc_server.metrics.measures import why_behind
from truc_server.net.connections import Connections
from truc_server.net.peer import Peer, RefusedRequestError
from truc_server.net.sanctions import imposed_now, setting_naming
from truc_server.operation import logs
from truc_server.parts import ServerParts
from truc_server.requests.moderating import say_to_all
from truc_server.settings.folder import Folder
from truc_server.settings.in_force import Control
from truc_server.settings.settings import Settings, SettingsError
from truc_server.settings.settings_file import KEYS, value_of
from truc_server.settings.subjects import Subjects, normal_subject
from truc_server.storage import SanctionKind
from truc_server.tables.table import Table
from truc_server.timing.clock import now_ms
from truc_server.upkeep import draining
from truc_server.upkeep.draining import GivingError, TableGiver
from truc_server.upkeep.sanction_watch import SanctionWatch


def page(found: Iterable[Answer]) -> Answer:
    """Return an answer with at most as many rows as it may have, and how many were left out."""
    rows = list(found)
    return {"rows": rows[:MOST_ROWS], "left_out": len(rows[MOST_ROWS:])}


def connections(everybody: Iterable[Peer], lobby: Lobby, text: str) -> Iterator[Answer]:
    """Return a row for each connection, oldest first; with `text`, only for those that contain it."""
    codes = frozenset(table.code for table in lobby.tables())
    for peer in sorted(everybody, key=lambda peer: peer.number):
        row = _connection(peer, lobby, codes)
        if _has(text, row["name"], row["tag"], row["address"]):
            yield row


def _connection(peer: Peer, lobby: Lobby, codes: frozenset[str]) -> Answer:
    player = peer.player
    is_bot = player is not None and lobby.bot_calls.is_bot(player)
    return {
        "connection": peer.number,
        "name": None if player is None else player.name,
        "tag": None if player is None else player.tag,
        "kind": None if player is None else "bot" if is_bot else str(player.kind),
        "address": peer.address,
        "since_ms": now_ms() - int((trio.current_time() - peer.since) * 1000),
        "tables": sorted(peer.tables & codes),  # a connection is not told of every table that closes
    }


def tables(lobby: Lobby, text: str) -> Iterator[Answer]:
    """Return a row for each table, by code; with `text`, only for those that contain it."""
    for table in sorted(lobby.tables(), key=lambda table: table.code):
        row = _table(table)
        names = [seat["name"] for seat in _seats(table)]
        if _has(text, row["table"], row["state"], row["variant"], *names):
            yield row


def _table(table: Table) -> Answer:
    blueprint, game = table.blueprint, table.game
    return {
        "table": table.code,
        "private": blueprint.private,
        "state": table.board.state,
        "variant": blueprint.chosen.variant.name,
        "mode": blueprint.chosen.mode,
        "seats": _seats(table),
        "watchers": len(table.audience.watchers),
        "since_ms": blueprint.created_ms,
        "match": None if table.board.match is None else table.board.match.hex(),
        "records": None if game is None else game.ledger.k,
        "hands": None if game is None else game.ledger.deal_index,
    }


def _seats(table: Table) -> list[Answer]:
    return [
        {
            "seat": seat,
            "name": None if seated is None else seated.player.name,
            "tag": None if seated is None else seated.player.tag,
            "online": seat in table.audience.online,
        }
        for seat, seated in enumerate(table.board.seats)
    ]


def _has(text: str, *words: object) -> bool:
    return not text or any(text.lower() in str(word).lower() for word in words if word is not None)


def cluster(parts: ServerParts) -> Answer:
    """Return what the database says about its nodes; blocks.

    Raises:
        StoreError: It says nothing.
    """
    me, lease_ms = parts.lease.owner, 1_000 * parts.settings.now.cluster.lease_s
    rows = [
        {
            "node": node.name,
            "here": node.name == me,
            "epoch": node.epoch,
            "came_under": node.claimed,
            "left_ms": node.left_ms,
            "renewed_ms": None if node.left_ms is None else max(0, lease_ms - node.left_ms),
            "tables": node.tables,
            "version": node.place.version,
            "draining": node.draining,
            "public": node.place.public,
            "inner": node.place.inner,
            "since_ms": node.started_ms,
        }
        for node in parts.store.nodes()
    ]
    return {"nodes": rows, "lease_ms": lease_ms, "unowned": parts.store.count_unowned()}


if TYPE_CHECKING:
    from truc_server.web import WebDoor

_SANCTIONS: Final[Mapping[type[requests.AdminRequest], SanctionKind]] = {
    requests.Ban: SanctionKind.BAN,
    requests.Unban: SanctionKind.BAN,
    requests.Mute: SanctionKind.MUTE,
    requests.Unmute: SanctionKind.MUTE,
}
_VERSION: Final = version("truc")  # read from a file, which cannot be opened when too many are

log = structlog.get_logger()


class Desk(NamedTuple):
    """One running server, in the hands of its host."""

    parts: ServerParts
    connections: Connections
    sanction_watch: SanctionWatch
    control: Control
    folder: Folder
    port: int
    since_ms: int
    web: "WebDoor | None" = None
    giver: TableGiver | None = None

    async def do(self, request: requests.AdminRequest) -> Answer:
        """Do what the host asks, and return the answer.

        Raises:
            AdminError: It cannot be done.
            StoreError: The store has not taken it.
        """
        match request:
            case requests.Who() | requests.FindTables():
                return self._list(request)
            case requests.Kick(subject):
                return self._kick(self._subject(subject))
            case requests.Ban(subject, hours) | requests.Mute(subject, hours):
                return await self._impose(_SANCTIONS[type(request)], self._subject(subject), hours)
            case requests.Unban(subject) | requests.Unmute(subject):
                return await self._lift(_SANCTIONS[type(request)], self._subject(subject))
            case requests.CloseTable(table):
                return self._close(table)
            case requests.SayToAll(text):
                return self._say(text)
            case requests.Drain(node) if node in ("", self.parts.settings.now.cluster.node):
                return self._drain()
            case requests.MoveTable() | requests.ShowCluster() | requests.Drain():
                return await self._of_cluster(request)
            case requests.Reload():
                return await self.reload()
            case requests.Status():
                return self._status()

    def _list(self, request: requests.Who | requests.FindTables) -> Answer:
        if isinstance(request, requests.FindTables):
            return page(tables(self.parts.lobby, request.text))
        return page(connections(self.connections.everybody(), self.parts.lobby, request.text))

    async def _impose(self, kind: SanctionKind, subject: str, hours: int | None) -> Answer:
        sanction = imposed_now(subject, kind, hours)
        # counted before: the look below cuts them off
        met = sum(_is_met(Subjects.of([subject]), peer) for peer in self.connections.everybody())
        await trio.to_thread.run_sync(self.parts.store.impose, sanction)
        await self.sanction_watch.reread()
        return {"subject": subject, "until_ms": sanction.until_ms, "connections": met}

    async def _lift(self, kind: SanctionKind, subject: str) -> Answer:
        was_imposed = await trio.to_thread.run_sync(self.parts.store.lift, subject, kind)
        await self.sanction_watch.reread()
        # lifted all the same: what the settings say only they can take back
        if named := setting_naming(self.parts.settings.now.access, subject, kind):
            raise AdminError(f"{subject} stands in {named}: take it out of the settings, then reload")
        if not was_imposed:
            raise AdminError(
                f"{subject} was not {'banned' if kind is SanctionKind.BAN else 'muted'} by command"
            )
        return {"subject": subject}

    def _subject(self, written: str) -> str:
        """Return whom the host means: as sanctions name them, or who is connected by that number or name in `who`.

        Raises:
            AdminError: It is nobody.
        """
        found = normal_subject(written)
        if found is not None:
            return found
        everybody = self.connections.everybody()
        if written.isascii() and written.isdigit():
            meant = next((peer for peer in everybody if peer.number == int(written)), None)
        else:
            name = written.casefold()
            meant = next(
                (peer for peer in everybody if peer.player and peer.player.name.casefold() == name), None
            )
        if meant is None:
            expected = "a number or a name in `who`, a fingerprint, a key, the tag of a guest, an address or a network"
            raise AdminError(f"expected {expected}, got {written!r}")
        # the tag, so that the log says who it was: numbers and names may be somebody else's tomorrow
        return meant.address if meant.player is None else meant.player.tag

    def _kick(self, subject: str) -> Answer:
        meant = Subjects.of([subject])
        peers = tuple(peer for peer in self.connections.everybody() if peer.is_open and _is_met(meant, peer))
        if not peers:
            raise AdminError(f"nobody is connected who is {subject}")
        for peer in peers:
            peer.dismiss(Code.KICKED, "the host has ended this connection; you may come back")
        return {"subject": subject, "connections": len(peers)}

    def _close(self, code: str) -> Answer:
        try:
            table = self.parts.lobby.table(code)
        except RefusedRequestError as error:
            raise AdminError(error.message) from error
        was = table.board.state
        is_closed = table.close_for_host()
        return {"table": table.code, "was": was, "closed": is_closed}

    async def _of_cluster(
        self, request: requests.MoveTable | requests.ShowCluster | requests.Drain
    ) -> Answer:
        if self.giver is None:
            raise AdminError("this server is no node of a cluster: cluster.node is empty")
        if isinstance(request, requests.ShowCluster):
            return await trio.to_thread.run_sync(cluster, self.parts)
        try:
            if isinstance(request, requests.Drain):
                await self.giver.let_drain(request.node)
                return {"node": request.node, "hands": None, "seconds": None, "before": False}
            moved = await self.giver.move(request.table, request.node)
        except GivingError as error:
            raise AdminError(str(error)) from error
        return {"table": moved.code, "node": request.node, "owner": moved.owner, "waits": moved.waits}

    def _say(self, text: str) -> Answer:
        try:
            return {"connections": say_to_all(self.parts.lobby, text)}
        except RefusedRequestError as error:
            raise AdminError(error.message) from error

    def _drain(self) -> Answer:
        was_asked = self.control.drain.is_set()
        self.control.drain.set()
        hands = draining.hands_under_way(self.parts.lobby)
        return {
            "node": None,
            "hands": hands,
            "seconds": self.parts.settings.now.tables.drain_s,
            "before": was_asked,
        }

    async def reload(self) -> Answer:
        """Read the settings and the certificate again, and apply what can change now; return what has, and what could not.

        Raises:
            AdminError: Something is wrong with them, and nothing has changed.
        """
        parts, web = self.parts, self.web
        async with parts.reloading:
            try:
                wanted = await trio.to_thread.run_sync(self.control.reread)
            except SettingsError as error:
                raise AdminError(f"{error}; nothing has changed") from error
            before = parts.settings.now
            taken = changeable(before, wanted)
            # the last thing that can be wrong: until here nothing has changed
            tls, web_tls = await _open_tls(taken, self.folder)
            changed, left = differing(before, taken), differing(taken, wanted)
            parts.settings.now = taken
            if web is not None:
                web.tls = web_tls
                if taken.name != before.name:
                    await web.renew(taken)
            until_ms = tls.ends * 1_000 if self.connections.use_tls(tls) and tls is not None else None
            # `store.spare_mb` may be another: by the answer it is in force
            await parts.disk.look()
            if taken.log != before.log:
                logs.configure(taken.log, sys.stderr)
            log.info("reloaded", changed=changed, left=left, certificate=until_ms is not None)
            self.sanction_watch.enforce()
            return {"changed": changed, "left": left, "certificate_until_ms": until_ms}

    def _status(self) -> Answer:
        parts, tables = self.parts, self.parts.lobby.tables()
        return {
            "name": parts.settings.now.name,
            "version": _VERSION,
            "fingerprint": parts.identity.fingerprint,
            "port": self.port,
            "web": self.web and self.web.origin,
            "since_ms": self.since_ms,
            "connections": len(self.connections.everybody()),
            "players": len(self.parts.lobby.online),
            "tables": len(tables),
            "playing": sum(table.board.state == "playing" for table in tables),
            "hands": draining.hands_under_way(self.parts.lobby),
            "bots": {
                "started": len(self.parts.lobby.bot_calls.started),
                "connected": self.parts.lobby.bot_calls.count_connected(),
            },
            "draining": parts.drain.is_on or self.control.drain.is_set(),
            "store": self._store_state(),
        }

    def _store_state(self) -> str:
        if self.parts.failure is not None:
            return "failed"
        if self.parts.disk.is_nearly_full:
            return "disk nearly full"
        return why_behind(self.parts.journal) or "ok"


def _is_met(meant: Subjects, peer: Peer) -> bool:
    return meant.has_address(peer.address) or (peer.player is not None and peer.player.tag in meant.tags)


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

"""What a page asks before it logs in: whether it would be let in, what a table is like, how the server is.

Invariant: no name is told that a player could not be told in the lobby, and of a private table nothing without its whole
code.
"""

import json
from datetime import UTC, datetime
from http import HTTPStatus
from importlib.metadata import version
from typing import Final

import msgspec
import trio

from truc_protocol.codec import unpack
from truc_protocol.messages import Refusal
from truc_protocol.wire.encoding import encode
from truc_server.house import House
from truc_server.lobby.lobby import Lobby
from truc_server.net.peer import RefusedError
from truc_server.operation.figures import WEB_PATHS
from truc_server.timing.clock import now_ms
from truc_web.serving.pages import Answer, data, refused, text

PAGE, FILE, SOCKET, DOOR, TABLE, STATUS, REPORT, OTHER = WEB_PATHS
FRESH_S: Final = 1.0  # during which what was told is told to others too
PACE_S: Final = 5.0  # to wait for a table at most
_VERSION: Final = version("truc")
_CACHED: Final = "public, max-age=1"


class Reception:
    """What one server says to those who are not logged in."""

    def __init__(self, house: House, lobby: Lobby, tree: str) -> None:
        self._house = house
        self._lobby = lobby
        self._tree = tree
        self._since_ms = now_ms()
        self._told: dict[str, object] = {}
        self._moment = float("-inf")

    async def find(self, path: str, network: str) -> tuple[str, Answer] | None:
        """Return what a path asks about, and the answer; None if it asks nothing here."""
        if path.startswith("/t/") and path.endswith(".json"):
            return TABLE, await self.table(path[3:-5], network)
        if path in ("/status", "/status.json"):
            return STATUS, self.status(as_data=path != "/status")
        if path.startswith("/report/"):
            return REPORT, report(path[8:].removesuffix(".truc"))
        return None

    async def table(self, code: str, network: str) -> Answer:
        """Say what a table is like, to whoever has its code."""
        with trio.move_on_after(PACE_S) as patience:
            await self._house.pace.wait_page(network)
        if patience.cancelled_caught:
            retry = ("Retry-After", "1")
            return refused(HTTPStatus.TOO_MANY_REQUESTS, "too many tables were asked for", retry, why="pace")
        try:
            table = self._lobby.table(code)
        except RefusedError:
            # a page asks for tables that are gone, too: no mistake that a browser should tell of
            return data(b"null")
        return data(msgspec.json.encode(unpack(encode(table.feed.shown_notice()))))

    def status(self, *, as_data: bool) -> Answer:
        """Say how the server is, if the host wants it told."""
        if not self._house.settings.now.web.status:
            return refused(HTTPStatus.NOT_FOUND, "the host does not tell how this server is")
        if trio.current_time() >= self._moment + FRESH_S:
            self._moment, self._told = trio.current_time(), self._read()
        if as_data:
            return data(json.dumps(self._told).encode(), _CACHED)
        lines = "\n".join(f"{name}: {value}" for name, value in self._told.items())
        return text(lines)

    def _read(self) -> dict[str, object]:
        since = datetime.fromtimestamp(self._since_ms // 1000, UTC)
        return {
            "name": self._house.settings.now.name,
            "up_since": since.isoformat().replace("+00:00", "Z"),
            "players": len(self._lobby.presence),
            "tables": len(self._lobby.tables()),
            "version": _VERSION,
            "tree": self._tree,
            "draining": self._house.drain.is_on,
        }


def door(why: Refusal | None) -> Answer:
    """Say whether a connection would be let in now."""
    told = {"code": why and str(why.code), "retry_after_ms": why and why.retry_after_ms}
    return data(json.dumps(told).encode())


def report(match: str) -> Answer:
    """Say where a record is to be had instead."""
    return refused(HTTPStatus.NOT_FOUND, f"records are fetched by whoever may see them: open /m/{match}")

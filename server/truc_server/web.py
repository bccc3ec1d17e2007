"""The port for browsers: a task for each connection, what it may use up, and where each request goes.

A page load is no login: HTTP has limits of its own, and a WebSocket leaves them and enters those of every connection
(net/admission.py). Invariants: nothing is answered to another host or origin; a connection that nobody serves yet costs
no more than the limits here, and when all places are taken the one that has waited longest makes room; nothing that a
client writes of its address is believed unless a proxy of the host's stands right of it. A page that has not logged in
is told no name that a player would not be told in the lobby, and nothing about a private table without its whole code.
"""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from importlib.metadata import version
from ipaddress import ip_address
from secrets import token_hex
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import h11
import msgspec
import structlog
import trio

from truc_protocol.codec import unpack
from truc_protocol.errors import Code
from truc_protocol.messages import Refusal
from truc_protocol.wire.encoding import encode
from truc_protocol.wire.transport import WEBSOCKET_PATH, origin_binding, scheme
from truc_server.identity.certificate import Tls
from truc_server.net.connections import Connections
from truc_server.net.listening import KERNEL_BYTES, accept, open_tcp
from truc_server.net.peer import Peer
from truc_server.net.tls import HandshakeFailedError, MistakenSchemeError, TlsSealer
from truc_server.operation.figures import WEB_PATHS
from truc_server.parts import ServerParts
from truc_server.settings.settings import ListenSettings, Settings, WebSettings
from truc_server.settings.subjects import Subjects
from truc_server.timing.clock import now_ms
from truc_server.timing.rate_limits import Meter, network_of
from truc_web.serving.http_connection import HEADER_S, Asked, HttpConnection
from truc_web.serving.pages import CLOSE, Headers, PageAnswer, Pages, data, is_page, refused, text, values_of
from truc_web.serving.requests import accept_upgrade, malformed, objection, open_loopback, path_of
from truc_web.serving.sealer import WebSocketSealer
from truc_web.tree import read_tree

# Each proxy adds on the right the address that called it; further left anybody can have written.
_FORWARDED: Final = b"x-forwarded-for"


def address_beside(listen: ListenSettings, origin: str, port: int, fingerprint: str) -> str:
    """Return the address for programs of the server that browsers know by an origin."""
    host = urlsplit(origin).hostname or ""
    place = f"[{host}]" if ":" in host else host
    return f"{scheme(is_tls=listen.tls)}{place}:{port}#{fingerprint}"


def client_of(address: str, headers: Headers, proxies: Subjects) -> str:
    """Return where a request comes from: the rightmost address on its way that is not one of the host's proxies."""
    found = address
    way = [hop.strip() for value in values_of(headers, _FORWARDED) for hop in value.split(",")]
    while way and proxies.has_address(found):
        hop = way.pop()
        try:
            found = str(ip_address(hop))
        except ValueError:
            break  # the last that is known
    return found


PAGE, FILE, SOCKET, DOOR, TABLE, STATUS, REPORT, OTHER = WEB_PATHS
FRESH_S: Final = 1.0  # during which what was told is told to others too
PACE_S: Final = 5.0  # to wait for a table at most
_VERSION: Final = version("truc")
_CACHED: Final = "public, max-age=1"


class PublicDesk:
    """What one server says to those who are not logged in."""

    def __init__(self, parts: ServerParts, tree: str) -> None:
        self._parts = parts
        self._lobby = parts.lobby
        self._tree = tree
        self._since_ms = now_ms()
        self._told: dict[str, object] = {}
        self._moment = float("-inf")

    async def find(self, path: str, network: str) -> tuple[str, PageAnswer] | None:
        """Return what a path asks about, and the answer; None if it asks nothing here."""
        if path.startswith("/t/") and path.endswith(".json"):
            return TABLE, await self.table(path[3:-5], network)
        if path in ("/status", "/status.json"):
            return STATUS, self.status(as_data=path != "/status")
        if path.startswith("/report/"):
            return REPORT, report(path[8:].removesuffix(".truc"))
        return None

    async def table(self, code: str, network: str) -> PageAnswer:
        """Say what a table is like, to whoever has its code."""
        with trio.move_on_after(PACE_S) as patience:
            await self._parts.pace.wait_page(network)
        if patience.cancelled_caught:
            retry = ("Retry-After", "1")
            return refused(HTTPStatus.TOO_MANY_REQUESTS, "too many tables were asked for", retry, why="pace")
        table = self._lobby.get(code)
        if (
            table is None
        ):  # a page asks for tables that are gone, too: no mistake that a browser should tell of
            return data(b"null")
        return data(msgspec.json.encode(unpack(encode(table.feed.shown_notice()))))

    def status(self, *, as_data: bool) -> PageAnswer:
        """Say how the server is, if the host wants it told."""
        if not self._parts.settings.now.web.status:
            return refused(HTTPStatus.NOT_FOUND, "the host does not tell how this server is")
        # read at most once in this time, however many ask
        if trio.current_time() >= self._moment + FRESH_S:
            self._moment, self._told = trio.current_time(), self._read()
        if as_data:
            return data(json.dumps(self._told).encode(), _CACHED)
        lines = "\n".join(f"{name}: {value}" for name, value in self._told.items())
        return text(lines)

    def _read(self) -> dict[str, object]:
        since = datetime.fromtimestamp(self._since_ms // 1000, UTC)
        return {
            "name": self._parts.settings.now.name,
            "up_since": since.isoformat().replace("+00:00", "Z"),
            "players": len(self._lobby.online),
            "tables": len(self._lobby.tables()),
            "version": _VERSION,
            "tree": self._tree,
            "draining": self._parts.drain.is_on,
        }


def door(why: Refusal | None) -> PageAnswer:
    """Say whether a connection would be let in now."""
    told = {"code": why and str(why.code), "retry_after_ms": why and why.retry_after_ms}
    return data(json.dumps(told).encode())


def report(match: str) -> PageAnswer:
    """Say where a record is to be had instead."""
    return refused(HTTPStatus.NOT_FOUND, f"records are fetched by whoever may see them: open /m/{match}")


CONNECTIONS: Final = 64
NETWORK_CONNECTIONS: Final = 24
# A first visit is some hundred requests (hosting/web.md): two dozen visits a minute of one address.
REQUESTS_PER_MIN: Final = 2_400
_HSTS: Final = ("Strict-Transport-Security", "max-age=31536000")
_STATUSES: Final = {
    Code.BANNED: HTTPStatus.FORBIDDEN,
    Code.RATE_LIMITED: HTTPStatus.TOO_MANY_REQUESTS,
    Code.SERVER_FULL: HTTPStatus.SERVICE_UNAVAILABLE,
}
_RETRY_S: Final = 5  # where the refusal does not say
_GONE: Final = (trio.BrokenResourceError, trio.ClosedResourceError, OSError)

log = structlog.get_logger()


async def open_listeners(web: WebSettings, *, is_shared: bool = False) -> list[trio.SocketListener]:
    """Listen where browsers are served; for http://localhost wherever they may look for it, unless the port is shared.

    Raises:
        OSError: The address cannot be listened on.
    """
    host, port = web.place
    try:
        # whoever else listened at ::1 would be the same origin, and could read the keys a browser keeps
        if host == "127.0.0.1" and not (web.origin or is_shared):
            listeners = await open_loopback(port)
        else:
            listeners = await open_tcp(host, port, is_shared=is_shared)
    except OSError as error:
        raise OSError(f"web.listen: cannot listen on {web.listen}: {error.strerror}") from error
    for listener in listeners:
        listener.socket.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_SNDBUF, KERNEL_BYTES)
    return listeners


class _Upgraded(NamedTuple):
    """A WebSocket that was counted in: what is to be answered, what seals it, and where it comes from."""

    answer: bytes
    sealer: WebSocketSealer
    client: str


class WebDoor:
    """What serves browsers.

    Attributes:
        origin: what they must have typed to come here.
        tls: what is encrypted with; None if nothing is here.
    """

    def __init__(
        self,
        parts: ServerParts,
        connections: Connections,
        tls: Tls | None,
    ) -> None:
        self._parts = parts
        self._lobby = parts.lobby
        self._connections = connections
        self._admission = parts.admission
        self.tls = tls
        self._meter = Meter[str]()
        self._open: dict[HttpConnection, str] = {}  # with its network; the one that has waited longest first
        self._networks: Counter[str] = Counter()
        self._accepting = trio.CancelScope()

    async def run(self, port: int, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Serve for as long as the server runs; programs connect at `port`.

        Raises:
            OSError: The port cannot be listened on.
        """
        settings = self._parts.settings.now
        self._tree = tree = await trio.to_thread.run_sync(read_tree)
        listeners = await open_listeners(settings.web, is_shared=settings.cluster.shares_ports)
        self.origin = settings.web.origin_at(int(listeners[0].socket.getsockname()[1]))
        self._bound_to = origin_binding(self.origin)
        self._address = address_beside(settings.listen, self.origin, port, self._parts.identity.fingerprint)
        self._pages = self._pages_of(settings)
        self._status = PublicDesk(self._parts, tree.name)
        self._parts.figures.web_tree = tree.name
        log.info("web_listening", origin=self.origin, tree=tree.name)
        async with trio.open_nursery() as tasks:
            task_status.started()
            with self._accepting:
                await accept(listeners, self._serve, tasks)

    async def renew(self, settings: Settings) -> None:
        """Show the name in these settings from now on."""
        # In a thread: every file is packed again.
        self._pages = await trio.to_thread.run_sync(self._pages_of, settings)

    def _pages_of(self, settings: Settings) -> Pages:
        values = {"SERVER": settings.name, "ADDRESS": self._address, "CARRIED": "no"}
        return Pages(self._tree, self.origin, values)

    def shut(self) -> None:
        """Let nobody else in."""
        self._accepting.cancel()

    async def _serve(self, stream: trio.SocketStream) -> None:
        """Speak with whoever connects; what fails here harms no other connection."""
        try:
            address: str = stream.socket.getpeername()[0]
            with suppress(*_GONE):
                await self._let_in(stream, address)
        except OSError:
            pass  # gone already
        except Exception:
            log.exception("internal", incident=token_hex(4))

    async def _let_in(self, stream: trio.SocketStream, address: str) -> None:
        began, network = trio.current_time(), network_of(address)
        # everybody behind the host's proxy comes from its address
        is_crowded = self._networks[network] >= NETWORK_CONNECTIONS and not self._proxies.has_address(address)
        # many in one household may open a link at once: a connection that waits for a request makes room
        is_full = is_crowded or len(self._open) >= CONNECTIONS
        if is_full and not self._make_room(network if is_crowded else None):
            self._parts.figures.web_refused["busy"] += 1
            return
        tls = None if self.tls is None else TlsSealer(self.tls)
        connection = HttpConnection(stream, tls, began)
        upgraded = None
        with self._counted(connection, network):
            if tls is None or await self._encrypt(tls, stream):
                upgraded = await connection.converse(partial(self._answer, connection, address=address))
            # it made room for somebody else while it waited
            self._parts.figures.web_refused["busy"] += connection.is_cut
        if upgraded is not None:
            await self._hand_over(connection, upgraded)

    @property
    def _proxies(self) -> Subjects:
        return Subjects.of(self._parts.settings.now.web.proxies)

    @contextmanager
    def _counted(self, connection: HttpConnection, network: str) -> Iterator[None]:
        self._open[connection] = network
        self._networks[network] += 1
        self._parts.figures.web_connections += 1
        try:
            yield
        finally:
            self._open.pop(connection, None)
            self._parts.figures.web_connections -= 1
            self._networks[network] -= 1
            if not self._networks[network]:
                del self._networks[network]

    def _make_room(self, network: str | None) -> bool:
        """End the connection that has waited longest for a request, if any does; of this network, if given."""
        for connection, its in self._open.items():
            if connection.is_waiting and network in (None, its):
                connection.cut()
                del self._open[connection]
                return True
        return False

    async def _encrypt(self, tls: TlsSealer, stream: trio.SocketStream) -> bool:
        with suppress(MistakenSchemeError, HandshakeFailedError), trio.move_on_after(HEADER_S):
            if await tls.shake_hands(stream):
                return True
        self._parts.figures.web_refused["tls"] += 1
        return False

    async def _answer(self, connection: HttpConnection, asked: Asked, address: str) -> PageAnswer | _Upgraded:
        """Return the answer to a request, counted; or the WebSocket that it becomes."""
        found: PageAnswer | _Upgraded
        if isinstance(asked, h11.RemoteProtocolError):
            kind, found = OTHER, malformed(asked)
        else:
            client = client_of(address, asked.headers, self._proxies)
            kind, found = await self._route(connection, asked, client)
        if isinstance(found, _Upgraded):
            return found
        if connection in self._open:  # it will begin to wait anew
            self._open[connection] = self._open.pop(connection)
        figures = self._parts.figures
        figures.web_requests[f"{kind} {found.status}"] += 1
        if found.why is not None:
            figures.web_refused[found.why] += 1
        return found if self.tls is None else found._replace(headers=(*found.headers, _HSTS))

    async def _route(
        self, connection: HttpConnection, request: h11.Request, client: str
    ) -> tuple[str, PageAnswer | _Upgraded]:
        """Return which kind of thing is asked for, and the answer."""
        network, path = network_of(client), path_of(request)
        wrong = objection(request, self.origin) or self._check_pace(network)
        if wrong is not None:
            return OTHER, wrong
        if path == WEBSOCKET_PATH:
            return SOCKET, await self._upgrade(connection, request, client, network)
        if path == "/door":
            # a question about room takes none, or asking would fill the server
            return DOOR, door(self._admission.enter(client, network, counts=False))
        told = await self._status.find(path, network)
        if told is not None:
            return told
        kind = PAGE if is_page(path) else FILE if path.startswith("/a/") else OTHER
        return kind, self._pages.find(path, request.headers)

    def _check_pace(self, network: str) -> PageAnswer | None:
        wait_ms = self._meter.pay(network, (REQUESTS_PER_MIN, REQUESTS_PER_MIN), trio.current_time())
        if not wait_ms:
            return None
        retry = ("Retry-After", str(-(-wait_ms // 1000)))
        words = f"expected at most {REQUESTS_PER_MIN} requests of one address in a minute"
        return refused(HTTPStatus.TOO_MANY_REQUESTS, words, retry, CLOSE, why="pace")

    async def _upgrade(
        self, connection: HttpConnection, request: h11.Request, client: str, network: str
    ) -> PageAnswer | _Upgraded:
        agreed = accept_upgrade(request)
        if isinstance(agreed, PageAnswer):
            return agreed
        # from here on it counts as any other connection; `_hand_over` counts it out again
        why = self._admission.enter(client, network)
        if why is not None:
            return _turned_away(why)
        self._parts.figures.web_requests[f"{SOCKET} {HTTPStatus.SWITCHING_PROTOCOLS}"] += 1
        sealer = WebSocketSealer(self._bound_to, connection.tls, agreed.socket)
        return _Upgraded(agreed.answer, sealer, client)

    async def _hand_over(self, connection: HttpConnection, upgraded: _Upgraded) -> None:
        """Speak the protocol in a WebSocket that was counted in, and count it out."""
        figures, (answer, sealer, client) = self._parts.figures, upgraded
        figures.websockets += 1
        try:
            await connection.send(answer)
            # what came together with the upgrade is the beginning of the protocol
            if connection.rest:
                sealer.take(connection.rest)
            await self._connections.attend(
                Peer(self._parts, connection.stream, client, began=connection.began, sealer=sealer)
            )
        finally:
            figures.websockets -= 1
            self._admission.leave(network_of(client))


def _turned_away(why: Refusal) -> PageAnswer:
    wait_ms = why.retry_after_ms
    retry = str(_RETRY_S if wait_ms is None else -(-wait_ms // 1000))
    status_code = _STATUSES.get(Code(why.code), HTTPStatus.SERVICE_UNAVAILABLE)
    return refused(status_code, why.msg, ("Retry-After", retry), CLOSE, why="admission")

"""The table in a browser on the player's own machine: the installed page over HTTP, and frames carried to a server.

The page does what a client does. Of what it says only the ends of frames are read here, and of what the server says
only where it is now, if it has moved: the page's next connection leads there. It is told, in `/local.json`, what no
page can know: which server it speaks with, by the key that this has shown here, which certificate it shows, so that the
page checks the signed hello against both (C37), and which keys the player treats as revoked (C40). A server that moves,
or sends a player on, is followed as the library follows it; whoever answers there is not believed, as the page checks
every signed hello. Invariants: only the browser that has opened a link of this program gets in: a link is good once,
and gives a pass that no other site's page can use; nobody is followed from TLS to clear.
"""

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from hmac import compare_digest
from http import HTTPStatus
from secrets import token_urlsafe
from typing import Final

import h11
import trio

from truc_client.address import Address, parse_address
from truc_client.errors import AddressError, ClientError
from truc_client.line.dialing import certificate_of, dial_tcp
from truc_client.line.line import STEADY_S
from truc_client.line.login import MetServer
from truc_client.line.opening import MAX_MOVES
from truc_protocol.crypto.keys import fingerprint
from truc_protocol.errors import Code, RemoteError
from truc_protocol.messages import Bye, Direction, Refusal
from truc_protocol.wire.encoding import SERVER_LIMIT, FrameSplitter, MessageError, decode, to_frame
from truc_protocol.wire.handshake import Fingerprint
from truc_protocol.wire.transport import WEBSOCKET_PATH
from truc_web.serving.http_connection import SEND_S, Asked, HttpConnection
from truc_web.serving.pages import CLOSE, PageAnswer, Pages, data, refused, text, values_of
from truc_web.serving.requests import Upgrade, accept_upgrade, malformed, objection, path_of
from truc_web.serving.sealer import WebSocketSealer
from truc_web.tree import Tree

# At once, as many as at a server's own door for pages
# (limits.md, "Pages"); a browser opens six (decision 23).
CONNECTIONS: Final = 64
_OPENING: Final = "/open/"
_READ_BYTES: Final = 65_536
_GONE: Final = (trio.BrokenResourceError, trio.ClosedResourceError, OSError)
# `bye` and `error` as msgpack writes them, each with its length: other frames need not be decoded.
_TAGS: Final = (b"\xa3bye", b"\xa5error")
"""What the messages that count begin with somewhere, by which all others are left alone."""


class ServerPlace:
    """Where a server is now.

    Attributes:
        address: where the next connection goes.
    """

    def __init__(self, first: Address) -> None:
        self.address = first
        self._first = first
        self._moves, self._moved = 0, 0.0

    def hear(self, frame: bytes, now: float) -> bool:
        """Note where a server says it is; tell whether the page must connect again instead of hearing it.

        `now` is in seconds, of any clock.
        """
        if not any(tag in frame for tag in _TAGS):
            return False
        try:
            message = decode(frame, Direction.TO_CLIENT)
        except MessageError:
            return False  # the page judges it
        match message:
            case Bye(code=Code.MOVED, to=str(to)):
                self._move(to, now)
            # The frame went to a TLS port in clear (transport.md, "TLS"). Its
            # hello was never read, so the page begins anew and does not see
            # this message. The other way round it is the player who decides.
            case Refusal(code=Code.UNSUPPORTED, detail={"tls": True}) if not self.address.is_tls:
                self.address = self.address._replace(is_tls=True)
                return True
            case _:
                pass
        return False

    def miss(self) -> None:
        """Note that nobody answers there: the first address leads to wherever the server is by now."""
        self.address = self._first

    def _move(self, to: str, now: float) -> None:
        try:
            host, port, *_ = parse_address(to)
        except AddressError:
            return
        # Only these two: `bye` is not signed, so no TLS, key or
        # table that it names is believed (session.md, "Goodbye").
        elsewhere = self.address._replace(host=host, port=port)
        if elsewhere == self.address:
            return  # another connection has said so already
        self._moves = 1 if now - self._moved >= STEADY_S else self._moves + 1
        self._moved = now
        # After as many moves in a row as a client follows (session.md, "Goodbye") back to the first address.
        self.address = elsewhere if self._moves <= MAX_MOVES else self._first


class _Carried:
    """A WebSocket of the page, and the connection to the server that is its own."""

    def __init__(self, agreed: Upgrade, server: trio.abc.Stream, place: ServerPlace) -> None:
        self._answer = agreed.answer
        self._sealer = WebSocketSealer(b"", None, agreed.socket)
        self._server = server
        self._place = place
        self._why: Code | None = None  # what it ends by; None if the page leaves
        self._turn = trio.Lock()  # both ways write to the page

    async def carry(self, connection: HttpConnection) -> None:
        """Carry frames both ways until either side ends; the page is told by a close frame."""
        try:
            await connection.send(self._answer)
            # What the browser has sent behind its request belongs to the WebSocket already.
            if connection.rest:
                self._sealer.take(connection.rest)
            async with trio.open_nursery() as ways:
                ways.start_soon(self._take_down, connection, ways.cancel_scope)
                await self._take_up(connection)
                ways.cancel_scope.cancel()
            # Also while the command ends: a page without a close frame takes the line as lost.
            with trio.move_on_after(SEND_S, shield=True):
                await connection.send(self._sealer.seal(b"") + self._sealer.part(self._why))
        finally:
            await trio.aclose_forcefully(self._server)

    async def _take_up(self, connection: HttpConnection) -> None:
        """Take frames from the page to the server."""
        try:
            while True:
                while frame := self._sealer.read():
                    await self._server.send_all(frame)
                if frame is not None:
                    return
                # An answer to a control frame of the browser; it counts
                # for nothing with the server (transport.md, "WebSocket").
                if self._sealer.owes_words:
                    await self._say(connection, b"")
                received = await connection.stream.receive_some(_READ_BYTES)
                if not received:
                    return
                self._sealer.feed(bytes(received))
        except RemoteError as error:
            self._why = error.code
        except _GONE:
            self._why = Code.TIMEOUT

    async def _take_down(self, connection: HttpConnection, scope: trio.CancelScope) -> None:
        """Take frames from the server to the page."""
        with suppress(RemoteError, *_GONE):
            await self._take_frames(connection, FrameSplitter(SERVER_LIMIT))
        self._why = Code.TIMEOUT  # what the server's last word was, the page has read
        scope.cancel()

    async def _take_frames(self, connection: HttpConnection, frames: FrameSplitter) -> None:
        while received := await self._server.receive_some(_READ_BYTES):
            frames.feed(bytes(received))
            while (frame := frames.next_frame()) is not None:
                if self._place.hear(frame, trio.current_time()):
                    return
                await self._say(connection, to_frame(frame, SERVER_LIMIT))

    async def _say(self, connection: HttpConnection, frames: bytes) -> None:
        async with self._turn:
            await connection.send(self._sealer.seal(frames))


class WebCarrier:
    """What serves the page and carries its frames.

    Attributes:
        link: what opens the page, once; another takes its place then.
    """

    def __init__(
        self,
        met: MetServer,
        origin: str,
        tree: Tree,
        goal: str,
        on_stranger: Callable[[], None],
        *,
        revoked: Iterable[bytes] = (),
    ) -> None:
        """Serve the page of one server; `goal` is where its links lead, `revoked` has keys that are never accepted.

        `on_stranger` is called when somebody without a pass asks for the page.
        """
        self._met = met
        self._place = ServerPlace(met.address)
        self._revoked = sorted(key.hex() for key in revoked)
        self._origin = origin
        self._goal = goal
        self._on_stranger = on_stranger
        # What the server showed last, and what the page was told:
        # the page checks each hello against the latter (C37).
        self._certificate = self._told = met.certificate
        self._reason: str | None = None  # why the server was not reached the last time
        self._cookie = f"truc_{origin.rpartition(':')[2]}"  # cookies know no ports
        self._pass = token_urlsafe()
        self._open = 0
        self._fingerprint = Fingerprint(fingerprint(met.server.spk))
        address = str(met.address._replace(table=None, invite=None, fingerprint=self._fingerprint))
        self._pages = Pages(
            tree, origin, {"SERVER": met.server.info.name, "ADDRESS": address, "CARRIED": "yes"}
        )
        self._renew_link()

    def _renew_link(self) -> None:
        self._token = token_urlsafe()
        self.link = f"{self._origin}{_OPENING}{self._token}"

    async def serve(self, stream: trio.SocketStream) -> None:
        """Speak with whoever connects."""
        if self._open >= CONNECTIONS:
            return
        connection = HttpConnection(stream, None, trio.current_time())
        self._open += 1
        try:
            with suppress(*_GONE):
                carried = await connection.converse(self._find)
                if carried is not None:
                    await carried.carry(connection)
        finally:
            self._open -= 1

    async def _find(self, asked: Asked) -> PageAnswer | _Carried:
        if isinstance(asked, h11.RemoteProtocolError):
            return malformed(asked)
        # First the host and the origin: another name that leads
        # here, or a page of another site, gets no further.
        wrong, path = objection(asked, self._origin), path_of(asked)
        if wrong is not None:
            return wrong
        if path.startswith(_OPENING):
            return self._admit(path.removeprefix(_OPENING), asked.method)
        if not self._has_pass(asked):
            self._on_stranger()
            return refused(HTTPStatus.FORBIDDEN, "open the link that `truc web` has printed", CLOSE)
        return await self._look(asked, path)

    async def _look(self, asked: h11.Request, path: str) -> PageAnswer | _Carried:
        match path:
            case "/local.json":
                return self._tell_server()
            case "/door":
                told = {"code": self._reason and str(Code.NOT_NOW), "retry_after_ms": self._reason and 1_000}
                return data(json.dumps(told).encode())
            case _ if path == WEBSOCKET_PATH:
                return await self._upgrade(asked)
            case _ if path.startswith("/t/") and path.endswith(".json"):
                return data(b"null")  # of a table nothing is known here; the page asks the server
            case _:
                return self._pages.find(path, asked.headers)

    def _admit(self, token: str, method: bytes) -> PageAnswer:
        """Give the pass to whoever has the link; once."""
        # HEAD, by which programs look where a link leads, does not use it up.
        if method != b"GET" or not compare_digest(token.encode(), self._token.encode()):
            return refused(HTTPStatus.NOT_FOUND, "this link was used already, or never good", CLOSE)
        self._renew_link()
        # No script can read it, and no request that a page of another site brings about carries it.
        cookie = f"{self._cookie}={self._pass}; HttpOnly; SameSite=Strict; Path=/"
        headers = (("Location", self._goal), ("Set-Cookie", cookie))
        return text("go on to the page", *headers, status=HTTPStatus.SEE_OTHER)

    def _has_pass(self, request: h11.Request) -> bool:
        cookies = (one.strip() for value in values_of(request.headers, b"cookie") for one in value.split(";"))
        wanted = f"{self._cookie}={self._pass}".encode()
        return any(compare_digest(cookie.encode(), wanted) for cookie in cookies)

    def _tell_server(self) -> PageAnswer:
        self._told = self._certificate
        told = {
            "server": str(self._met.address.server),
            "fingerprint": self._fingerprint,
            "binding": self._told and self._told.hex(),
            "revoked": self._revoked,
        }
        return data(json.dumps(told).encode())

    async def _upgrade(self, request: h11.Request) -> PageAnswer | _Carried:
        agreed = accept_upgrade(request)
        if isinstance(agreed, PageAnswer):
            return agreed
        try:
            stream = await dial_tcp(self._place.address)
        except ClientError as error:
            self._place.miss()
            self._reason = str(error)
            return _not_now(self._reason)
        self._reason, self._certificate = None, certificate_of(stream)
        if self._certificate != self._told:  # renewed; of the new one the page has not heard
            await trio.aclose_forcefully(stream)
            return _not_now("the server shows another certificate: ask /local.json again")
        return _Carried(agreed, stream, self._place)


def _not_now(why: str) -> PageAnswer:
    return refused(HTTPStatus.SERVICE_UNAVAILABLE, why, ("Retry-After", "1"), CLOSE)

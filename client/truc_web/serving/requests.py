"""What is wrong with a request over HTTP, and how one becomes a WebSocket: the handshake of RFC 6455, by wsproto.

Also how this machine alone is listened on for browsers.

Invariants: nothing is answered to another host or to another site's page; in a WebSocket nothing is agreed on but the
subprotocol; where browsers look for `localhost` nobody else on this machine answers.
"""

import errno
from collections.abc import Sequence
from http import HTTPStatus
from typing import Final, NamedTuple, cast

import h11
import trio
from wsproto.connection import Connection, ConnectionType
from wsproto.events import AcceptConnection, Request
from wsproto.handshake import H11Handshake
from wsproto.utilities import RemoteProtocolError

from truc_protocol.wire.transport import LOOPBACK, SUBPROTOCOL
from truc_web.serving.http_connection import HEADER_S, announces_body
from truc_web.serving.pages import CLOSE, PageAnswer, is_page, refused, text, values_of


def path_of(request: h11.Request) -> str:
    """Return the path that is asked for."""
    return bytes(request.target).partition(b"?")[0].decode("latin-1")


def malformed(error: h11.RemoteProtocolError) -> PageAnswer:
    """Return the answer to what is no request."""
    status = HTTPStatus(error.error_status_hint)
    if status is HTTPStatus.REQUEST_TIMEOUT:
        return refused(status, f"expected a whole header within {HEADER_S:g} s", CLOSE, why="slow")
    return refused(status, "expected a request of HTTP/1.1", CLOSE, why="request")


def objection(request: h11.Request, origin: str) -> PageAnswer | None:
    """Return why a request to a server of this origin is refused without looking further."""
    if request.method not in (b"GET", b"HEAD"):
        allow = ("Allow", "GET, HEAD")
        return refused(HTTPStatus.METHOD_NOT_ALLOWED, "expected GET or HEAD", allow, CLOSE, why="method")
    if announces_body(request):
        return refused(HTTPStatus.BAD_REQUEST, "expected a request without a body", CLOSE, why="body")
    hosts = [host.lower() for host in values_of(request.headers, b"host")]
    if hosts != [origin.partition("://")[2]]:
        return _misdirected(hosts, path_of(request), origin)
    if values_of(request.headers, b"origin") not in ([], [origin]):
        words = "pages of other sites have no business here"
        return refused(HTTPStatus.FORBIDDEN, words, CLOSE, why="origin")
    return None


def _misdirected(hosts: Sequence[str], path: str, origin: str) -> PageAnswer:
    """Answer a request for another host: who wrote this machine in other words is shown the way to its page."""
    if len(hosts) == 1 and is_alias(hosts[0], origin) and is_page(path):
        return text(f"this is {origin}", ("Location", origin + path), status=HTTPStatus.PERMANENT_REDIRECT)
    words = f"this is {origin}, and answers under no other name"
    return refused(HTTPStatus.MISDIRECTED_REQUEST, words, CLOSE, why="host")


def is_alias(authority: str, origin: str) -> bool:
    """Tell whether an authority is another way to write an origin of this machine alone, such as http://localhost:7374."""
    base, _, port = origin.rpartition(":")
    host, _, other = authority.rpartition(":")
    return other == port and host in LOOPBACK and base in {f"http://{name}" for name in LOOPBACK}


class Upgrade(NamedTuple):
    """A WebSocket that has been agreed on, and the answer that says so."""

    socket: Connection
    answer: bytes


def accept_upgrade(request: h11.Request) -> Upgrade | PageAnswer:
    """Return the WebSocket that a request asks for, or the answer why there is none."""
    handshake = H11Handshake(ConnectionType.SERVER)
    try:
        handshake.initiate_upgrade_connection(list(request.headers), request.target)
        asked = next(handshake.events())
    except (RemoteProtocolError, h11.ProtocolError, StopIteration, UnicodeError):
        is_plain = all(name != b"upgrade" for name, _ in request.headers)
        status = HTTPStatus.UPGRADE_REQUIRED if is_plain else HTTPStatus.BAD_REQUEST
        need = (("Upgrade", "websocket"), CLOSE, ("Sec-WebSocket-Version", "13"))
        return refused(status, "expected a WebSocket, version 13", *need, why="upgrade")
    if not isinstance(asked, Request) or SUBPROTOCOL not in asked.subprotocols:
        words = f"expected the subprotocol {SUBPROTOCOL}"
        return refused(HTTPStatus.BAD_REQUEST, words, CLOSE, why="subprotocol")
    # no extension: compression costs 64 KiB a connection, and tells of secrets by lengths
    answer = handshake.send(AcceptConnection(subprotocol=SUBPROTOCOL))
    return Upgrade(cast("Connection", handshake.connection), answer)  # it is there once it is accepted


_MISSING: Final = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL)


async def open_loopback(port: int) -> list[trio.SocketListener]:
    """Listen on this machine alone, at both of its addresses if it has two; port 0 takes a free one.

    Raises:
        OSError: The port is taken at one of them.
    """
    listeners = await trio.open_tcp_listeners(port, host="127.0.0.1")
    port = int(listeners[0].socket.getsockname()[1])
    try:
        # whoever else answered there would be the same origin
        # to a browser, and could read the keys that it keeps
        return listeners + await trio.open_tcp_listeners(port, host="::1")
    except OSError as error:
        # a machine without IPv6 has no second address that anybody could take
        if error.errno in _MISSING:
            return listeners
        for listener in listeners:
            listener.socket.close()
        raise

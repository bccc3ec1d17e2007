"""From a request over HTTP to a WebSocket of the protocol: the handshake of RFC 6455, by wsproto.

Invariant: nothing is agreed on but the subprotocol: no extension, and so no compression, which costs 64 KiB a connection
and tells of secrets by lengths.
"""

from http import HTTPStatus
from typing import NamedTuple, cast

import h11
from wsproto.connection import Connection, ConnectionType
from wsproto.events import AcceptConnection, Request
from wsproto.handshake import H11Handshake
from wsproto.utilities import RemoteProtocolError

from truc_protocol.wire.websocket import SUBPROTOCOL
from truc_web.serving.pages import CLOSE, Answer, refused


class Upgrade(NamedTuple):
    """A WebSocket that has been agreed on, and the answer that says so."""

    socket: Connection
    answer: bytes


def agree(request: h11.Request) -> Upgrade | Answer:
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
    answer = handshake.send(AcceptConnection(subprotocol=SUBPROTOCOL))
    return Upgrade(cast("Connection", handshake.connection), answer)  # it is there once it is accepted

"""What one connection says: read whenever there is something, and handled where it is read.

Only what takes time is left to the task of the connection; while it does, nothing else of the same connection is read. At a
turn a connection is read once, so that none that says much keeps the others waiting. Invariant: what comes is handled in the
order in which it came.
"""

from contextvars import copy_context
from functools import partial
from secrets import token_hex
from typing import TYPE_CHECKING, Final

import structlog
import trio

from truc_protocol.errors import Code
from truc_protocol.messages import AnyMessage, refusal
from truc_server.connections.peer import Peer
from truc_server.connections.reception import Reception, takes_time
from truc_server.connections.sockets import read
from truc_server.connections.tls import Encrypted
from truc_server.house import House

if TYPE_CHECKING:
    from truc_protocol.connection import Failure

CHUNK: Final = 4_096

log = structlog.get_logger()


class Reader:
    """The one reader of a connection."""

    __slots__ = (
        "_context",
        "_failure",
        "_house",
        "_is_over",
        "_is_polled",
        "_peer",
        "_reception",
        "_waiting",
        "_woken",
    )

    def __init__(self, house: House, peer: Peer, reception: Reception) -> None:
        self._house = house
        self._peer = peer
        self._reception = reception
        self._context = copy_context()  # in which the log knows the connection
        self._waiting: list[AnyMessage | Failure] = []  # the first takes time
        self._woken = trio.Event()
        self._is_polled = False
        self._is_over = False
        self._failure: Exception | None = None

    async def run(self) -> None:
        """Handle what comes, to the end or to what fails; then the client is told."""
        try:
            await self._run()
        except Exception:
            incident = token_hex(4)
            log.exception("internal", incident=incident, address=self._peer.address)
            self._peer.refuse(refusal(Code.INTERNAL, "the server has failed", detail={"incident": incident}))
            self._peer.dismiss(Code.INTERNAL, "the server has failed")
        finally:
            self._stop()

    async def _run(self) -> None:
        if self._peer.outbox.encrypted is not None:
            self._open(self._peer.outbox.encrypted, b"")  # more than the handshake may have come
        while not self._is_over:
            self._start()
            await self._woken.wait()
            self._woken = trio.Event()
            await self._catch_up()
        if self._failure is not None:
            raise self._failure

    def _start(self) -> None:
        if not self._is_polled:
            self._house.poller.add(self._peer.outbox.stream, partial(self._context.run, self._read))
            self._is_polled = True

    def _stop(self) -> None:
        if self._is_polled:
            self._house.poller.remove(self._peer.outbox.stream)
            self._is_polled = False

    def _read(self) -> None:
        """Handle what has come; called when there is something."""
        if self._waiting:
            self._stop()
            return
        peer = self._peer
        try:
            received = read(peer.outbox.stream, CHUNK)
            if received is None:
                return
            if received and peer.outbox.encrypted is not None:
                self._open(peer.outbox.encrypted, received)
            else:
                self._take(received)
        except Exception as error:  # the task of the connection tells of it
            self._failure = error
            self._end()

    def _open(self, encrypted: Encrypted, received: bytes) -> None:
        for opened in encrypted.open(received):
            self._take(opened)

    def _take(self, received: bytes) -> None:
        if not received:
            self._end()
            return
        peer = self._peer
        self._house.figures.received += len(received)
        items = peer.connection.receive(received)
        if items:
            peer.hear()
        for item in items:
            if not peer.connection.is_open:
                break  # what came together with the end costs nothing more
            if self._waiting or takes_time(item):
                self._waiting.append(item)
                self._woken.set()
            else:
                self._reception.take(peer, item)

    async def _catch_up(self) -> None:
        """Handle what waits, of which the first takes time."""
        peer = self._peer
        while self._waiting and peer.connection.is_open:
            item = self._waiting[0]
            if takes_time(item):
                await self._reception.take_slowly(peer, item)
            else:
                self._reception.take(peer, item)
            del self._waiting[0]
        self._waiting.clear()

    def _end(self) -> None:
        self._is_over = True
        self._stop()
        self._woken.set()

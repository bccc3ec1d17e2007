"""One connection, from when it is let in until it is left: what it says is handled as soon as it can be read.

No task waits for a connection: the poller calls when there is something to read. Only what takes time gets a task, or a
call when it is done; until then, nothing else from the same connection is read. Each turn reads a connection once, so
that none that says much keeps the others waiting. Invariants: what comes is handled in the order in which it came; a
connection is left once, and then holds nothing.
"""

from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from secrets import token_hex
from typing import Final

import structlog
import trio
from structlog.contextvars import bind_contextvars

from truc_protocol.errors import Code
from truc_protocol.messages import AnyMessage, refusal
from truc_protocol.wire.connection import Failure
from truc_server.house import House
from truc_server.net.peer import LINGER_S, Peer
from truc_server.net.sockets import read
from truc_server.requests.dispatch import Reception, SlowMessage

CHUNK: Final = 4_096

log = structlog.get_logger()


class Reader:
    """The one reader of a connection, which gives whatever takes time to `tasks`; `on_left` is called when the connection is gone."""

    __slots__ = (
        "_context",
        "_house",
        "_is_busy",
        "_is_left",
        "_is_over",
        "_is_polled",
        "_on_left",
        "_peer",
        "_reception",
        "_scope",
        "_tasks",
        "_waiting",
    )

    def __init__(
        self, house: House, peer: Peer, reception: Reception, tasks: trio.Nursery, on_left: Callable[[], None]
    ) -> None:
        self._house = house
        self._peer = peer
        self._reception = reception
        self._tasks = tasks
        self._on_left = on_left
        self._context = copy_context()
        self._context.run(bind_contextvars, connection=peer.number)
        self._waiting: list[AnyMessage | Failure] = []  # what came after something that takes time
        self._scope: trio.CancelScope | None = None  # of the task that is under way
        self._is_busy = self._is_over = self._is_left = self._is_polled = False
        peer.outbox.on_broken = self._give_up

    def start(self) -> None:
        """Handle what comes from now on."""
        self._poll()
        if self._peer.outbox.encrypted is not None:
            self._context.run(self._handle, self._open, b"")  # more than the handshake may have come

    def _give_up(self) -> None:
        """End the connection, whatever is under way, but in a later turn, as others are being written to now."""
        if self._scope is not None:
            self._scope.cancel()
        elif not (self._is_busy or self._is_left):  # a check under way is waited for
            self._part_soon()

    def leave(self) -> None:
        """Close the connection, once."""
        if self._is_left:
            return
        self._is_left = self._is_over = True
        self._rest()
        outbox = self._peer.outbox
        if outbox.is_draining:
            trio.lowlevel.notify_closing(outbox.wire)
        outbox.wire.close()
        self._on_left()

    def _poll(self) -> None:
        if not self._is_polled:
            self._house.poller.add(self._peer.outbox.wire, partial(self._context.run, self._read))
            self._is_polled = True

    def _rest(self) -> None:
        if self._is_polled:
            self._house.poller.remove(self._peer.outbox.wire)
            self._is_polled = False

    def _read(self) -> None:
        """Handle what has come; called when there is something."""
        if self._is_busy or self._is_over:
            self._rest()
            return
        outbox = self._peer.outbox
        received = read(outbox.wire, CHUNK)
        if received is not None:
            self._handle(self._open if received and outbox.encrypted else self._take, received)

    def _handle(self, handle: Callable[[bytes], None], received: bytes) -> None:
        try:
            handle(received)
        except Exception:
            self._fail()

    def _open(self, received: bytes) -> None:
        encrypted = self._peer.outbox.encrypted
        for opened in () if encrypted is None else encrypted.open(received):
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
            if self._is_busy:
                self._waiting.append(item)
            else:
                self._take_item(item)

    def _take_item(self, item: AnyMessage | Failure) -> None:
        if self._reception.takes_time(item):
            self._is_busy, self._scope = True, trio.CancelScope()
            self._tasks.start_soon(self._take_slowly, item, self._scope)
        else:
            self._reception.take(self._peer, item)

    async def _take_slowly(self, message: SlowMessage, scope: trio.CancelScope) -> None:
        with scope:
            try:
                await self._reception.take_slowly(self._peer, message)
            except Exception:
                self._fail()
        self._scope = None
        self._go_on()

    def _go_on(self) -> None:
        """Handle what has come after something that took time and is done; then read again."""
        self._is_busy = False
        try:
            while self._waiting and not self._is_busy and self._peer.is_open:
                self._take_item(self._waiting.pop(0))
        except Exception:
            self._fail()
        if self._is_busy:
            return
        self._waiting.clear()
        if self._is_over or self._peer.outbox.is_broken:
            self._end()
        else:
            self._poll()

    def _end(self) -> None:
        """Read no more, and leave when what is under way is done and the last words are sent."""
        self._is_over = True
        self._rest()
        if self._is_busy:
            return
        if self._peer.outbox.is_empty:
            self.leave()
        else:
            self._part_soon()

    def _part_soon(self) -> None:
        self._is_over = self._is_busy = True
        self._rest()
        self._context.copy().run(self._tasks.start_soon, self._part)  # the turn may be another connection's

    async def _part(self) -> None:
        with trio.move_on_after(LINGER_S):
            await self._peer.outbox.wait_empty()
        self.leave()

    def _fail(self) -> None:
        """Tell the log and the client that something has failed that should not, and end."""
        incident = token_hex(4)
        log.exception("internal", incident=incident, address=self._peer.address)
        self._peer.refuse(refusal(Code.INTERNAL, "the server has failed", detail={"incident": incident}))
        self._peer.dismiss(Code.INTERNAL, "the server has failed")
        self._end()

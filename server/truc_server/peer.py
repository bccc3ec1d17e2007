"""The server's end of one connection: who speaks there, what is sent to them, and when their silence is too long.

Requests are answered elsewhere. Invariant: before a connection is closed it is told why, in `error` or `bye`.
"""

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import structlog
import trio
from msgspec.structs import replace

from truc_protocol.connection import Connection, Failure, Pulse, Role, State, pulse
from truc_protocol.errors import Code
from truc_protocol.messages import Ok, Ping, Refusal, Request, ServerMessage, bye, refusal
from truc_server.bucket import Bucket
from truc_server.house import House
from truc_server.outbox import Outbox
from truc_server.store import PlayerKind, SaveGuest

if TYPE_CHECKING:
    from truc_protocol.handshake import Challenge
    from truc_server.timers import Timer

LINGER_S: Final = 2.0  # for the last words to arrive before the socket is closed
RECONNECT_MS: Final = 2_000
_LEAST_S: Final = 0.05  # between two looks at the same silence

log = structlog.get_logger()


class Player(NamedTuple):
    """Who is logged in: a key, or a guest by an id of the server. `id` tells players apart; the name is a label."""

    kind: PlayerKind
    id: bytes
    name: str


class RefusedError(Exception):
    """A request that is answered with an error."""

    def __init__(self, code: Code, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field

    def refusal(self, request: int | None) -> Refusal:
        """Return the answer."""
        return refusal(self.code, self.message, re=request, field=self.field)


class Peer:
    """One connection.

    Attributes:
        player: who has logged in here; None before.
        challenge: what the login must be made for.
        newcomer: the guest who speaks here, until they are stored.
        heard: when the last bytes came.
        tables: codes of the tables this connection follows.
    """

    def __init__(
        self, house: House, stream: trio.SocketStream, address: str, scope: trio.CancelScope
    ) -> None:
        now = trio.current_time()
        limits = house.settings.limits
        self.address = address
        self.connection = Connection(Role.SERVER)
        self.outbox = Outbox(stream, limits.outbox_bytes, scope.cancel)
        self.player: Player | None = None
        self.challenge: Challenge | None = None
        self.newcomer: SaveGuest | None = None
        self.bucket = Bucket(rate=limits.requests_per_s, burst=limits.burst, now=now)
        self.heard = now
        self.tables: set[str] = set()
        self._house = house
        self._scope = scope
        self._pinged: float | None = None
        self._pings = 0
        self._timer: Timer = house.timers.after(limits.login_s, self._miss_login)

    @property
    def is_open(self) -> bool:
        """Whether anything may still be said."""
        return self.connection.state is not State.CLOSED and not self.outbox.is_broken

    def send(self, message: ServerMessage) -> None:
        """Queue a message."""
        if self.is_open:
            self._push(self.connection.send(message))

    def send_frame(self, frame: bytes) -> None:
        """Queue a frame that goes to many; it reaches only those who are logged in."""
        if self.connection.state is State.READY:
            self._push(frame)

    def ok(self, request: Request, **fields: Any) -> None:
        """Answer a request."""
        self.send(Ok(re=request.id, **fields))

    def refuse(self, refused: Refusal) -> None:
        """Answer with an error; the connection ends where the error says so."""
        if refused.re is not None and refused.re not in self.connection.outstanding:
            refused = replace(refused, re=None)
        if self.is_open:
            self._finish_with(self.connection.refuse(refused))

    def answer(self, failure: Failure) -> None:
        """Tell the peer what it did wrong on the wire."""
        log.info("bad_input", address=self.address, code=str(failure.code), closes=failure.closes)
        if self.is_open:
            self._finish_with(self.connection.answer(failure))

    def dismiss(self, code: Code, message: str) -> None:
        """Say goodbye and close."""
        if self.is_open:
            after = RECONNECT_MS if code is Code.SHUTTING_DOWN else None
            self._finish_with(self.connection.send(bye(code, message, reconnect_after_ms=after)))

    def hear(self) -> None:
        """Note that bytes came: a sign of life."""
        self.heard = trio.current_time()
        self._pinged = None

    def expect_silence(self) -> None:
        """Watch for silence from now on: the peer is logged in."""
        self._timer.cancel()
        self._look_at_silence()

    def leave(self) -> None:
        """Stop every timer: the connection is gone."""
        self._timer.cancel()

    def _push(self, frame: bytes) -> None:
        if not self.outbox.push(frame, self._house.gate):
            self._cut()
            return
        self._house.flusher.touch(self.outbox)

    def _cut(self) -> None:
        log.info("slow_consumer", address=self.address)
        self.outbox.forget()
        self.dismiss(Code.SLOW_CONSUMER, "more waits for this connection than it may")

    def _finish_with(self, frame: bytes) -> None:
        self._push(frame)
        if self.connection.state is State.CLOSED:
            self.outbox.finishing = True
            self._house.flusher.touch(self.outbox)
            self._timer.cancel()
            self._timer = self._house.timers.after(LINGER_S, self._scope.cancel)

    def _miss_login(self) -> None:
        seconds = self._house.settings.limits.login_s
        self.dismiss(Code.TIMEOUT, f"expected a login within {seconds} seconds")

    def _look_at_silence(self) -> None:
        now, idle = trio.current_time(), self._house.settings.limits.idle_s
        match pulse(now, heard=self.heard, pinged=self._pinged, idle_s=idle):
            case Pulse.GIVE_UP:
                self.dismiss(Code.TIMEOUT, f"expected a sign of life within {1.5 * idle:g} seconds")
                return
            case Pulse.PING:
                self._pinged = now
                self._pings += 1
                self.send(Ping(n=self._pings))
            case Pulse.REST:
                pass
        moment = self.heard + idle * (1 if self._pinged is None else 1.5)
        self._timer = self._house.timers.at(max(moment, now + _LEAST_S), self._look_at_silence)

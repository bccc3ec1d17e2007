"""The server's end of one connection: who speaks there, what they say, what is sent to them, and when they are silent for too long.

Requests are answered elsewhere. Invariant: before a connection is closed it is told why, in `error` or `bye`.
"""

import os
from base64 import b32encode
from collections.abc import Sequence
from functools import lru_cache
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, Self

import structlog
import trio
from msgspec.structs import replace

from truc_protocol.codec import sha256
from truc_protocol.crypto.keys import fingerprint
from truc_protocol.errors import Code, RemoteError
from truc_protocol.messages import AnyMessage, Ok, Ping, Refusal, Request, ServerMessage, bye, refusal
from truc_protocol.records import Record
from truc_protocol.wire.capabilities import BLIND_TABLES, OWN_OPTIONS
from truc_protocol.wire.connection import ConnectionEnd, Failure, KeepAlive, Role, State, keep_alive
from truc_protocol.wire.encoding import encode
from truc_server.net.listening import CHUNK
from truc_server.net.outbox import LOW_BYTES, Flusher, FrameSealer, Outbox
from truc_server.net.sanctions import Sanctions
from truc_server.operation.figures import Figures
from truc_server.settings.in_force import CurrentValue
from truc_server.settings.settings import Settings
from truc_server.storage import PlayerKind, SaveGuest
from truc_server.storage.journal import Journal
from truc_server.timing.rate_limits import Bucket, network_of

if TYPE_CHECKING:
    from truc_protocol.wire.handshake import Challenge
    from truc_server.net.grease import Grease

# bytes that may wait for a client that is not logged in: a hello of any length, and a goodbye
LOGIN_OUTBOX: Final = 65_536
LINGER_S: Final = 2.0  # for the last words to arrive before the socket is closed
RECONNECT_MS: Final = 2_000
SNAPSHOT: Final = "snapshot"
_TAGS_REMEMBERED: Final = 4_096
_TAG_LENGTH: Final = 20  # of a guest: 100 bits, so that nobody can make a second guest with the same tag

_READY, _CLOSED = State.READY, State.CLOSED  # looked up once: a lookup in an Enum is slow
log = structlog.get_logger()


class LoggedInPlayer(NamedTuple):
    """Who is logged in: a key, or a guest with an id from the server. `id` tells players apart; the name is a label."""

    kind: PlayerKind
    id: bytes
    name: str

    @property
    def tag(self) -> str:
        """What others may know this player by; it does not tell a guest's id."""
        return tag_of(self.kind, self.id)


def _fed(sealer: FrameSealer, raw: bytes) -> bytes | None:
    """Feed received bytes to the sealer; return the empty bytes that mean the end, if that is what came."""
    if not raw:
        return raw
    sealer.feed(raw)
    return None


@lru_cache(maxsize=_TAGS_REMEMBERED)
def tag_of(kind: PlayerKind, player: bytes) -> str:
    """Return the tag of a player: the fingerprint of a key, or one made from a guest's id."""
    if kind is PlayerKind.KEY:
        return fingerprint(player)
    return f"guest-{b32encode(sha256(player)).decode()[:_TAG_LENGTH]}"


class RefusedRequestError(Exception):
    """A request that is answered with an error.

    Attributes:
        wait_ms: after what time it may be taken, if that can be told.
        evidence: the server's signed word on a body that it does not take, if its position is the present one.
    """

    def __init__(
        self,
        code: Code,
        message: str,
        *,
        field: str | None = None,
        wait_ms: int | None = None,
        evidence: Record | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field
        self.wait_ms = wait_ms
        self.evidence = evidence

    def refusal(self, request: int | None) -> Refusal:
        """Return the answer."""
        refused = refusal(self.code, self.message, re=request, field=self.field)
        return replace(refused, retry_after_ms=self.wait_ms, refuse=self.evidence)


def wrong_field(field: str, expected: str, code: Code = Code.BAD_MESSAGE) -> RefusedRequestError:
    """Return the refusal of a request in which a field is not what was `expected`."""
    return RefusedRequestError(code, f"{field}: expected {expected}", field=field)


class TooSoonError(RefusedRequestError):
    """A request that would be taken later."""

    def __init__(self, message: str, wait_ms: int) -> None:
        super().__init__(Code.RATE_LIMITED, message, wait_ms=wait_ms)


class RepeatedActError(Exception):
    """An act that was taken before, as the record at position `k`: to send it again is always safe (session.md)."""

    def __init__(self, k: int) -> None:
        super().__init__(k)
        self.k = k


class Watched(Protocol):
    """A table that somebody watches, which is told whether they keep up."""

    table: str
    is_closed: bool

    def skip(self, peer: "Peer") -> None:
        """Note that what waited for a watcher was dropped."""
        ...

    def readmit(self, peer: "Peer") -> None:
        """Note that a watcher that was skipped has room again."""
        ...

    def unwatch(self, peer: "Peer") -> None:
        """Note that a watcher is gone."""
        ...


class ConnectionBacking(Protocol):
    """What a connection needs of the running server.

    Attributes:
        sanctions: who is shut out or muted now.
        grease: what is put into everything that is sent, to test clients.
        flusher: what empties the outboxes.
        journal: what every frame waits for.
    """

    settings: CurrentValue[Settings]
    figures: Figures
    sanctions: CurrentValue[Sanctions]
    grease: "Grease | None"
    flusher: Flusher
    journal: Journal


class Peer:
    """One connection.

    Attributes:
        number: how many connections there have been up to this one; the log tells them apart by it.
        address: where it comes from; `network` is what that counts as.
        player: who has logged in here; None before.
        challenge: what the login must be made for.
        unstored_guest: the guest who speaks here, until they are stored.
        heard: when the last whole frame came.
        since: when it was opened.
        scope: what is done for the connection; it ends with it.
        tables: codes of the tables this connection follows.
        brought: codes of those that it follows at other nodes.
        watched: what this connection watches.
        wanted: capabilities of the server that this client has asked for.
        knows_rules: whether who has logged in here signs acts, and needs no options to know which.
        plays_blind: whether they also shuffle and seal the pack, as those do who sit at a table in mode blind.
        ignored: tags of the players this one wants to hear nothing from.
        is_mute_logged: whether the log has it that this player is muted and has tried to talk.
    """

    def __init__(
        self,
        backing: ConnectionBacking,
        stream: trio.SocketStream,
        address: str,
        *,
        began: float,
        sealer: FrameSealer | None = None,
    ) -> None:
        limits = backing.settings.now.limits
        backing.figures.connections += 1
        self.number = backing.figures.connections
        self.address = address
        self.network = network_of(address)
        self._grease = backing.grease
        self.connection = ConnectionEnd(
            Role.SERVER, encode if self._grease is None else self._grease.to_bytes
        )
        self.scope = trio.CancelScope()
        self.outbox = Outbox(
            stream.socket, LOGIN_OUTBOX, backing.flusher, sealer, on_broken=self.scope.cancel
        )
        self.player: LoggedInPlayer | None = None
        self.challenge: Challenge | None = None
        self.unstored_guest: SaveGuest | None = None
        self.bucket = Bucket(rate=limits.requests_per_s, burst=limits.burst, now=began)
        self.heard = self.since = began
        self.tables: frozenset[str] = frozenset()
        self.brought: frozenset[str] = frozenset()
        self.watched: frozenset[Watched] = frozenset()
        self.wanted: tuple[str, ...] = ()
        self.knows_rules = self.plays_blind = False
        self.ignored: set[str] = set()
        self.is_mute_logged = False
        self._backing = backing
        self._descriptor = stream.socket.fileno()
        self._clock = trio.lowlevel.current_clock()  # asked itself: `trio.current_time` is two calls more
        self._pinged: float | None = None
        self._pings = 0

    @property
    def certificate(self) -> bytes | None:
        """What the hello binds the connection to: the hash of the certificate or of the web's origin; None in the clear."""
        sealer = self.outbox.sealer
        return None if sealer is None else sealer.certificate

    @property
    def can_move(self) -> bool:
        """Whether the client can be sent to another address."""
        sealer = self.outbox.sealer
        return sealer is None or sealer.can_move

    @property
    def is_open(self) -> bool:
        """Whether anything may still be said."""
        return self.connection.state is not _CLOSED and not self.outbox.is_broken

    def __aiter__(self) -> Self:
        """Iterate over what the client says, as it arrives: mostly one message at a time, or none."""
        return self

    async def __anext__(self) -> Sequence[AnyMessage | Failure]:
        """Wait for what comes next; what comes after the end of the connection, or together with it, is to be passed over."""
        # Without `SocketStream.receive_some`: it takes 15 function calls and a system call more. The task
        # that reads also closes the socket, afterwards: its descriptor is never another's.
        sealer, received = self.outbox.sealer, None
        try:
            while received is None:
                if sealer is None or (received := self._open(sealer)) is None:
                    # First, as a rule nothing has come yet, and a read in vain is a system call.
                    await trio.lowlevel.wait_readable(self._descriptor)
                    try:
                        raw = os.read(self._descriptor, CHUNK)
                    except BlockingIOError:
                        continue  # nothing was there after all
                    received = raw if sealer is None else _fed(sealer, raw)
        except RemoteError as error:  # of what carries the frames: a WebSocket, or a link between nodes
            return [Failure(error.code, error.message, closes=True)]
        except OSError:  # the connection is lost
            received = b""
        if not received:
            raise StopAsyncIteration
        self._backing.figures.received += len(received)
        said = self.connection.receive(received)
        if said:  # session.md, "Keep-alive": whole frames are a sign of life, bytes that drip in are not
            self.heard, self._pinged = self._clock.current_time(), None
        return said

    def _open(self, sealer: FrameSealer) -> bytes | None:
        """Return what comes next, opened, and let out what is owed for it."""
        opened = sealer.read()
        if sealer.owes_words and not self._backing.flusher.write_alone(self.outbox, b"", 0):
            self.outbox.push(b"", 0)
        return opened

    def send(self, message: ServerMessage) -> None:
        """Queue a message."""
        # `is_open`, without its call: every answer comes through here.
        if self.connection.state is not _CLOSED and not self.outbox.is_broken:
            if self._grease is not None:
                self._push_grease(self._grease)
            frame = self.connection.send(message)
            if not self.outbox.push(frame, self._backing.journal.gate):
                self._make_room(frame)

    def send_at_once(self, message: ServerMessage) -> None:
        """Send a message, at once if nothing has to wait."""
        if self.is_open:
            # A hello and a welcome come alone: to wake the flusher for one costs as much as the write.
            frame, gate = self.connection.send(message), self._backing.journal.gate
            is_sent = self._backing.flusher.write_alone(self.outbox, frame, gate)
            if not is_sent and not self.outbox.push(frame, gate):
                self._make_room(frame)

    def send_frame(self, frame: bytes) -> None:
        """Queue a frame that goes to many; it reaches only those who are logged in."""
        if self.connection.state is _READY:
            if self._grease is not None:
                self._push_grease(self._grease)
                frame = self._grease.frame(frame)
            outbox, gate = self.outbox, self._backing.journal.gate
            if (  # as `push`, but for its call: an act's frames come here once for each seat
                outbox.newest
                and gate <= outbox.newest_gate
                and (size := outbox.size + len(frame)) <= outbox.limit
            ):
                outbox.newest += frame
                outbox.size = size
            elif not outbox.push(frame, gate):
                self._make_room(frame)

    def offer_frame(self, frame: bytes) -> None:
        """Queue a frame that goes to many and that nobody needs to get, if there is room for it."""
        if len(frame) <= self.outbox.room():
            self.send_frame(frame)

    def send_watched(self, frame: bytes) -> None:
        """Queue a frame for a watcher; it may be dropped, if the client knows how to go on without it."""
        if not self.connection.is_ready:
            return
        if SNAPSHOT not in self.wanted:
            self.send_frame(frame)
        elif not self.outbox.push(self._greased(frame), self._backing.journal.gate, is_loose=True):
            self._backing.figures.dropped += 1
            self._skip()

    def send_together(self, frames: Sequence[bytes]) -> bool:
        """Queue frames, all of them or none; False if there is no room now: there will be later, or the connection ends."""
        dressed = [self._greased(frame) for frame in frames]
        total = sum(map(len, dressed))
        if self.connection.is_ready and total > self.outbox.room():
            # With little waiting no more room would be told of (`Outbox.settle`), and the frames are as much as
            # an outbox takes at all, or nearly. A watcher who comes again is sent them at their own pace.
            if self.outbox.size > LOW_BYTES:
                self._await_room()
            else:
                self._cut()
            return False
        for frame in dressed:
            self.outbox.push(frame, self._backing.journal.gate, is_loose=True)
        return True

    def _greased(self, frame: bytes) -> bytes:
        return frame if self._grease is None else self._grease.frame(frame)

    def _skip(self) -> None:
        """Drop what may be dropped; those who sent it are told, and told again when there is room."""
        self._backing.figures.dropped += self.outbox.drop_loose()
        for watched in self.watched:
            watched.skip(self)
        self._await_room()

    def _await_room(self) -> None:
        self.outbox.on_low = self._tell_room
        # Looked at even if it is empty by now: nothing else would make it tell.
        self._backing.flusher.touch(self.outbox)

    def _tell_room(self) -> None:
        """Let those who skipped this watcher send again; a failure here ends this connection alone."""
        # Called by whoever writes to everybody, and by whoever commits, who must not fail for one watcher.
        try:
            for watched in self.watched:
                watched.readmit(self)
        except Exception:
            log.exception("internal", incident=token_hex(4), address=self.address)
            self.dismiss(Code.INTERNAL, "the server has failed")

    def _push_grease(self, grease: "Grease") -> None:
        if self.connection.is_ready:
            between = grease.between()
            if between and not self.outbox.push(between, self._backing.journal.gate):
                self._make_room(between)

    def ok(self, request: Request, **fields: Any) -> None:
        """Answer a request."""
        self.send(Ok(re=request.id, **fields))

    def refuse(self, refused: Refusal) -> None:
        """Answer with an error; the connection ends if the error is fatal."""
        # Each request has one reply (session.md): what fails after it is told without `re`.
        if refused.re is not None and refused.re not in self.connection.outstanding:
            refused = replace(refused, re=None)
        if self.is_open:
            self._backing.figures.errors[refused.code] += 1
            self._finish_with(self.connection.refuse(refused), refused.code)

    def answer(self, failure: Failure) -> None:
        """Tell the peer what it did wrong on the wire."""
        spoken = {} if failure.line is None else {"reason": failure.message}
        log.info("bad_input", address=self.address, code=str(failure.code), closes=failure.closes, **spoken)
        if self.is_open:
            self._backing.figures.errors[failure.code] += 1
            self._finish_with(self.connection.answer(failure), failure.code)

    def dismiss(self, code: Code, message: str, *, to: str | None = None) -> None:
        """Say goodbye and close; `to` is where to connect instead."""
        if self.is_open:
            self._backing.figures.goodbyes[code] += 1
            after = RECONNECT_MS if code is Code.SHUTTING_DOWN else None
            self._finish_with(self.connection.send(bye(code, message, reconnect_after_ms=after, to=to)), code)

    def send_away(self, message: str, *, to: str) -> None:
        """Say goodbye because the server is about to be stopped, or has given a table away: to go `to` another node, if any."""
        if to and self.can_move:
            self.dismiss(Code.MOVED, message, to=to)
        else:
            self.dismiss(Code.SHUTTING_DOWN, message)

    def fail(self, incident: str) -> None:
        """Tell the peer that the server has failed, and close."""
        self.refuse(refusal(Code.INTERNAL, "the server has failed", detail={"incident": incident}))
        self.dismiss(Code.INTERNAL, "the server has failed")

    def admit(self, player: LoggedInPlayer) -> None:
        """Let a player speak here, who is welcomed next: more may wait for them than before the login."""
        self.player = player
        self.knows_rules = player.kind is PlayerKind.KEY and OWN_OPTIONS in self.wanted
        # capabilities.md: a seat at such a table takes both, and a key to sign with.
        self.plays_blind = self.knows_rules and BLIND_TABLES in self.wanted
        self.challenge = None
        self._backing.figures.logins[player.kind] += 1
        self.outbox.limit = self._backing.settings.now.limits.outbox_bytes

    def look_at_silence(self, now: float) -> None:
        """Ping a silent client; dismiss one that stays silent, or does not log in in time."""
        if not self.is_open:
            return
        limits = self._backing.settings.now.limits
        if self.player is None:
            if now >= self.since + limits.login_s:
                self.dismiss(Code.TIMEOUT, f"expected a login within {limits.login_s} seconds")
            return
        match keep_alive(now, heard=self.heard, pinged=self._pinged, idle_s=limits.idle_s):
            case KeepAlive.GIVE_UP:
                self.dismiss(Code.TIMEOUT, f"expected a sign of life within {1.5 * limits.idle_s:g} seconds")
            case KeepAlive.PING:
                self._pinged = now
                self._pings += 1
                self.send(Ping(n=self._pings))
            case KeepAlive.REST:
                pass

    async def wait_parted(self) -> None:
        """Wait until the last words have left, but not for long."""
        if not self.outbox.is_empty:
            self._part_soon()
            await self.outbox.wait_empty()

    def leave(self) -> None:
        """Watch nothing, and take nothing more: the connection is gone."""
        self._backing.figures.closed += 1
        self._backing.figures.left += self.player is not None
        self.outbox.shut()
        for watched in self.watched:
            watched.unwatch(self)

    def _make_room(self, frame: bytes) -> None:
        """Queue a frame for which there was no room, instead of what may be dropped; or end the connection."""
        self._skip()
        if not self.outbox.push(frame, self._backing.journal.gate):
            self._cut()

    def _cut(self) -> None:
        self._backing.figures.cut += 1
        log.info("slow_consumer", connection=self.number, address=self.address)
        # By now even the goodbye would find no room; what waits can be had again by `resume`.
        self.outbox.forget()
        self.dismiss(Code.SLOW_CONSUMER, "outgoing queue limit exceeded")

    def _finish_with(self, frame: bytes, code: str) -> None:
        has_room = self.outbox.push(frame, self._backing.journal.gate)
        if self.connection.state is not State.CLOSED:
            if not has_room:
                self._make_room(frame)
            return
        if not has_room:
            self.outbox.forget()  # what waits can be had again; why the connection ends cannot
            self.outbox.push(frame, self._backing.journal.gate)
        self.outbox.is_finishing, self.outbox.farewell = True, Code(code)
        self._backing.flusher.touch(self.outbox)
        self._part_soon()

    def _part_soon(self) -> None:
        """End what is done for this connection when the last words have had their time."""
        # The earlier of both: a second goodbye gives nobody more time.
        self.scope.deadline = min(self.scope.deadline, trio.current_time() + LINGER_S)

"""The state of a connection, the same for both ends: bytes in, messages out; a message in, bytes out.

`TRANSITIONS` is the whole of it: who may send which message in which state, and what follows. A step that is not in
the table is an error, ours or the peer's. A connection reads no clock, opens no socket and decides nothing about
tables; `keep_alive` tells from timestamps when to ping and when to give up.
"""

from collections.abc import Callable, Mapping
from enum import Enum, StrEnum, auto
from types import MappingProxyType
from typing import Final, NamedTuple

from msgspec.structs import replace

from truc_protocol.codec import enc_trusted
from truc_protocol.errors import REGISTRY, Code, LocalError, RemoteError
from truc_protocol.messages import (
    MESSAGES,
    AnyMessage,
    Bye,
    ClientHello,
    Direction,
    Ok,
    Refusal,
    Request,
    ServerHello,
    ServerMessage,
    TableState,
    Welcome,
    bye,
    refusal,
)
from truc_protocol.wire.encoding import (
    CLIENT_LIMIT,
    LOGIN_LIMIT,
    SERVER_LIMIT,
    SHORT_FRAME,
    SHORT_HEADERS,
    FrameSplitter,
    MessageError,
    MistakenPeerError,
    decode,
    encode,
    to_frame,
)

MAX_OUTSTANDING: Final = 64


class Role(StrEnum):
    """The two ends of a connection."""

    CLIENT = auto()
    SERVER = auto()

    __hash__ = str.__hash__  # that of Enum is a function of Python's own, called for every message


class State(StrEnum):
    """Where a connection stands; both ends run through the same states."""

    NEW = auto()
    GREETING = auto()
    GREETED = auto()
    ENTERING = auto()
    READY = auto()
    CLOSING = auto()
    CLOSED = auto()

    __hash__ = str.__hash__


FATAL: Final = "error, close"  # stands in the table where an error with `close` differs from one without
_READY, _CLOSED = State.READY, State.CLOSED  # looked up once: an Enum lookup is expensive
_HANDSHAKE_TAGS: Final = ("hello", "login", "welcome")
_OPEN: Final = tuple(state for state in State if state is not State.CLOSED)
_SENDER: Final = {Direction.TO_SERVER: Role.CLIENT, Direction.TO_CLIENT: Role.SERVER}

TRANSITIONS: Final[Mapping[tuple[State, Role, str], State]] = MappingProxyType(
    {
        (State.NEW, Role.CLIENT, "hello"): State.GREETING,
        (State.GREETING, Role.SERVER, "hello"): State.GREETED,
        (State.GREETED, Role.CLIENT, "login"): State.ENTERING,
        (State.ENTERING, Role.SERVER, "welcome"): State.READY,
    }
    | {
        (State.READY, _SENDER[row.direction], row.tag): State.READY
        for row in MESSAGES
        if row.tag not in _HANDSHAKE_TAGS
    }
    | {(state, Role.SERVER, FATAL): State.CLOSING for state in _OPEN}
    | {(state, Role.SERVER, "bye"): State.CLOSED for state in _OPEN}
)


class Failure(NamedTuple):
    """What the peer did wrong, as a value: `line` is text for a peer that speaks another protocol."""

    code: Code
    message: str
    closes: bool
    field: str | None = None
    re: int | None = None
    line: bytes | None = None


class KeepAlive(Enum):
    """What to do about a silence."""

    REST = auto()
    PING = auto()
    GIVE_UP = auto()


class ConnectionEnd:
    """One end of a connection, from the first byte to the last.

    A client closes without a word after any `Failure`; a server sends `answer(failure)` first. `to_bytes` encodes what
    is sent; one other than `encode` may add fields that nobody knows.

    Attributes:
        role: which end this is.
        state: where the connection stands.
    """

    __slots__ = ("_deaf", "_hellos", "_limit_out", "_outstanding", "_splitter", "_to_bytes", "role", "state")

    def __init__(self, role: Role, to_bytes: Callable[[AnyMessage], bytes] = encode) -> None:
        self.role = role
        self._to_bytes = to_bytes
        self.state = State.NEW
        # a client takes long frames from the start: the hello of a server has some 3,000 bytes (limits.md)
        self._splitter = FrameSplitter(LOGIN_LIMIT if role is Role.SERVER else SERVER_LIMIT)
        self._limit_out = SERVER_LIMIT if role is Role.SERVER else LOGIN_LIMIT
        self._outstanding: dict[int, tuple[str, ...]] = {}
        # the bytes as received, not as they would be encoded here: the other end hashed its own (C37, C38)
        self._hellos: dict[Role, bytes] = {}
        self._deaf = False

    @property
    def is_open(self) -> bool:
        """Whether anything may still be said."""
        return self.state is not _CLOSED

    @property
    def is_ready(self) -> bool:
        """Whether the client is logged in, and nothing has ended the connection."""
        return self.state is _READY

    def begin_ready(self) -> None:
        """Begin logged in: whoever did the handshake hands the connection on, and nothing has been said here yet."""
        self.state = State.READY
        self._splitter.limit = CLIENT_LIMIT

    def close_request(self, number: int) -> bool:
        """Note that a request is answered by a frame made elsewhere; False if it is not open, and may not be answered."""
        return self._outstanding.pop(number, None) is not None

    @property
    def outstanding(self) -> frozenset[int]:
        """The ids of requests without a reply."""
        return frozenset(self._outstanding)

    def hello_frame(self, sender: Role) -> bytes:
        """Return the exact bytes of a hello, as the handshake hashes them; kept until welcome.

        Raises:
            LocalError: There was no such hello, or welcome has been said.
        """
        try:
            return self._hellos[sender]
        except KeyError:
            raise LocalError(f"there is no hello of the {sender} in state {self.state}") from None

    def receive(self, received: bytes) -> list[AnyMessage | Failure]:
        """Take bytes from the peer and return what they complete, failures included.

        Nothing is read after a failure that closes. A server still answers what came before it, then the failure.
        """
        found: list[AnyMessage | Failure] = []
        # after a failure that closes, nothing more is even kept
        if not self._deaf:
            self._splitter.rest += received
        while self._splitter.rest and not self._deaf:
            try:
                frame = self._splitter.next_frame()
                if frame is None:
                    break
                message = self._take(frame)
            except RemoteError as error:
                found.append(self._fail(error))
            else:
                if message is not None:
                    found.append(message)
        return found

    def send(self, message: AnyMessage) -> bytes:
        """Return the bytes to send for a message, and take the step it makes.

        Raises:
            LocalError: The state does not allow it, it answers no open request, or it is too long.
        """
        tag = _TAGS[type(message)]
        is_common = self.state is _READY and tag in _COMMON[self.role]
        state = _READY if is_common else self._next_state(self.role, message, tag)
        if state is None:
            raise LocalError(f"{self.role} cannot send {tag} in state {self.state}")
        encoded = self._to_bytes(message)
        # checked before the request is opened, so that a message too long leaves nothing open
        length = len(encoded)
        frame = (
            SHORT_HEADERS[length] + encoded if length < SHORT_FRAME else to_frame(encoded, self._limit_out)
        )
        try:
            self._track(message, tag)
        except RemoteError as error:
            raise LocalError(error.message) from error
        if state is not self.state:
            self._enter(state, self.role, message, encoded)
        return frame

    def refuse(self, refused: Refusal) -> bytes:
        """Return the bytes of an error and, if the connection ends with it, of the bye that follows.

        Before welcome every error ends the connection.
        """
        if self.state is State.READY and not refused.close:
            return self.send(refused)
        # before welcome a single mistake ends the connection (limits.md, "Before login")
        error = self.send(replace(refused, close=True))
        return error + self.send(
            bye(Code(refused.code), refused.msg, reconnect_after_ms=refused.retry_after_ms)
        )

    def answer(self, failure: Failure) -> bytes:
        """Return the bytes with which a server tells its peer what it did wrong."""
        if failure.line is not None:
            self.state = State.CLOSED
            return failure.line
        refused = refusal(failure.code, failure.message, re=failure.re, field=failure.field)
        return self.refuse(replace(refused, close=failure.closes))

    def _take(self, frame: bytes) -> AnyMessage | None:
        try:
            message = decode(frame, _INCOMING[self.role])
        except MessageError as error:
            if error.code is Code.UNKNOWN_REQUEST and self.role is Role.CLIENT:
                return None  # docs/protocol/evolution.md: a client passes over notices it does not know
            raise
        sender = _PEER[self.role]
        tag = _TAGS[type(message)]
        is_common = self.state is _READY and tag in _COMMON[sender]
        state = _READY if is_common else self._next_state(sender, message, tag)
        if state is None:
            raise self._out_of_step(message)
        self._track(message, tag)
        if state is not self.state:
            self._enter(state, sender, message, frame)
        return message

    def _next_state(self, sender: Role, message: AnyMessage, tag: str) -> State | None:
        # an error without `close` answers a request; one with it is allowed in every state
        match message:
            case Refusal(close=True):
                step = self.state, sender, FATAL
            case _:
                step = self.state, sender, tag
        return TRANSITIONS.get(step)

    def _out_of_step(self, message: AnyMessage) -> RemoteError:
        tag = _TAGS[type(message)]
        code = Code.NOT_NOW if tag in _HANDSHAKE_TAGS else Code.AUTH_REQUIRED  # READY takes all others
        expected = " or ".join(sorted(_allowed(self.state, _PEER[self.role]))) or "nothing"
        number = message.id if isinstance(message, Request) else None
        return RemoteError(
            code, f"expected {expected} in state {self.state}, got {tag}", field="t", re=number
        )

    def _track(self, message: AnyMessage, tag: str) -> None:
        """Open a request or close the one that `message` answers."""
        # patterns, as `isinstance` is a call
        match message:
            case Request(id=number):
                opened = self._outstanding
                if opened and (number in opened or len(opened) >= MAX_OUTSTANDING):
                    raise self._unopened(message)
                self._outstanding[number] = _REPLIES[tag]
            case (
                ServerHello(re=int(number))
                | Welcome(re=int(number))
                | Ok(re=int(number))
                | Refusal(re=int(number))
            ):
                opened = self._outstanding
                if number not in opened or (tag != "error" and tag not in opened[number]):
                    expected = f"expected the reply to an open request, got {tag} to {number}"
                    raise RemoteError(Code.BAD_MESSAGE, expected, field="re")
                del self._outstanding[number]
            case _:
                pass

    def _unopened(self, request: Request) -> RemoteError:
        if request.id in self._outstanding:
            expected = f"expected a new request id, got {request.id}, still open"
            return RemoteError(Code.BAD_MESSAGE, expected, field="id")
        expected = f"expected at most {MAX_OUTSTANDING} requests without a reply"
        return RemoteError(Code.RATE_LIMITED, expected, re=request.id)

    def _fail(self, error: RemoteError) -> Failure:
        """Turn the peer's error into a value; a request that was not opened yet is opened, so that it can be refused."""
        # a client closes after any failure, as it has no message to report one
        closes = REGISTRY[error.code].closes or self.state is not State.READY or self.role is Role.CLIENT
        # the id of a request that is still open: that one keeps its reply, and this error names none
        number = None if error.re in self._outstanding else error.re
        if number is not None and self.role is Role.SERVER:
            self._outstanding[number] = ()
        # deaf, but not closed: earlier requests are still answered, and the peer is told why
        self._deaf = closes
        if self.role is Role.CLIENT:
            self.state = State.CLOSED
        line = error.line if isinstance(error, MistakenPeerError) else None
        return Failure(error.code, error.message, closes, error.field, number, line)

    def _enter(self, state: State, sender: Role, message: AnyMessage, frame: bytes) -> None:
        self.state = state
        if isinstance(message, ClientHello | ServerHello):
            self._hellos[sender] = frame
        elif isinstance(message, Welcome):
            # no longer needed: the login was made for these bytes, and both ends have checked it
            self._hellos.clear()
            if self.role is Role.SERVER:
                self._splitter.limit = CLIENT_LIMIT
            else:
                self._limit_out = CLIENT_LIMIT
        elif isinstance(message, Bye):
            self._outstanding.clear()
            self._deaf = True


_COMMON: Final = {
    role: frozenset(
        tag
        for (at, who, tag), to in TRANSITIONS.items()
        if who is role and at is to is _READY and tag != "error"
    )
    for role in Role
}
"""Tags of messages that never change the state once the client is logged in: nearly all of them."""
_OWN_ENCODING: Final = frozenset({TableState, Ok})  # what `encode` may write in its own way
_TAGS: Final = {form.message: row.tag for row in MESSAGES for form in row.forms}
_INCOMING: Final = {Role.SERVER: Direction.TO_SERVER, Role.CLIENT: Direction.TO_CLIENT}
_REPLIES: Final = {row.tag: row.replies for row in MESSAGES if row.direction is Direction.TO_SERVER}
_PEER: Final = {Role.SERVER: Role.CLIENT, Role.CLIENT: Role.SERVER}


def _allowed(state: State, sender: Role) -> list[str]:
    return [tag for (at, who, tag) in TRANSITIONS if at is state and who is sender]


def broadcast_frame(message: ServerMessage) -> bytes:
    """Return the bytes of a record or notice once, for every connection that is READY.

    Raises:
        LocalError: The message is too long.
    """
    encoded = encode(message) if type(message) in _OWN_ENCODING else enc_trusted(message)
    length = len(encoded)
    return SHORT_HEADERS[length] + encoded if length < SHORT_FRAME else to_frame(encoded, SERVER_LIMIT)


def keep_alive(now: float, *, heard: float, pinged: float | None, idle_s: float) -> KeepAlive:
    """Tell what to do about a peer last heard at `heard` and last pinged at `pinged`."""
    silence = now - heard
    # a ping after idle_s of silence, then half as long again for the answer (session.md, "Keep-alive")
    if silence >= 1.5 * idle_s:
        return KeepAlive.GIVE_UP
    # pings follow silence only, so whatever was heard at the instant of one, by a coarse clock, answers it
    if silence >= idle_s and (pinged is None or pinged <= heard):
        return KeepAlive.PING
    return KeepAlive.REST

"""A client of frames and maps: no state machine, no opinion, only bytes out and maps in.

It sends whatever it is told to, sound or not. Every map that comes in must fit the message reference; what else is
expected of it, the caller says, and some of what callers expect most often is checked here. Invariant: every byte
received is kept.
"""

import struct
import time
from collections.abc import Callable, Sequence
from secrets import token_bytes
from typing import Final

import trio

from truc_conform.expectations import (
    GoneError,
    InconclusiveError,
    Map,
    UnexpectedError,
    UnofferedError,
    check_refusal,
    expect,
    expect_ok,
    shown,
)
from truc_conform.websocket import WebSocketStream
from truc_protocol.codec import pack, unpack
from truc_protocol.crypto.keys import SigningKey
from truc_protocol.errors import REGISTRY, Code
from truc_protocol.messages import Direction, ServerHello
from truc_protocol.wire.encoding import MessageError, decode
from truc_protocol.wire.handshake import KnownServer, ServerIdentity, authenticate, check_server_hello

# session.md, "Login": a client should wait no longer for an answer.
PATIENCE_S: Final = 10.0
CHUNK: Final = 65_536
_HEADER: Final = struct.Struct(">I")
_WITHOUT_ID: Final = ("ping", "pong")
_ATTEMPTS: Final = 20  # a server that refuses for ever must not keep the kit for ever
_MOST_PAGES: Final = 200
_GAME: Final = "truc-french"
PAIR: Final = 2
_ENDINGS: Final = (trio.BrokenResourceError, trio.ClosedResourceError)


def frame(message: Map) -> bytes:
    """Return the bytes of a message after their length, however long they are."""
    packed = pack(message)
    return _HEADER.pack(len(packed)) + packed


def length(n: int) -> bytes:
    """Return the four bytes that announce a frame of `n` bytes."""
    return _HEADER.pack(n)


class RawClient:
    """One connection.

    Attributes:
        cert: what the server's hello must bind the connection to; None in the clear.
        log: every message received, decoded.
        received: every byte received.
        info: what the server says about itself, after `hello`.
        welcome: the reply to the login.
    """

    def __init__(
        self, stream: trio.SocketStream | WebSocketStream, *, patience_s: float = PATIENCE_S
    ) -> None:
        self.stream = stream
        self.cert: bytes | None = stream.cert if isinstance(stream, WebSocketStream) else None
        self.patience_s = patience_s
        self.received = bytearray()
        self.log: list[Map] = []
        self.spk = b""
        self.info: Map = {}
        self.welcome: Map = {}
        self.server: ServerIdentity | None = None
        self.cn = b""
        self.hello_frame = b""
        self._unread = bytearray()
        self._ids = 0

    async def send_bytes(self, raw: bytes) -> None:
        """Send bytes as they are."""
        await self.stream.send_all(raw)

    async def send(self, message: Map) -> int:
        """Send a message, a request with a fresh id unless it has one; return the id."""
        if "id" not in message and message["t"] not in _WITHOUT_ID:
            self._ids += 1
            message = {**message, "id": self._ids}
        await self.send_bytes(frame(message))
        return int(message.get("id", -1))

    async def next_frame(self) -> bytes | None:
        """Return the next whole frame without its length, None at the end of the stream."""
        while (whole := self._take_frame()) is None:
            received = await self.receive_bytes()
            if not received:
                return None
            self._unread += received
        return whole

    async def receive_bytes(self) -> bytes:
        """Return what comes next, as it comes; no bytes at the end of the stream.

        Raises:
            trio.TooSlowError: Nothing comes.
        """
        try:
            with trio.fail_after(self.patience_s):
                received = bytes(await self.stream.receive_some(CHUNK))
        except _ENDINGS:
            return b""
        self.received += received
        return received

    def _take_frame(self) -> bytes | None:
        if len(self._unread) < _HEADER.size:
            return None
        end = _HEADER.size + int(_HEADER.unpack_from(self._unread)[0])
        if len(self._unread) < end:
            return None
        whole = bytes(self._unread[_HEADER.size : end])
        del self._unread[:end]
        return whole

    async def receive(self) -> Map:
        """Return the next message.

        Raises:
            GoneError: The stream has ended.
        """
        whole = await self.next_frame()
        if whole is None:
            raise GoneError(f"the connection was closed after {self.log[-1:]}")
        return self._note(whole)

    def _note(self, whole: bytes) -> Map:
        check_fits(whole)
        message = unpack(whole)
        self.log.append(message)
        return message

    async def until(
        self, tag: str, is_meant: Callable[[Map], bool] = lambda _message: True, **fields: object
    ) -> Map:
        """Receive until a message with this tag and these fields that is meant, and return it."""
        while not (_has(message := await self.receive(), tag, fields) and is_meant(message)):
            pass
        return message

    def came(self, tag: str, **fields: object) -> list[Map]:
        """Return the messages received with this tag and these fields."""
        return [message for message in self.log if _has(message, tag, fields)]

    async def ask(self, message: Map) -> Map:
        """Send a request and return its reply."""
        number = await self.send(message)
        while True:
            reply = await self.receive()
            if reply.get("re") == number:
                return reply

    async def ask_patiently(self, message: Map) -> Map:
        """Send a request, again each time the server asks for a wait, and return its reply."""
        for _ in range(_ATTEMPTS):
            reply = await self.ask(message)
            if reply.get("code") != Code.RATE_LIMITED:
                return reply
            # Limits are the host's; a case is about something else, and waits for as long as it is told to.
            await trio.sleep(reply.get("retry_after_ms", 0) / 1000)
        raise UnexpectedError(
            f"{message['t']} was rate_limited {_ATTEMPTS} times, each time after the wait asked for"
        )

    async def closed(self) -> list[Map]:
        """Receive to the end of the stream, and return what came."""
        rest = []
        while (whole := await self.next_frame()) is not None:
            rest.append(self._note(whole))
        return rest

    async def hello(self, **fields: object) -> Map:
        """Say hello and return the answer; if it is a hello, it has been checked (security.md, C37)."""
        self.cn = token_bytes(32)
        message = {"t": "hello", "id": 0, "proto": [1], "want": [], "cn": self.cn, **fields}
        await self.send(message)
        whole = await self.next_frame()
        if whole is None:
            raise GoneError("the connection was closed after hello, without an answer")
        reply = self._note(whole)
        # Anything else is for the caller to judge.
        if reply["t"] == "hello":
            self._recognise(message, whole)
        return reply

    def _recognise(self, sent: Map, whole: bytes) -> None:
        reply = unpack(whole)
        rolls = tuple((body, old, new) for body, old, new in reply.get("rolls", ()))
        hello = ServerHello(re=0, body=reply["body"], sig=reply["sig"], info=reply["info"], rolls=rolls)
        # Packed again as `frame` has sent it: the hello binds these bytes (security.md, "The handshake").
        known_server = KnownServer(pack(sent), sent["proto"], None, int(time.time()), self.cert)
        self.server = check_server_hello(hello, known_server)
        self.spk, self.info, self.hello_frame = self.server.spk, unpack(reply["info"]), whole

    async def _greet(self, want: Sequence[str]) -> None:
        """Say hello before a login; a server that is stopping says goodbye instead of hello."""
        reply = await self.hello(want=list(want))
        if reply["t"] == "bye":
            raise GoneError(f"the server answered hello with bye: {reply['code']}")

    def auth(self, key: SigningKey) -> Map:
        """Return the login of a key for this connection."""
        if self.server is None:
            # Often a limit of the host's, such as server_full, which nothing else in the report would name.
            raise UnexpectedError(f"expected hello before a login, got {shown(self.log[-1:])}")
        signed = authenticate(key, self.server, cn=self.cn, hello_frame=self.hello_frame)
        return {"t": "login", "body": signed.body, "sig": signed.sig}

    async def login_key(self, key: SigningKey, name: str = "north", *, want: Sequence[str] = ()) -> Map:
        """Say hello, log a key in, and return the answer."""
        await self._greet(want)
        return await self.enter({**self.auth(key), "name": name})

    async def login_guest(self, name: str = "Gus", *, want: Sequence[str] = ()) -> Map:
        """Say hello, log in as a new guest, and return the answer."""
        await self._greet(want)
        return await self.enter({"t": "login", "name": name})

    async def login_token(self, token: str) -> Map:
        """Say hello, log in as a guest who was here before, and return the answer."""
        await self._greet(())
        return await self.enter({"t": "login", "token": token})

    async def enter(self, login: Map) -> Map:
        """Send a login and return the answer."""
        self.welcome = await self.ask(login)
        return self.welcome

    async def refused(self, message: Map, code: Code, *, field: str | None = None) -> Map:
        """Send a request that must be refused while the connection goes on; return the error."""
        return check_refusal(await self.ask_patiently(message), code, field=field)

    async def check_alive(self) -> None:
        """Check that a connection still takes requests."""
        expect_ok(await self.ask_patiently({"t": "tables"}), "the connection to stay open")

    async def check_ended(self, code: Code, *, field: str | None = None) -> list[Map]:
        """Check that the connection ends with an error and a bye of this code; return what came."""
        try:
            rest = await self.closed()
        except trio.TooSlowError:
            raise UnexpectedError(
                f"expected {code} and the end, got {shown(self.log[-1:])} and no end"
            ) from None
        tags = [(message["t"], message.get("code")) for message in rest[-2:]]
        expect(tags == [("error", code), ("bye", code)], f"error {code}, bye {code}, and the end", rest)
        check_refusal(rest[-2], code, field=field, closes=True)
        expect(rest[-1]["msg"], "a text in bye", rest[-1])
        expect(rest[-1]["retryable"] == REGISTRY[code].retryable, "retryable as in the registry", rest[-1])
        return rest

    def need(self, capability: str) -> object:
        """Return the value of a capability.

        Raises:
            UnofferedError: The server does not announce it.
        """
        caps = self.info["caps"]
        if capability not in caps:
            raise UnofferedError(f"the server does not announce the capability {capability!r}")
        return caps[capability]

    def games(self, seats: int = PAIR) -> list[str]:
        """Return the games of the server for so many players."""
        return [str(offer["name"]) for offer in self.info["variants"] if seats in offer["seats"]]

    def need_game(self, game: str, seats: int = PAIR) -> None:
        """Check that the server has a game.

        Raises:
            UnofferedError: It does not.
        """
        if game not in self.games(seats):
            raise UnofferedError(f"the server offers no {game} for {seats}")

    def limit(self, name: str, *, most: int) -> int:
        """Return a limit of the server.

        Raises:
            InconclusiveError: It has none that a run can reach.
        """
        value = self.info["limits"].get(name)
        if value is None or value > most:
            raise InconclusiveError(f"limits.{name} is {value}: not tried")
        return int(value)

    def game(self) -> str:
        """Return the game that the kit plays at this server: one for two.

        Raises:
            UnofferedError: The server has none.
        """
        offered = self.games()
        if not offered:
            raise UnofferedError("the server offers no game for two")
        # One game wherever there is a choice, so that equal seeds play alike at all servers.
        return _GAME if _GAME in offered else offered[0]

    async def listed(self, tag: str, name: str) -> list[str]:
        """Return how everything in a list is named, over all pages of it; each is asked for by the last name before it."""
        names: list[str] = []
        for _ in range(_MOST_PAGES):
            page = await self.ask_patiently({"t": tag} | ({"after": names[-1]} if names else {}))
            reply = expect_ok(page, f"ok with {tag}", tag)
            names += [each[name] for each in reply[tag]]
            if not reply.get("more"):
                break
        return names


def _has(message: Map, tag: str, fields: Map) -> bool:
    return message["t"] == tag and all(message.get(name) == value for name, value in fields.items())


def check_fits(whole: bytes) -> None:
    """Check that a frame of the server fits the message reference; an unknown kind of notice does.

    Raises:
        UnexpectedError: It does not.
    """
    try:
        decode(whole, Direction.TO_CLIENT)
    except MessageError as error:
        # evolution.md: a kind of message that nobody knows may come from a newer server.
        if error.code is not Code.UNKNOWN_REQUEST:
            raise UnexpectedError(f"a message that does not fit the reference: {error.message}") from error

"""One connection to a server, from the hello to the last byte.

`enter` makes the handshake: the server proves who it is before the client says who asks. After that one task reads, one
writes and one keeps the connection alive; losing it in any way is a `LostError`, nothing else leaves `Link.run`.
"""

import secrets
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from typing import Final, NamedTuple

import trio

from truc_client.account import Account
from truc_client.address import Address
from truc_client.clock import Clock
from truc_client.encryption import certificate_of
from truc_client.errors import ConnectError, EncryptedError, LostError, RefusedError
from truc_client.home import revoked_keys
from truc_client.recognition import Shown, keys_shown, recognise
from truc_protocol.connection import Connection, Failure, Pulse, Role, pulse
from truc_protocol.errors import Code, LocalError
from truc_protocol.frames import MistakenPeerError
from truc_protocol.handshake import PROTOCOLS, Pin, ServerIdentity, authenticate
from truc_protocol.messages import (
    AnyMessage,
    BoxedSign,
    Bye,
    Chat,
    ClaimMatch,
    ClientHello,
    ClientMessage,
    Create,
    FollowLobby,
    Forget,
    GuestAct,
    GuestLogin,
    GuestReturn,
    History,
    Ignore,
    Join,
    KeyLogin,
    Leaderboard,
    Leave,
    ListMatches,
    ListPlayers,
    ListTables,
    Ok,
    OpenSign,
    Ping,
    Pong,
    Profile,
    ReadRules,
    Ready,
    Refusal,
    Resume,
    Say,
    Seek,
    ServerHello,
    ServerMessage,
    SignedAct,
    Software,
    Unready,
    Unwatch,
    WantRekey,
    Watch,
    Welcome,
)

HANDSHAKE_S: Final = 10.0
_READ_BYTES: Final = 65_536
_MAX_WAITING: Final = 256  # frames to send; a server that takes none of them for that long is gone
_NONCE_BYTES: Final = 32
_TLS_INSTEAD: Final = MistakenPeerError("TLS").message
_PULSES: Final = 4


class Demands(NamedTuple):
    """The capabilities that a client would use, and those without which it cannot go on."""

    want: tuple[str, ...] = ()
    require: tuple[str, ...] = ()


_NO_DEMANDS: Final = Demands()
Answer = Ok | Refusal
ClientRequest = (
    ListTables
    | ReadRules
    | Create
    | Join
    | Leave
    | Ready
    | Unready
    | SignedAct
    | GuestAct
    | BoxedSign
    | OpenSign
    | Say
    | ClaimMatch
    | Resume
    | WantRekey
    | Watch
    | Unwatch
    | History
    | ListMatches
    | FollowLobby
    | ListPlayers
    | Seek
    | Chat
    | Ignore
    | Forget
    | Leaderboard
    | Profile
)
OnAnswer = Callable[[Answer], None]


class Entered(NamedTuple):
    """A login that succeeded.

    Attributes:
        link: the connection.
        address: where it leads: elsewhere than asked for, if the server has moved.
        server: who answers.
        welcome: the server's last word of the handshake.
        keys: the server's present key and those before it that it has shown to be its own.
    """

    link: "Link"
    address: Address
    server: ServerIdentity
    welcome: Welcome
    keys: frozenset[bytes]


class Link:
    """A connection that is logged in."""

    def __init__(
        self,
        stream: trio.abc.Stream,
        protocol: Connection,
        early: list[AnyMessage],
        idle_s: float,
        clock: Clock,
    ) -> None:
        self.clock = clock
        self._stream = stream
        self._protocol = protocol
        self._early = early
        self._idle_s = idle_s
        self._pings = 0
        self._asked = 0.0
        self._heard = trio.current_time()
        self._pinged: float | None = None
        self._requests = 1
        self._goodbye: Bye | None = None
        self._answers: dict[int, OnAnswer] = {}
        self._sending, self._to_send = trio.open_memory_channel[bytes](_MAX_WAITING)

    def next_id(self) -> int:
        """Return a number for the next request."""
        self._requests += 1
        return self._requests

    def post(self, message: ClientRequest, on_answer: OnAnswer) -> None:
        """Send a request; `on_answer` is called with its reply, unless the connection is lost before.

        Raises:
            LostError: The server has not read for too long, or the connection is gone.
        """
        self._queue(message)
        self._answers[message.id] = on_answer

    def _queue(self, message: AnyMessage) -> None:
        try:
            self._sending.send_nowait(self._protocol.send(message))
        except (trio.WouldBlock, trio.BrokenResourceError) as error:
            raise LostError("the server does not read") from error
        except LocalError as error:
            told = self._goodbye
            raise _farewell(told) if told else LostError(f"nothing can be sent now: {error}") from error

    async def run(self, handle: Callable[[ServerMessage], None]) -> None:
        """Read until the connection is lost; `handle` gets every message that is no reply.

        Raises:
            LostError: Always, in the end.
        """
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._write)
                nursery.start_soon(self._keep_alive)
                for message in self._early:
                    self._take(message, handle)
                while True:
                    for message in await self._read():
                        self._take(message, handle)
        except BaseExceptionGroup as group:
            raise _loss(group) from group
        finally:
            await trio.aclose_forcefully(self._stream)

    async def _read(self) -> list[AnyMessage]:
        received = await self._stream.receive_some(_READ_BYTES)
        if not received:
            raise LostError("the server closed the connection")
        self._heard = trio.current_time()
        return list(map(_sound, self._protocol.receive(bytes(received))))

    async def _write(self) -> None:
        with suppress(trio.BrokenResourceError):  # who reads finds the end, and a goodbye that came before it
            async for frame in self._to_send:
                await self._stream.send_all(frame)

    async def _keep_alive(self) -> None:
        while True:
            await trio.sleep(self._idle_s / _PULSES)
            now = trio.current_time()
            match pulse(now, heard=self._heard, pinged=self._pinged, idle_s=self._idle_s):
                case Pulse.GIVE_UP:
                    raise LostError(f"the server was silent for {1.5 * self._idle_s:.0f} seconds")
                case Pulse.PING:
                    self._pinged = now
                    self._ping()
                case Pulse.REST:
                    pass

    def _ping(self) -> None:
        self._pings += 1
        self._asked = time.time()
        self._queue(Ping(n=self._pings))

    def _take(self, message: AnyMessage, handle: Callable[[ServerMessage], None]) -> None:
        match message:
            case Ok() | Refusal(re=int()):
                self._answer(message)
            case Refusal():
                raise LostError(f"the server did not understand: {message.msg} ({message.code})", again=False)
            case Bye():
                self._goodbye = message
                raise _farewell(message)
            case Ping():
                self._queue(Pong(n=message.n, now_ms=int(time.time() * 1000)))
            case Pong():
                if message.n == self._pings:
                    self.clock.note(message.now_ms, asked=self._asked, answered=time.time())
            case _ if isinstance(message, ServerMessage):
                handle(message)
            case _:
                raise LostError("the server sent what only a client sends", again=False)

    def _answer(self, message: Answer) -> None:
        on_answer = self._answers.pop(message.re, None) if message.re is not None else None
        if on_answer is not None:
            on_answer(message)


def _farewell(message: Bye) -> LostError:
    """Return the loss that a server's goodbye is; only one that has moved says where to go on."""
    to = message.to if message.code == Code.MOVED else None
    where = f": it is at {to} now" if to is not None else ""
    text = f"the server says goodbye: {message.msg}{where} ({message.code})"
    return LostError(text, again=message.retryable, to=to, after_ms=message.reconnect_after_ms)


def _loss(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the one loss that several tasks met, or the group if there is anything else in it."""
    losses, other = group.split((LostError, trio.BrokenResourceError, trio.ClosedResourceError))
    if losses is None or other is not None:
        return group
    told = [error for error in leaves(losses) if isinstance(error, LostError)]
    return told[0] if told else LostError("the connection was lost")


def leaves(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    """Return the errors in a group, however deep."""
    found: list[BaseException] = []
    for error in group.exceptions:
        found += leaves(error) if isinstance(error, BaseExceptionGroup) else [error]
    return found


def _sound(item: AnyMessage | Failure) -> AnyMessage:
    if isinstance(item, Failure):
        if item.message == _TLS_INSTEAD:
            raise EncryptedError
        raise LostError(f"the server broke the protocol: {item.message} ({item.code})", again=False)
    return item


async def enter(
    stream: trio.abc.Stream,
    address: Address,
    account: Account,
    demands: Demands = _NO_DEMANDS,
    known: Pin | None = None,
) -> Entered:
    """Make the handshake; `known` is the server that is expected, by its pin at the address that it has left.

    Raises:
        ServerKeyError: The server is not the one known.
        ConnectError: It is no server of this protocol, or does not answer in time.
        RefusedError: It does not let this player in.
        EncryptedError: It encrypts its connections, and this one is not.
        LostError: It is elsewhere now; `to` says where.
        HomeError: The player's home cannot be used.
    """
    try:
        with trio.fail_after(HANDSHAKE_S):
            return await _enter(stream, address, account, demands, known)
    except trio.TooSlowError as error:
        raise ConnectError(f"{address.server} does not answer") from error
    except LostError as error:
        if error.to is not None or isinstance(error, EncryptedError):
            raise
        raise ConnectError(f"{address.server}: {error}") from error
    except trio.BrokenResourceError as error:
        raise ConnectError(f"{address.server}: the connection was lost") from error


async def _enter(
    stream: trio.abc.Stream, address: Address, account: Account, demands: Demands, known: Pin | None
) -> Entered:
    talk, clock = _Talk(stream), Clock()
    nonce = secrets.token_bytes(_NONCE_BYTES)
    client = Software(name="truc", version=version("truc"), lang="Python")
    asked = time.time()
    hello = await talk.ask(ClientHello(id=0, proto=PROTOCOLS, cn=nonce, client=client, **demands._asdict()))
    if not isinstance(hello, ServerHello):
        raise ConnectError(f"expected the server's hello, got {type(hello).__name__}")
    answered = time.time()
    shown = Shown(talk.protocol.hello_frame(Role.CLIENT), certificate_of(stream))
    server = recognise(hello, shown, address, account, known)
    _check_met(demands, server)
    clock.note(server.info.now_ms, asked=asked, answered=answered)
    welcome = await talk.ask(_login(address, account, server, nonce, talk.protocol))
    if not isinstance(welcome, Welcome):
        raise ConnectError(f"expected welcome, got {type(welcome).__name__}")
    link = Link(stream, talk.protocol, list(talk.inbox), server.info.limits.idle_s, clock)
    keys = keys_shown(hello, server, revoked_keys(account.home))
    return Entered(link, address, server, welcome, keys)


def _check_met(demands: Demands, server: ServerIdentity) -> None:
    """Check that the server has what is required: one that does not know the demand lets it pass."""
    missing = ", ".join(name for name in demands.require if name not in server.info.caps)
    if missing:
        raise RefusedError(Code.UNSUPPORTED, f"this server is without {missing}, which is required here")


class _Talk:
    """Question and answer before the connection is open to everything."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.protocol = Connection(Role.CLIENT)
        self.inbox: deque[AnyMessage] = deque()
        self._stream = stream

    async def ask(self, message: ClientMessage) -> AnyMessage:
        if not self.inbox:  # a goodbye may have come before this is asked
            await self._stream.send_all(self.protocol.send(message))
        while not self.inbox:
            received = await self._stream.receive_some(_READ_BYTES)
            if not received:
                raise LostError("the server closed the connection")
            self.inbox.extend(map(_sound, self.protocol.receive(bytes(received))))
        answer = self.inbox.popleft()
        match answer:
            case Refusal(code=Code.UNSUPPORTED, detail={"tls": True}):
                raise EncryptedError
            case Refusal():
                raise RefusedError(answer.code, answer.msg, retry_after_ms=answer.retry_after_ms)
            case Bye() if answer.code == Code.MOVED and answer.to is not None:
                raise _farewell(answer)
            case Bye():
                raise RefusedError(answer.code, answer.msg, retry_after_ms=answer.reconnect_after_ms)
            case _:
                return answer


def _login(
    address: Address, account: Account, server: ServerIdentity, nonce: bytes, protocol: Connection
) -> KeyLogin | GuestLogin | GuestReturn:
    if account.is_guest:
        token = account.store.token(server.pin.first)
        return GuestReturn(id=1, token=token) if token else GuestLogin(id=1, name=account.name)
    key = account.key(server.pin.first)
    signed = authenticate(key, server, cn=nonce, hello_frame=protocol.hello_frame(Role.SERVER))
    return KeyLogin(id=1, body=signed.body, sig=signed.sig, name=account.name, invite=address.invite)


def is_unknown_token(error: RefusedError) -> bool:
    """Tell whether a guest's token is no longer known."""
    return error.code == Code.BAD_TOKEN

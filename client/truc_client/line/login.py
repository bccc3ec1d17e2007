"""The handshake, from the hello to the login: the server proves who it is before the client says who is asking.

A key that is new to this client is reported: at first contact, and after rotations that the old key signed. Anything
else is a hard stop, before anything is said about the player; the message names both fingerprints and what to do.
"""

import secrets
import time
from collections import deque
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Final, NamedTuple

import trio

from truc_client.address import Address
from truc_client.errors import ConnectError, EncryptedError, LostError, RefusedError, ServerKeyError
from truc_client.home.account import Account, NewKey
from truc_client.home.home import revoked_keys
from truc_client.line.dialing import Dial, certificate_of
from truc_client.line.single_connection import (
    READ_BYTES,
    ClockOffset,
    SingleConnection,
    expect_message,
    farewell,
)
from truc_protocol.codec import dec
from truc_protocol.crypto.keys import KeyFileError, fingerprint
from truc_protocol.errors import Code, RemoteError
from truc_protocol.key_files import open_roll
from truc_protocol.messages import (
    AnyMessage,
    Bye,
    ClientHello,
    ClientMessage,
    GuestLogin,
    GuestReturn,
    KeyLogin,
    Refusal,
    ServerHello,
    Software,
    Welcome,
)
from truc_protocol.wire.connection import ConnectionEnd, Role
from truc_protocol.wire.handshake import (
    PROTOCOLS,
    BrokenPart,
    Fingerprint,
    HandshakeError,
    KnownServer,
    Pin,
    ServerIdentity,
    Trust,
    authenticate,
    check_server_hello,
)
from truc_words import Sentence

# as long as a server gives a client for its login (session.md, "Login")
HANDSHAKE_S: Final = 10.0
_VERSION: Final = version("truc")
_NONCE_BYTES: Final = 32


class WantedCapabilities(NamedTuple):
    """The capabilities that a client can use, and those without which it cannot go on."""

    want: tuple[str, ...] = ()
    require: tuple[str, ...] = ()


class Visit(NamedTuple):
    """Who goes where, and how.

    Attributes:
        known: the pin of the server that sent them there.
        patience_s: for how long a server that is not there, or too busy, is tried.
        first: the address that the player gave, if the server has sent them on from there.
        left: where else they were before, the newest first: somebody may answer there when nobody does at these.
    """

    address: Address
    account: Account
    dial: Dial
    wanted: WantedCapabilities = WantedCapabilities()
    known: Pin | None = None
    patience_s: float = 0.0
    first: Address | None = None
    left: tuple[Address, ...] = ()


class LoggedIn(NamedTuple):
    """A login that succeeded.

    Attributes:
        connection: the connection, which is not run yet.
        address: where it leads; not the address asked for, if the server has moved.
        server: who answers.
        welcome: the server's last message of the handshake.
        keys: the server's present key, and the earlier ones that it has shown to be its own.
    """

    connection: SingleConnection
    address: Address
    server: ServerIdentity
    welcome: Welcome
    keys: frozenset[bytes]


class MetServer(NamedTuple):
    """A server that has proved who it is, to somebody who has not said who they are.

    Attributes:
        address: where it is; not the address asked for, if it has moved.
        server: who answers.
        certificate: the hash of the certificate that it shows; None on a connection in clear.
    """

    address: Address
    server: ServerIdentity
    certificate: bytes | None


class _Greeted(NamedTuple):
    """The server's hello, checked, and the nonce that it answers."""

    hello: ServerHello
    server: ServerIdentity
    nonce: bytes


async def meet(stream: trio.abc.Stream, visit: Visit) -> MetServer:
    """Ask a server who it is, and nothing else; raises what `enter` does."""
    with _as_connect_errors(visit.address):
        greeted = await _greet(_Talk(stream), visit)
    return MetServer(visit.address, greeted.server, certificate_of(stream))


async def enter(stream: trio.abc.Stream, visit: Visit) -> LoggedIn:
    """Make the handshake.

    Raises:
        ServerKeyError: The server is not the one known.
        ConnectError: It is no server of this protocol, or does not answer in time.
        RefusedError: It does not let this player in.
        EncryptedError: It encrypts its connections, and this one is in clear.
        LostError: It is elsewhere now; `to` says where.
        HomeError: The player's home cannot be used.
    """
    with _as_connect_errors(visit.address):
        return await _enter(stream, visit)


@contextmanager
def _as_connect_errors(address: Address) -> Iterator[None]:
    """Say what is wrong with a handshake, also where it takes too long."""
    try:
        with trio.fail_after(HANDSHAKE_S):
            yield
    except trio.TooSlowError as error:
        raise ConnectError(Sentence("failures.no_answer", server=address.server)) from error
    except LostError as error:
        # opening.py goes on from these two
        if error.to is not None or isinstance(error, EncryptedError):
            raise
        raise ConnectError(Sentence("failures.at", server=address.server, error=str(error))) from error
    except trio.BrokenResourceError as error:
        lost = Sentence("failures.connection_lost")
        raise ConnectError(Sentence("failures.at", server=address.server, error=lost)) from error


async def _enter(stream: trio.abc.Stream, visit: Visit) -> LoggedIn:
    talk, clock = _Talk(stream), ClockOffset()
    asked = time.time()
    # the server proves itself before anything is said about the player (threats.md, "learn who logs in")
    hello, server, nonce = await _greet(talk, visit)
    clock.note(server.info.now_ms, asked=asked, answered=time.time())
    welcome = await talk.ask(_login(visit, server, nonce, talk.protocol))
    if not isinstance(welcome, Welcome):
        raise ConnectError(Sentence("failures.welcome_expected", got=type(welcome).__name__))
    # a server may send its first messages in one piece with the welcome: they wait in the inbox
    connection = SingleConnection(stream, talk.protocol, list(talk.inbox), server.info.limits.idle_s, clock)
    keys = keys_shown(hello, server, revoked_keys(visit.account.home))
    return LoggedIn(connection, visit.address, server, welcome, keys)


async def _greet(talk: "_Talk", visit: Visit) -> _Greeted:
    nonce = secrets.token_bytes(_NONCE_BYTES)
    client = Software(name="truc", version=_VERSION, lang="Python")
    hello = await talk.ask(
        ClientHello(id=0, proto=PROTOCOLS, cn=nonce, client=client, **visit.wanted._asdict())
    )
    if not isinstance(hello, ServerHello):
        raise ConnectError(Sentence("failures.hello_expected", got=type(hello).__name__))
    shown = _Shown(talk.protocol.hello_frame(Role.CLIENT), certificate_of(talk.stream))
    server = _recognise(hello, shown, visit)
    _check_met(visit.wanted, server)
    return _Greeted(hello, server, nonce)


def _check_met(wanted: WantedCapabilities, server: ServerIdentity) -> None:
    """Check that the server has what is required."""
    # checked here too: a server that does not know the field `require` ignores it
    missing = ", ".join(name for name in wanted.require if name not in server.info.caps)
    if missing:
        raise RefusedError(Code.UNSUPPORTED, Sentence("failures.capability_missing", names=missing))


class _Talk:
    """Question and answer before the connection is open to everything."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.protocol = ConnectionEnd(Role.CLIENT)
        self.inbox: deque[AnyMessage] = deque()
        self.stream = stream

    async def ask(self, message: ClientMessage) -> AnyMessage:
        if not self.inbox:  # a goodbye may have come before the question
            await self.stream.send_all(self.protocol.send(message))
        while not self.inbox:
            received = await self.stream.receive_some(READ_BYTES)
            if not received:
                raise LostError(Sentence("failures.connection_closed"))
            self.inbox.extend(map(expect_message, self.protocol.receive(bytes(received))))
        answer = self.inbox.popleft()
        match answer:
            # what a server that encrypts answers whoever comes in clear (transport.md, "TLS")
            case Refusal(code=Code.UNSUPPORTED, detail={"tls": True}):
                raise EncryptedError
            case Refusal():
                raise RefusedError(answer.code, answer.msg, retry_after_ms=answer.retry_after_ms)
            case Bye() if answer.code == Code.MOVED and answer.to is not None:
                raise farewell(answer)
            case Bye():
                raise RefusedError(answer.code, answer.msg, retry_after_ms=answer.reconnect_after_ms)
            case _:
                return answer


def _login(
    visit: Visit, server: ServerIdentity, nonce: bytes, protocol: ConnectionEnd
) -> KeyLogin | GuestLogin | GuestReturn:
    account = visit.account
    if account.is_guest:
        token = account.store.token(server.pin.first)
        return GuestReturn(id=1, token=token) if token else GuestLogin(id=1, name=account.name)
    key = account.key(server.pin.first)
    signed = authenticate(key, server, cn=nonce, hello_frame=protocol.hello_frame(Role.SERVER))
    return KeyLogin(id=1, body=signed.body, sig=signed.sig, name=account.name, invite=visit.address.invite)


_BROKEN_BINDINGS: Final = {
    BrokenPart.IN_CLEAR: "failures.sealed_and_seen_clear",
    BrokenPart.ENCRYPTION: "failures.sealed_by_another",
    BrokenPart.CERTIFICATE: "failures.other_certificate",
}


class _Shown(NamedTuple):
    """What the two ends of a connection have shown each other before the server's hello.

    Attributes:
        own_frame: the client's hello, as sent.
        certificate: the hash of the certificate that the server shows; None on a connection in clear.
    """

    own_frame: bytes
    certificate: bytes | None = None


def _recognise(hello: ServerHello, shown: _Shown, visit: Visit) -> ServerIdentity:
    """Check who answers, remember its key and report it if it is new.

    If a server has sent the client to this address, the same one must answer here.

    Raises:
        ServerKeyError: It is not the server known, or not the one that the link names.
        ConnectError: It breaks the protocol.
        HomeError: The revocations in the home cannot be read.
    """
    address, account = visit.address, visit.account
    pin = _expected(account.store.pin(address.server), visit.known, address)
    known = pin or address.fingerprint
    known_server = KnownServer(
        shown.own_frame, PROTOCOLS, known, int(time.time()), shown.certificate, revoked_keys(account.home)
    )
    try:
        server = check_server_hello(hello, known_server)
    except HandshakeError as error:
        raise ServerKeyError(_what_to_do(error, hello, address, pin)) from error
    except RemoteError as error:
        raise ConnectError(Sentence("failures.at", server=address.server, error=error)) from error
    if pin is not None:
        _check_link(hello, known_server, address, server)
    # before the login, whose key is derived from the pin (keyed-client.md, 7)
    account.store.keep_pin(address.server, server.pin, is_tls=address.is_tls)
    _report_new_key(server, address, account, pin)
    return server


def _expected(pin: Pin | None, moved: Pin | None, address: Address) -> Pin | None:
    """Return the pin of the server at an address: known there, or from the address that it has left.

    Raises:
        ServerKeyError: Another server is known there.
    """
    if pin is None or moved is None:
        return pin or moved
    if pin.first != moved.first:
        keys = {"expected": fingerprint(moved.present), "known": fingerprint(pin.present)}
        raise ServerKeyError(Sentence("failures.sent_by_another", server=address.server, **keys))
    # one of the two addresses may not have seen the newest rotation yet
    return max(pin, moved, key=lambda each: each.serial)


def keys_shown(hello: ServerHello, server: ServerIdentity, revoked: Collection[bytes]) -> frozenset[bytes]:
    """Return the keys under which a match at a server may have begun: the present one, and those that led to it.

    They follow from the hello's rotations, read backwards as far as these are valid and no key was revoked.
    """
    keys = {server.spk}
    present = server.spk
    for roll in reversed(hello.rolls):
        try:
            change = open_roll(roll)
        except KeyFileError:
            break
        if change.new != present or change.old in revoked:
            break
        present = change.old
        keys.add(present)
    return frozenset(keys)


def _check_link(
    hello: ServerHello, known_server: KnownServer, address: Address, server: ServerIdentity
) -> None:
    """Check that a link means the known server: by its first key, the present one, or one of its rotations."""
    invited = address.fingerprint
    if invited is None or invited in (fingerprint(server.pin.first), fingerprint(server.spk)):
        return
    try:
        check_server_hello(hello, known_server._replace(known=invited))
    except HandshakeError as error:
        keys = {"key": fingerprint(server.spk), "invited": invited}
        raise ServerKeyError(Sentence("failures.other_link", server=address.server, **keys)) from error


def _report_new_key(server: ServerIdentity, address: Address, account: Account, pin: Pin | None) -> None:
    present = Fingerprint(fingerprint(server.spk))
    match server.trust:
        case Trust.FIRST_CONTACT:
            account.on_new_key(NewKey(address.server, present))
        case Trust.ROLLED:
            # without a pin the rotations were followed from the key that the link names
            before = address.fingerprint if pin is None else Fingerprint(fingerprint(pin.present))
            account.on_new_key(NewKey(address.server, present, before))
        case Trust.PINNED:
            pass


def _what_to_do(error: HandshakeError, hello: ServerHello, address: Address, pin: Pin | None) -> Sentence:
    """Return what is wrong with a server's proof, and what a person can do about it."""
    found = _what_is_wrong(error, hello, address, pin)
    told = Sentence("failures.at", server=address.server, error=found)
    forget = f"truc keys forget {address.server}"
    if error.check == "C40":
        told = Sentence("failures.revoked", told=told)
        return told if pin is None else Sentence("failures.then", told=told, command=forget)
    if error.what in _BROKEN_BINDINGS:
        return Sentence("failures.in_between", told=told)
    if error.check != "C39" and error.what is not BrokenPart.KEY:
        return told
    if pin is not None:
        return Sentence("failures.if_confirmed", told=told, command=forget)
    return told if address.fingerprint is None else Sentence("failures.stale_link", told=told)


def _what_is_wrong(error: HandshakeError, hello: ServerHello, address: Address, pin: Pin | None) -> str:
    """Return what is wrong, with the known key and the one shown if a person must compare them."""
    if error.what in _BROKEN_BINDINGS:
        return Sentence(_BROKEN_BINDINGS[error.what], check=error.check)
    if error.what is not BrokenPart.KEY and error.check != "C39":
        return error.message
    keys = _keys(hello, address, pin)
    if error.what is BrokenPart.KEY:
        return Sentence("failures.key_changed", check=error.check, **keys)
    key = "failures.both_keys" if "expected" in keys else "failures.shows_key"
    return Sentence(key, told=error.message, **keys)


def _keys(hello: ServerHello, address: Address, pin: Pin | None) -> dict[str, str]:
    """Return the key expected, if there is one, and the one shown; only for a hello whose body has passed."""
    shown = {"shown": fingerprint(dec(hello.body)[1])}
    known = address.fingerprint if pin is None else fingerprint(pin.present)
    return shown if known is None else {"expected": known, **shown}

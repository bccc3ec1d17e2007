"""The bodies both ends sign before anything else, and their checks: C37 to C40.

The client speaks first, the server proves itself, and only then does the client say who it is. Both signatures cover
both nonces and the hash of the other's frame, so that neither can be replayed, forwarded or made for other terms.
Nonces, the clock, the certificate and what was pinned are passed in; each check returns what it proved.
"""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from enum import Enum, auto
from typing import Annotated, Final, NamedTuple, NewType, assert_never

import msgspec

from truc_protocol.bodies import Body, Hash, U
from truc_protocol.codec import MAX_INT, EncodingError, dec, sha256
from truc_protocol.crypto.keys import SigningKey, fingerprint, is_admissible, is_blacklisted, verify
from truc_protocol.errors import Code, RemoteError
from truc_protocol.messages import ClientHello, Info, KeyLogin, ServerHello, decode_info
from truc_protocol.records import B, encode, encode_own

PROTOCOLS: Final = (1,)
MAX_ROLLS: Final = 8  # the newest: each has 222 bytes, and whoever connects is sent a hello

Fingerprint = NewType("Fingerprint", str)
Roll = tuple[bytes, bytes, bytes]


class Hello(Body, frozen=True, tag="truc/1/hello"):
    """The server signs its nonce, the client's hello and its own info."""

    spk: Hash
    sn: Hash
    client_hello: Hash
    proto: U
    cert: Hash | None
    info: Hash


class Auth(Body, frozen=True, tag="truc/1/auth"):
    """The player signs both nonces and the server's hello."""

    spk: Hash
    pk: Hash
    cn: Hash
    sn: Hash
    server_hello: Hash


class KeyRoll(Body, frozen=True, tag="truc/1/roll"):
    """The server's key changes; both keys sign."""

    old: Hash
    new: Hash
    serial: Annotated[int, msgspec.Meta(ge=1, le=MAX_INT)]
    not_before: U


class Revoke(Body, frozen=True, tag="truc/1/revoke"):
    """A key is given up for ever; it signs this itself, in advance."""

    pk: Hash


class BrokenPart(Enum):
    """What a check found broken, where that matters to whoever reads the error."""

    PROOF = auto()
    KEY = auto()
    """The server's key has changed."""
    IN_CLEAR = auto()
    ENCRYPTION = auto()
    CERTIFICATE = auto()


_NOT_ITS_CERTIFICATE: Final = {
    BrokenPart.IN_CLEAR: "the server has encrypted this connection, but it comes in clear",
    BrokenPart.ENCRYPTION: "this connection is encrypted, but not by the server",
    BrokenPart.CERTIFICATE: "this connection is encrypted with another certificate than the server's",
}


class HandshakeError(RemoteError):
    """A check of the handshake failed; `check` is its number, `what` is what it found broken."""

    def __init__(
        self, check: str, message: str, code: Code = Code.BAD_SIGNATURE, what: BrokenPart = BrokenPart.PROOF
    ) -> None:
        # the registry tells whoever gets bad_message to look at the field
        super().__init__(code, f"{check}: {message}", field="body" if code is Code.BAD_MESSAGE else None)
        self.check = check
        self.what = what


class SignedBody(NamedTuple):
    """A body and its signature."""

    body: bytes
    sig: bytes


class Pin(NamedTuple):
    """What a client keeps of a server: the first key seen, the present one, the serial of the last roll followed."""

    first: bytes
    present: bytes
    serial: int


class Trust(Enum):
    """How a client came to accept a server's key; the user is told of a FIRST_CONTACT and of a ROLLED key."""

    FIRST_CONTACT = auto()
    PINNED = auto()
    ROLLED = auto()


class KnownServer(NamedTuple):
    """What a client knows when the server's hello comes in.

    `hello_frame` is the client's own hello as sent, `known` what it knows of this server: a pin, the fingerprint of a
    join string, or nothing. `now` is Unix time in seconds, `cert` the SHA-256 of the certificate it sees.
    """

    hello_frame: bytes
    proto: Sequence[int]
    known: Pin | Fingerprint | None
    now: int
    cert: bytes | None = None
    revoked: Collection[bytes] = ()


class ServerIdentity(NamedTuple):
    """A server that has proved itself; `pin` is to be stored."""

    pin: Pin
    trust: Trust
    proto: int
    sn: bytes
    info: Info

    @property
    def spk(self) -> bytes:
        """The server's present key."""
        return self.pin.present


class Greeting(NamedTuple):
    """What a server says in its hello."""

    key: SigningKey
    sn: bytes
    proto: int
    info: bytes
    cert: bytes | None = None
    rolls: tuple[Roll, ...] = ()


class Challenge(NamedTuple):
    """What a login must be made for: this server, both nonces, and the server's hello as sent."""

    spk: bytes
    cn: bytes
    sn: bytes
    hello_frame: bytes
    revoked: Collection[bytes] = ()


def agree_on_protocol(hello: ClientHello, caps: Collection[str]) -> int:
    """Return the protocol number to speak: the highest that both ends know.

    Raises:
        RemoteError: unsupported, for the numbers offered or for a capability that the client requires.
    """
    common = set(hello.proto) & set(PROTOCOLS)
    if not common:
        raise RemoteError(
            Code.UNSUPPORTED,
            f"expected one of the protocols {list(PROTOCOLS)}, got {list(hello.proto)}",
            field="proto",
            re=hello.id,
        )
    for i, name in enumerate(hello.require):
        if name not in caps:
            raise RemoteError(
                Code.UNSUPPORTED,
                f"expected a capability of this server, got {name!r}",
                field=f"require/{i}",
                re=hello.id,
            )
    return max(common)


def server_hello(greeting: Greeting, request: int, client_frame: bytes) -> ServerHello:
    """Return the signed answer to a client's hello; `client_frame` is that hello as received."""
    body = encode_own(
        Hello(
            spk=greeting.key.public,
            sn=greeting.sn,
            client_hello=sha256(client_frame),
            proto=greeting.proto,
            cert=greeting.cert,
            info=sha256(greeting.info),
        )
    )
    return ServerHello(
        re=request,
        body=body,
        sig=greeting.key.sign(body),
        info=greeting.info,
        rolls=greeting.rolls[-MAX_ROLLS:],
    )


def check_server_hello(hello: ServerHello, known_server: KnownServer) -> ServerIdentity:
    """Check who answers, before saying who asks.

    Raises:
        HandshakeError: C37 the hello is not for this connection or not from the known server; C39 a rotation does not
            lead to its key; C40 its key was revoked.
        RemoteError: The info is not a map of the profile.
    """
    body = _parse(hello.body, Hello, "C37")
    # before the signature, because under a key of small order one signature fits every message
    if not is_admissible(body.spk):
        raise HandshakeError("C37", "expected an admissible server key", Code.KEY_NOT_ALLOWED)
    if not verify(body.spk, hello.body, hello.sig):
        raise HandshakeError("C37", "the server's signature is not valid")
    _expect("C37", "the hash of this client's hello", body.client_hello, sha256(known_server.hello_frame))
    if body.proto not in known_server.proto:
        raise HandshakeError(
            "C37", f"expected a protocol of {list(known_server.proto)}, got {body.proto}", Code.UNSUPPORTED
        )
    # whoever decrypts in between has another certificate than the one the server signed (decision 16)
    _check_certificate(body.cert, known_server.cert)
    _expect("C37", "the hash of the info sent along", body.info, sha256(hello.info))
    pin, trust = _recognise(body.spk, hello.rolls, known_server)
    # the info is read only now that a signature of a known server covers it
    return ServerIdentity(pin, trust, body.proto, body.sn, decode_info(hello.info))


def authenticate(key: SigningKey, server: ServerIdentity, *, cn: bytes, hello_frame: bytes) -> SignedBody:
    """Return the login of a player's key to a server that has proved itself; `hello_frame` is its hello as received."""
    body = encode(Auth(spk=server.spk, pk=key.public, cn=cn, sn=server.sn, server_hello=sha256(hello_frame)))
    return SignedBody(body, key.sign(body))


def check_login(login: KeyLogin, challenge: Challenge) -> bytes:
    """Return the public key that has logged in.

    Raises:
        HandshakeError: C38 the login is for another connection, its key inadmissible or its signature not valid; C40
            its key was revoked.
    """
    body = _parse(login.body, Auth, "C38")
    # cheap comparisons come before the signature
    _expect("C38", "this server's key", body.spk, challenge.spk)
    _expect("C38", "the client's nonce", body.cn, challenge.cn)
    _expect("C38", "the server's nonce", body.sn, challenge.sn)
    _expect("C38", "the hash of the server's hello", body.server_hello, sha256(challenge.hello_frame))
    # a cheap check is enough here: prime order is checked when the key takes a seat (C4)
    if is_blacklisted(body.pk):
        raise HandshakeError("C38", "expected an admissible player key", Code.KEY_NOT_ALLOWED)
    _check_revoked(body.pk, challenge.revoked)
    if not verify(body.pk, login.body, login.sig):
        raise HandshakeError("C38", "the player's signature is not valid")
    return body.pk


def make_roll(old: SigningKey, new: SigningKey, *, serial: int, not_before: int) -> Roll:
    """Return the rotation from one server key to the next, signed by both; serials count from 1."""
    body = encode(KeyRoll(old=old.public, new=new.public, serial=serial, not_before=not_before))
    return body, old.sign(body), new.sign(body)


def revoke(key: SigningKey) -> SignedBody:
    """Return the statement that gives a key up; it is made in advance and kept offline."""
    body = encode(Revoke(pk=key.public))
    return SignedBody(body, key.sign(body))


def check_revoke(revocation: SignedBody) -> bytes:
    """Return the key that a revocation gives up.

    Raises:
        HandshakeError: C40 it is no revocation, or not signed by that key.
    """
    body = _parse(revocation.body, Revoke, "C40")
    if not verify(body.pk, revocation.body, revocation.sig):
        raise HandshakeError("C40", "the revocation is not signed by the key it names")
    return body.pk


def _recognise(spk: bytes, rolls: Sequence[Roll], known_server: KnownServer) -> tuple[Pin, Trust]:
    """Find the way from what is known to the key that signed."""
    # first, as this key may be the pinned one, or at first contact any: a revoked one is never accepted (C40)
    _check_revoked(spk, known_server.revoked)
    match known_server.known:
        case None:
            return _first_contact(spk, rolls, known_server)
        case Pin() as pin:
            if spk == pin.present:
                return pin, Trust.PINNED
            # older ones were followed before: again, they would let a thief of an old key roll the pin back
            due = _newer_rolls(rolls, pin)
            if not due:
                raise _key_changed(fingerprint(pin.present), spk)
            return Pin(pin.first, spk, _follow(*_from_pinned_key(pin, due), spk, known_server)), Trust.ROLLED
        case str() as invited:
            return _recognise_invited(invited, spk, rolls, known_server)
        case _:
            assert_never(known_server.known)


def _newer_rolls(rolls: Sequence[Roll], pin: Pin) -> list[Roll]:
    return [roll for roll in rolls if _parse(roll[0], KeyRoll, "C39").serial > pin.serial]


def _from_pinned_key(pin: Pin, due: Sequence[Roll]) -> tuple[Pin, Sequence[Roll]]:
    """Return the rotations from the pinned key on, and the pin with the serial before them."""
    # nobody signs the list of rotations: at first contact somebody in between may have left some out, and the
    # serial pinned then is too low. What counts is that the pinned key itself signed the first one followed
    for i, roll in enumerate(due):
        body = _parse(roll[0], KeyRoll, "C39")
        if body.old == pin.present:
            return pin._replace(serial=body.serial - 1), due[i:]
    return pin, due


def _first_contact(spk: bytes, rolls: Sequence[Roll], known_server: KnownServer) -> tuple[Pin, Trust]:
    """Take the key as it is; the rolls only tell how far its serials have come."""
    # all are checked, or a made-up one with a high serial would make the next real one look old
    serial = 0
    if rolls:
        oldest = _parse(rolls[0][0], KeyRoll, "C39")
        start = Pin(oldest.old, oldest.old, oldest.serial - 1)
        # Nothing is trusted because of the earlier keys: one of them that was revoked does no harm to the present one.
        serial = _follow(start, rolls, spk, known_server._replace(revoked=()))
    return Pin(spk, spk, serial), Trust.FIRST_CONTACT


def _recognise_invited(
    invited: Fingerprint, spk: bytes, rolls: Sequence[Roll], known_server: KnownServer
) -> tuple[Pin, Trust]:
    """Take the key whose fingerprint the join string gave, or one that it was rolled to."""
    if fingerprint(spk) == invited:
        return _first_contact(spk, rolls, known_server)
    for i, roll in enumerate(rolls):
        body = _parse(roll[0], KeyRoll, "C39")
        if fingerprint(body.old) == invited:
            pin = Pin(body.old, body.old, body.serial - 1)
            # pinned as the first key, because the player's own key for this server is derived from that
            return Pin(body.old, spk, _follow(pin, rolls[i:], spk, known_server)), Trust.ROLLED
    raise _key_changed(invited, spk)


def _follow(pin: Pin, rolls: Sequence[Roll], spk: bytes, known_server: KnownServer) -> int:
    """Follow rotations from a pinned key to `spk` and return the last serial."""
    present, serial = pin.present, pin.serial
    for body, sig_old, sig_new in rolls:
        roll = _parse(body, KeyRoll, "C39")
        serial += 1
        if roll.serial != serial:
            raise HandshakeError("C39", f"expected the rotation with serial {serial}, got {roll.serial}")
        _expect("C39", f"the key before in rotation {serial}", roll.old, present)
        if roll.not_before > known_server.now:
            begins, now = _time_text(roll.not_before), _time_text(known_server.now)
            raise HandshakeError(
                "C39",
                f"rotation {serial} is not in force before {begins}; the clock here says {now}: is it right?",
            )
        _check_roll_keys(roll, known_server.revoked)
        if not (verify(roll.old, body, sig_old) and verify(roll.new, body, sig_new)):
            raise HandshakeError("C39", f"rotation {serial} is not signed by both keys")
        present = roll.new
    _expect("C39", "rotations that end at the server's key", present, spk)
    return serial


def _time_text(seconds: int) -> str:
    # anybody in between can make up a rotation, with a year that datetime does not have
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (ValueError, OverflowError, OSError):
        return f"second {seconds} since 1970"


def _check_roll_keys(roll: KeyRoll, revoked: Collection[bytes]) -> None:
    for key in (roll.old, roll.new):
        _check_revoked(key, revoked)
        if not is_admissible(key):
            message = f"rotation {roll.serial} names an inadmissible key"
            raise HandshakeError("C39", message, Code.KEY_NOT_ALLOWED)


def _check_revoked(key: bytes, revoked: Collection[bytes]) -> None:
    if key in revoked:
        raise HandshakeError("C40", f"the key {fingerprint(key)} was revoked", Code.KEY_NOT_ALLOWED)


def _key_changed(known: str, spk: bytes) -> HandshakeError:
    message = f"the server's key has changed: expected {known}, got {fingerprint(spk)}"
    return HandshakeError("C37", message, what=BrokenPart.KEY)


def _check_certificate(signed: bytes | None, seen: bytes | None) -> None:
    """Check that the hello was made for what the client sees: this certificate, or none."""
    if signed != seen:
        what = (
            BrokenPart.IN_CLEAR
            if seen is None
            else BrokenPart.CERTIFICATE
            if signed
            else BrokenPart.ENCRYPTION
        )
        raise HandshakeError("C37", _NOT_ITS_CERTIFICATE[what], what=what)


def _expect(check: str, what: str, came: bytes | None, expected: bytes | None) -> None:
    if came != expected:
        raise HandshakeError(check, f"expected {what}, got another")


def _parse(encoded: bytes, kind: type[B], check: str) -> B:
    try:
        # as `read_body` does: every login passes here
        return msgspec.convert(dec(encoded), kind, builtin_types=(bytes,))
    except (EncodingError, msgspec.ValidationError) as error:
        raise HandshakeError(check, f"the body has another shape: {error}", Code.BAD_MESSAGE) from error

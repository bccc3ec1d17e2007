"""Cases S1: who is let in, under which name, and what is refused."""

from typing import Final

from truc_conform.expectations import InconclusiveError, Map, UnexpectedError, expect, expect_ok
from truc_conform.raw_client import RawClient
from truc_conform.server_visit import ServerVisit, case, held_seats, row
from truc_protocol.codec import sha256
from truc_protocol.crypto.keys import SMALL_ORDER, SigningKey, fingerprint, generate_signing_key
from truc_protocol.errors import Code
from truc_protocol.records import encode
from truc_protocol.wire.handshake import Auth

NONCE: Final = bytes(32)
_TOKEN: Final = "x" * 32
_INVITE: Final = "NOSUCHINVITE"
_GUEST_MARK: Final = "guest-"
_HANDSHAKE: Final = "security.md#the-handshake"
_LOGIN: Final = "session.md#login"


def auth(client: RawClient, key: SigningKey, **changed: bytes) -> bytes:
    """Return the body of a login for this connection, with some fields replaced."""
    server = client.server
    if server is None:
        raise UnexpectedError("expected hello before a login, got none")
    sound: dict[str, bytes] = {"spk": server.spk, "pk": key.public, "cn": client.cn, "sn": server.sn}
    return encode(Auth(**{**sound, "server_hello": sha256(client.hello_frame), **changed}))


async def _greeted(visit: ServerVisit) -> RawClient:
    client = await visit.connect()
    await client.hello()
    return client


async def _refused(client: RawClient, body: bytes, sig: bytes, code: Code) -> None:
    await client.send({"t": "login", "body": body, "sig": sig})
    await client.check_ended(code)


@case("S1.key", _LOGIN)
async def _key(visit: ServerVisit) -> None:
    """A key is let in; its tag is its fingerprint."""
    key = generate_signing_key()
    client = await visit.player(key)
    tag = client.welcome.get("player")
    expect(tag in (None, fingerprint(key.public)), "the fingerprint of the key as the player's tag", tag)
    expect("token" not in client.welcome, "no token for a key", "one")


@case("S1.fingerprint", "security.md#keys")
async def _fingerprint(visit: ServerVisit) -> None:
    """The server has the fingerprint of its join string."""
    known, client = visit.address.fingerprint, await _greeted(visit)
    came = fingerprint(client.spk)
    if known is None:
        raise InconclusiveError(f"no fingerprint was given with the address; the server's is {came}")
    expect(came == known, f"a server with the fingerprint {known}", came)


@case("S1.bad-signature", _HANDSHAKE)
async def _bad_signature(visit: ServerVisit) -> None:
    """A login signed by another key gets bad_signature (C38)."""
    client = await _greeted(visit)
    body = auth(client, generate_signing_key())
    await _refused(client, body, generate_signing_key().sign(body), Code.BAD_SIGNATURE)


@case("S1.other-body", _HANDSHAKE)
async def _other_body(visit: ServerVisit) -> None:
    """A signature of other bytes gets bad_signature (C38)."""
    client, key = await _greeted(visit), generate_signing_key()
    await _refused(client, auth(client, key), key.sign(b"other bytes"), Code.BAD_SIGNATURE)


@case("S1.replayed", _HANDSHAKE)
async def _replayed(visit: ServerVisit) -> None:
    """A login for another connection gets bad_signature (C38)."""
    first, second = await _greeted(visit), await _greeted(visit)
    key = generate_signing_key()
    body = auth(first, key)
    await _refused(second, body, key.sign(body), Code.BAD_SIGNATURE)


async def _another_field(visit: ServerVisit, *, field: str) -> None:
    client, key = await _greeted(visit), generate_signing_key()
    body = auth(client, key, **{field: NONCE})
    await _refused(client, body, key.sign(body), Code.BAD_SIGNATURE)


_FIELDS: Final = [
    row(name, _HANDSHAKE, f"{what} gets bad_signature (C38)", _another_field, field=field)
    for name, field, what in (
        ("S1.other-server", "spk", "A login made for another server's key"),
        ("S1.other-client-nonce", "cn", "A login with another client nonce"),
        ("S1.other-server-nonce", "sn", "A login with another server nonce"),
        ("S1.other-hello", "server_hello", "A login with the hash of another hello"),
    )
]


@case("S1.small-order", "security.md#keys")
async def _small_order(visit: ServerVisit) -> None:
    """A key of small order gets key_not_allowed (C38)."""
    for public in sorted(SMALL_ORDER)[::4]:
        client = await _greeted(visit)
        body = auth(client, generate_signing_key(), pk=public)
        # With the neutral point as key, a check that does not examine the key takes this as a signature of any message.
        await _refused(client, body, (1).to_bytes(32, "little") + bytes(32), Code.KEY_NOT_ALLOWED)


@case("S1.loose-body", "../fairness/specification.md#1-encoding")
async def _loose_body(visit: ServerVisit) -> None:
    """A body with bytes after it gets bad_message (C38)."""
    client, key = await _greeted(visit), generate_signing_key()
    body = auth(client, key) + b"\xc0"
    await _refused(client, body, key.sign(body), Code.BAD_MESSAGE)


async def _name(visit: ServerVisit, *, given: str) -> None:
    client = await _greeted(visit)
    await client.send({**client.auth(generate_signing_key()), "name": given})
    (error, _) = await client.check_ended(Code.BAD_MESSAGE)
    expect(error.get("field") == "name", "the field name", error)


_NAMES: Final = [
    row(name, "limits.md#sizes", f"{what} gets bad_message for name", _name, given=value)
    for name, what, value in (
        ("S1.name-blank", "A name of spaces", " "),
        ("S1.name-control", "A name with a control character", "bell\x07"),
        ("S1.name-long", "A name above 64 bytes", "a" * 65),
        ("S1.name-long-utf8", "A name above 64 bytes, though not above 64 characters,", "ж" * 40),
    )
]


@case("S1.name-alike", "limits.md#names")
async def _name_alike(visit: ServerVisit) -> None:
    """Of two players who ask for one name, the second gets another."""
    name = (await visit.player()).welcome.get("name")
    other = (await visit.player()).welcome.get("name")
    expect(name != other, f"a name other than {name!r} for the second who asks for it", other)


@case("S1.second-login", "connection.md#steps")
async def _second_login(visit: ServerVisit) -> None:
    """A second login gets not_now, and the connection stays open."""
    client = await visit.player()
    await client.refused({"t": "login", "name": "Ida"}, Code.NOT_NOW)
    await client.check_alive()


@case("S1.seats-listed", _LOGIN)
async def _seats_listed(visit: ServerVisit) -> None:
    """welcome lists the player's seats."""
    seat = await visit.seat()
    expect_ok(await seat.open_table(), "a table to be created")
    again = await visit.player(seat.key)
    expected = [(seat.table, None, seat.seat)]
    expect(held_seats(again.welcome) == expected, f"seats to be {expected}", again.welcome)


@case("S1.guest", _LOGIN)
async def _guest(visit: ServerVisit) -> None:
    """A guest is let in with a name, and gets a token."""
    client = await visit.guest()
    tag = client.welcome.get("player", _GUEST_MARK)
    expect(client.welcome.get("token"), "a token for a guest", client.welcome)
    expect(tag.startswith(_GUEST_MARK), f"a tag that begins with {_GUEST_MARK}", tag)


@case("S1.guests-refused", "errors.md#guests_not_allowed")
async def _guests_refused(visit: ServerVisit) -> None:
    """A server without guests says guests_not_allowed."""
    client = await _greeted(visit)
    if client.info["guests"]:
        raise InconclusiveError("the server admits guests")
    await client.send({"t": "login", "name": "Gus"})
    await client.check_ended(Code.GUESTS_NOT_ALLOWED)


@case("S1.token", _LOGIN)
async def _token(visit: ServerVisit) -> None:
    """A guest who has sat down comes back with the token."""
    (guest, _) = await visit.seats(guests=(0,))
    again = await visit.connect()
    reply = await again.login_token(guest.token)
    expect(reply["t"] == "welcome", "the guest to be let in again with the token", reply)
    expect(reply.get("player") == guest.client.welcome.get("player"), "the same player", reply)
    expect([seat["table"] for seat in reply.get("seats", ())] == [guest.table], "the guest's seat", reply)


@case("S1.token-early", _LOGIN)
async def _token_early(visit: ServerVisit) -> None:
    """A token gets bad_token before its guest has sat down."""
    guest = await visit.guest()
    client = await _greeted(visit)
    await client.send({"t": "login", "token": guest.welcome["token"]})
    await client.check_ended(Code.BAD_TOKEN)


@case("S1.token-wrong", _LOGIN)
async def _token_wrong(visit: ServerVisit) -> None:
    """A token that was never given gets bad_token."""
    await visit.guest()
    client = await _greeted(visit)
    await client.send({"t": "login", "token": _TOKEN})
    await client.check_ended(Code.BAD_TOKEN)


@case("S1.invite", "errors.md#key_not_allowed")
async def _invite(visit: ServerVisit) -> None:
    """An invite that was never given gets key_not_allowed."""
    client = await _greeted(visit)
    if "invite" not in client.info["caps"]:
        raise InconclusiveError("the server takes no invites")
    login: Map = client.auth(generate_signing_key())
    await client.send({**login, "invite": _INVITE})
    (error, _) = await client.check_ended(Code.KEY_NOT_ALLOWED)
    expect(error.get("field") == "invite", "the field invite", error)

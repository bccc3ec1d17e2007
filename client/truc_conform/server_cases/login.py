"""Cases S1: who is let in, under which name, and what is refused."""

from functools import partial
from typing import Final

from truc_conform.raw_client import Map, RawClient, UnexpectedError
from truc_conform.server_visit import (
    InconclusiveError,
    ServerCase,
    Visit,
    check_alive,
    check_ended,
    create,
    expect,
    expect_ok,
    held_seats,
    refused,
    server_case,
    server_row,
)
from truc_protocol.codec import sha256
from truc_protocol.crypto.keys import SMALL_ORDER, SigningKey, fingerprint, generate_signing_key
from truc_protocol.errors import Code
from truc_protocol.records import encode
from truc_protocol.wire.handshake import Auth

NONCE: Final = bytes(32)
_TOKEN: Final = "x" * 32
_INVITE: Final = "NOSUCHINVITE"
_GUEST_MARK: Final = "guest-"
_NAMES: Final = (
    ("name-blank", "A name of spaces", " "),
    ("name-control", "A name with a control character", "bell\x07"),
    ("name-long", "A name above 64 bytes", "a" * 65),
    ("name-long-utf8", "A name above 64 bytes, though not above 64 characters,", "ж" * 40),
)


def auth(client: RawClient, key: SigningKey, **changed: bytes) -> bytes:
    """Return the body of a login for this connection, with some fields replaced."""
    server = client.server
    if server is None:
        raise UnexpectedError("expected hello before a login, got none")
    sound: dict[str, bytes] = {"spk": server.spk, "pk": key.public, "cn": client.cn, "sn": server.sn}
    return encode(Auth(**{**sound, "server_hello": sha256(client.hello_frame), **changed}))


async def _greeted(visit: Visit) -> RawClient:
    client = await visit.connect()
    await client.hello()
    return client


async def _refused(client: RawClient, body: bytes, sig: bytes, code: Code) -> None:
    await client.send({"t": "login", "body": body, "sig": sig})
    await check_ended(client, code)


async def _another_field(visit: Visit, *, field: str) -> None:
    client, key = await _greeted(visit), generate_signing_key()
    body = auth(client, key, **{field: NONCE})
    await _refused(client, body, key.sign(body), Code.BAD_SIGNATURE)


async def _bad_signature(visit: Visit) -> None:
    """A login signed by another key gets bad_signature (C38)."""
    client = await _greeted(visit)
    body = auth(client, generate_signing_key())
    await _refused(client, body, generate_signing_key().sign(body), Code.BAD_SIGNATURE)


async def _other_body(visit: Visit) -> None:
    """A signature of other bytes gets bad_signature (C38)."""
    client, key = await _greeted(visit), generate_signing_key()
    await _refused(client, auth(client, key), key.sign(b"other bytes"), Code.BAD_SIGNATURE)


async def _replayed(visit: Visit) -> None:
    """A login for another connection gets bad_signature (C38)."""
    first, second = await _greeted(visit), await _greeted(visit)
    key = generate_signing_key()
    body = auth(first, key)
    await _refused(second, body, key.sign(body), Code.BAD_SIGNATURE)


async def _small_order(visit: Visit) -> None:
    """A key of small order gets key_not_allowed (C38)."""
    for public in sorted(SMALL_ORDER)[::4]:
        client = await _greeted(visit)
        body = auth(client, generate_signing_key(), pk=public)
        # With the neutral point as key, a check that does not examine the key takes this as a signature of any message.
        await _refused(client, body, (1).to_bytes(32, "little") + bytes(32), Code.KEY_NOT_ALLOWED)


async def _loose_body(visit: Visit) -> None:
    """A body with bytes after it gets bad_message (C38)."""
    client, key = await _greeted(visit), generate_signing_key()
    body = auth(client, key) + b"\xc0"
    await _refused(client, body, key.sign(body), Code.BAD_MESSAGE)


async def _key(visit: Visit) -> None:
    """A key is let in; its tag is its fingerprint."""
    key = generate_signing_key()
    client = await visit.player(key)
    tag = client.welcome.get("player")
    expect(tag in (None, fingerprint(key.public)), "the fingerprint of the key as the player's tag", tag)
    expect("token" not in client.welcome, "no token for a key", "one")


async def _fingerprint(visit: Visit) -> None:
    """The server has the fingerprint of its join string."""
    known, client = visit.address.fingerprint, await _greeted(visit)
    came = fingerprint(client.spk)
    if known is None:
        raise InconclusiveError(f"no fingerprint was given with the address; the server's is {came}")
    expect(came == known, f"a server with the fingerprint {known}", came)


async def _second_login(visit: Visit) -> None:
    """A second login gets not_now, and the connection stays open."""
    client = await visit.player()
    await refused(client, {"t": "login", "name": "Ida"}, Code.NOT_NOW)
    await check_alive(client)


async def _seats_listed(visit: Visit) -> None:
    """welcome lists the player's seats."""
    seat = await visit.seat()
    expect_ok(await create(seat), "a table to be created")
    again = await visit.player(seat.key)
    expected = [(seat.table, None, seat.seat)]
    expect(held_seats(again.welcome) == expected, f"seats to be {expected}", again.welcome)


async def _guest(visit: Visit) -> None:
    """A guest is let in with a name, and gets a token."""
    client = await visit.guest()
    tag = client.welcome.get("player", _GUEST_MARK)
    expect(client.welcome.get("token"), "a token for a guest", client.welcome)
    expect(tag.startswith(_GUEST_MARK), f"a tag that begins with {_GUEST_MARK}", tag)


async def _guests_refused(visit: Visit) -> None:
    """A server without guests says guests_not_allowed."""
    client = await _greeted(visit)
    if client.info["guests"]:
        raise InconclusiveError("the server admits guests")
    await client.send({"t": "login", "name": "Gus"})
    await check_ended(client, Code.GUESTS_NOT_ALLOWED)


async def _token(visit: Visit) -> None:
    """A guest who has sat down comes back with the token."""
    (guest, _) = await visit.seats(guests=(0,))
    again = await visit.connect()
    reply = await again.login_token(guest.token)
    expect(reply["t"] == "welcome", "the guest to be let in again with the token", reply)
    expect(reply.get("player") == guest.client.welcome.get("player"), "the same player", reply)
    expect([seat["table"] for seat in reply.get("seats", ())] == [guest.table], "the guest's seat", reply)


async def _token_early(visit: Visit) -> None:
    """A token gets bad_token before its guest has sat down."""
    guest = await visit.guest()
    client = await _greeted(visit)
    await client.send({"t": "login", "token": guest.welcome["token"]})
    await check_ended(client, Code.BAD_TOKEN)


async def _token_wrong(visit: Visit) -> None:
    """A token that was never given gets bad_token."""
    await visit.guest()
    client = await _greeted(visit)
    await client.send({"t": "login", "token": _TOKEN})
    await check_ended(client, Code.BAD_TOKEN)


async def _name(visit: Visit, *, name: str) -> None:
    client = await _greeted(visit)
    await client.send({**client.auth(generate_signing_key()), "name": name})
    (error, _) = await check_ended(client, Code.BAD_MESSAGE)
    expect(error.get("field") == "name", "the field name", error)


async def _name_alike(visit: Visit) -> None:
    """Of two players who ask for one name, the second gets another."""
    name = (await visit.player()).welcome.get("name")
    other = (await visit.player()).welcome.get("name")
    expect(name != other, f"a name other than {name!r} for the second who asks for it", other)


async def _invite(visit: Visit) -> None:
    """An invite that was never given gets key_not_allowed."""
    client = await _greeted(visit)
    if "invite" not in client.info["caps"]:
        raise InconclusiveError("the server takes no invites")
    login: Map = client.auth(generate_signing_key())
    await client.send({**login, "invite": _INVITE})
    (error, _) = await check_ended(client, Code.KEY_NOT_ALLOWED)
    expect(error.get("field") == "invite", "the field invite", error)


_case: Final = partial(server_case, "S1")
_row: Final = partial(server_row, "S1")
_HANDSHAKE: Final = "security.md#the-handshake"
_LOGIN: Final = "session.md#login"
_FIELDS: Final = (
    ("other-server", "spk", "A login made for another server's key"),
    ("other-client-nonce", "cn", "A login with another client nonce"),
    ("other-server-nonce", "sn", "A login with another server nonce"),
    ("other-hello", "server_hello", "A login with the hash of another hello"),
)

CASES: Final[tuple[ServerCase, ...]] = (
    _case(_key, _LOGIN),
    _case(_fingerprint, "security.md#keys"),
    _case(_bad_signature, _HANDSHAKE),
    _case(_other_body, _HANDSHAKE),
    _case(_replayed, _HANDSHAKE),
    *(
        _row(name, _HANDSHAKE, f"{text} gets bad_signature (C38)", partial(_another_field, field=field))
        for name, field, text in _FIELDS
    ),
    _case(_small_order, "security.md#keys"),
    _case(_loose_body, "security.md#what-is-signed"),
    *(
        _row(name, "limits.md#sizes", f"{text} gets bad_message for name", partial(_name, name=value))
        for name, text, value in _NAMES
    ),
    _case(_name_alike, "limits.md#names"),
    _case(_second_login, "connection.md#steps"),
    _case(_seats_listed, _LOGIN),
    _case(_guest, _LOGIN),
    _case(_guests_refused, "errors.md#guests_not_allowed"),
    _case(_token, _LOGIN),
    _case(_token_early, _LOGIN),
    _case(_token_wrong, _LOGIN),
    _case(_invite, "errors.md#key_not_allowed"),
)

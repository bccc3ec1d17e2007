"""Cases S0 and S1: hello, requests and replies, keep-alive, what a server does with what it does not know, and who is let in."""

from typing import Final

import trio

from truc_conform.expectations import (
    InconclusiveError,
    Map,
    UnexpectedError,
    check_refusal,
    expect,
    expect_ok,
    shown,
)
from truc_conform.raw_client import RawClient, frame
from truc_conform.server_cases.transport import FRAME_LIMIT, hello
from truc_conform.server_visit import ServerVisit, case, case_rows, held_seats
from truc_protocol.codec import sha256
from truc_protocol.crypto.keys import SMALL_ORDER, SigningKey, fingerprint, generate_signing_key
from truc_protocol.errors import Code
from truc_protocol.messages import decode_info
from truc_protocol.records import encode
from truc_protocol.wire.capabilities import is_capability_name
from truc_protocol.wire.handshake import Auth

OUTSTANDING: Final = 64  # requests that may be open at once (limits.md#sizes)
# longer than a server should wait for a login: later nothing can be said about it
LATEST_LOGIN_S: Final = 60.0
_QUIET_S: Final = 0.2  # a server that speaks first does so at once
_CONNECTIONS: Final = 3
_UNKNOWN_CAPABILITY: Final = "example.org/flying"
_REQUESTS: Final = "session.md#requests-and-replies"
_KEEP_ALIVE: Final = "session.md#keep-alive"
_UNKNOWN: Final = "evolution.md#what-a-receiver-does-with-what-it-does-not-know"


@case_rows(
    "errors.md#bad_message",
    "{what} gets bad_message, which names it",
    ("S0.missing-field", "A missing field", "table", {}),
    ("S0.wrong-type", "A field of the wrong type", "table", {"table": 7}),
    ("S0.wrong-bound", "A field out of bounds", "seat", {"table": "K7PQ", "seat": 16}),
)
async def _bad_field(visit: ServerVisit, *, field: str, join: Map) -> None:
    client = await visit.player()
    await client.refused({"t": "join", **join}, Code.BAD_MESSAGE, field=field)
    await client.check_alive()


@case("S0.client-first", "session.md#hello")
async def _client_first(visit: ServerVisit) -> None:
    """The client speaks first."""
    client = await visit.connect()
    with trio.move_on_after(_QUIET_S):
        raise UnexpectedError(f"expected the server to wait for hello, got {await client.receive_bytes()!r}")
    reply = await client.hello()
    expect(reply["t"] == "hello", "hello", reply)


@case("S0.server-hello", "security.md#the-handshake")
async def _server_hello(visit: ServerVisit) -> None:
    """The server proves itself, with a fresh nonce (C37)."""
    nonces = [await _nonce(visit) for _ in range(_CONNECTIONS)]
    expect(len(set(nonces)) == _CONNECTIONS, "a fresh nonce on each connection", nonces)


async def _nonce(visit: ServerVisit) -> bytes:
    """Return the server's nonce on a fresh connection, once its hello has been checked."""
    client = await visit.connect()
    reply = await client.hello()
    if reply["t"] != "hello" or client.server is None:
        raise UnexpectedError(f"expected hello, signed by the server, got {reply}")
    return client.server.sn


@case("S0.info", "messages.md#info")
async def _info(visit: ServerVisit) -> None:
    """info fits the reference, with limits not below the specification's."""
    client = await visit.connect()
    reply = await client.hello()
    info = decode_info(reply["info"])
    expect(info.limits.frame_in >= FRAME_LIMIT, f"frame_in of at least {FRAME_LIMIT}", info.limits)
    expect(info.limits.frame_out >= 8 * FRAME_LIMIT, f"frame_out of at least {8 * FRAME_LIMIT}", info.limits)
    expect(info.variants, "at least one game", info.variants)


@case("S0.capability-names", "evolution.md#names")
async def _capability_names(visit: ServerVisit) -> None:
    """Capability names have the specified form."""
    client = await visit.connect()
    await client.hello()
    wrong = [name for name in client.info["caps"] if not is_capability_name(name)]
    expect(not wrong, "capability names of the specified form", wrong)


@case("S0.proto-list", "session.md#hello")
async def _proto_list(visit: ServerVisit) -> None:
    """Of the numbers offered, the server picks one that it speaks."""
    client = await visit.connect()
    reply = await client.hello(proto=[65_535, 1, 7])
    expect(reply["t"] == "hello" and client.server, "the one number that both speak", reply)


@case("S0.unknown-want", _UNKNOWN)
async def _unknown_want(visit: ServerVisit) -> None:
    """An unknown capability in want is ignored."""
    client = await visit.connect()
    reply = await client.hello(want=[_UNKNOWN_CAPABILITY])
    expect(reply["t"] == "hello", "hello, although an unknown capability was wanted", reply)


@case("S0.unknown-require", "session.md#hello")
async def _unknown_require(visit: ServerVisit) -> None:
    """An unknown capability in require gets unsupported, which names it."""
    client = await visit.connect()
    await client.send(hello(require=[_UNKNOWN_CAPABILITY]))
    await client.check_ended(Code.UNSUPPORTED, field="require/0")


@case("S0.unknown-fields", _UNKNOWN)
async def _unknown_fields(visit: ServerVisit) -> None:
    """Unknown fields are ignored."""
    client = await visit.connect()
    reply = await client.hello(**{"x-new": {"a": [1, None]}, "newer": True})
    expect(reply["t"] == "hello", "hello, although it had unknown fields", reply)
    member = await visit.player()
    expect_ok(
        await member.ask({"t": "tables", "x-new": [1, {"a": None}], "newer": "yes"}),
        "ok, although the request had unknown fields",
    )


@case("S0.unknown-request", _UNKNOWN)
async def _unknown_request(visit: ServerVisit) -> None:
    """An unknown request is refused, and the connection stays open."""
    client = await visit.player()
    await client.refused({"t": "dance"}, Code.UNKNOWN_REQUEST, field="t")
    await client.check_alive()


@case("S0.large-id", _REQUESTS)
async def _large_id(visit: ServerVisit) -> None:
    """An id that cannot be read gets an error without re."""
    client = await visit.player()
    await client.send({"t": "tables", "id": 2**32})
    error = check_refusal(await client.until("error"), Code.BAD_MESSAGE)
    expect("re" not in error, "an error without re", error)


@case("S0.second-hello", "connection.md#steps")
async def _second_hello(visit: ServerVisit) -> None:
    """A second hello gets not_now, and the connection stays open."""
    client = await visit.player()
    await client.refused(hello(id=901), Code.NOT_NOW)
    await client.check_alive()


@case("S0.id-again", _REQUESTS)
async def _id_again(visit: ServerVisit) -> None:
    """An id may be used again after its reply."""
    client = await visit.player()
    for _ in range(2):
        expect_ok(await client.ask({"t": "tables", "id": 5}), "ok: the id is free again after its reply")


@case("S0.id-in-use", _REQUESTS)
async def _id_in_use(visit: ServerVisit) -> None:
    """An id that is in use gets bad_message without re."""
    client = await visit.player()
    await client.send_bytes(frame({"t": "tables", "id": 6}) * 2 + frame({"t": "ping", "n": 6}))
    replies = []
    while (message := await client.receive())["t"] != "pong":
        if message["t"] in ("ok", "error"):
            replies.append((message["t"], message.get("re")))
    # Which of these comes depends on whether the first was answered before the second was read.
    sound = ([("ok", 6), ("ok", 6)], [("ok", 6), ("error", None)], [("error", None), ("ok", 6)])
    expect(replies in sound, "ok twice, or ok and bad_message without re", replies)


@case("S0.outstanding", _REQUESTS)
async def _outstanding(visit: ServerVisit) -> None:
    """65 requests at once get one reply each, or rate_limited."""
    client = await visit.player()
    ids = range(1_000, 1_000 + OUTSTANDING + 1)
    await client.send_bytes(b"".join(frame({"t": "tables", "id": n}) for n in ids))
    answered: list[int] = []
    while len(answered) < len(ids):
        message = await client.receive()
        if message["t"] == "bye":
            expect(message["code"] == Code.RATE_LIMITED, "bye only for the rate", message)
            return
        if message["t"] == "error":
            # session.md, "Requests and replies": at most 64 may be open; `limits.burst` may be less.
            check_refusal(message, Code.RATE_LIMITED)
        if "re" in message:
            answered.append(message["re"])
    expect(sorted(answered) == list(ids), "one reply to each request", answered)


@case("S0.ping", _KEEP_ALIVE)
async def _ping(visit: ServerVisit) -> None:
    """A ping is answered with the same number."""
    client = await visit.player()
    # To the end of what an integer may be (transport.md, "Messages").
    for n in (0, 12, 2**53 - 1):
        await client.send({"t": "ping", "n": n})
        pong = await client.until("pong")
        expect(pong["n"] == n, f"pong {n}", pong)


@case("S0.keep-alive", _KEEP_ALIVE)
async def _keep_alive(visit: ServerVisit) -> None:
    """Silence is answered with ping, then bye timeout."""
    client = await visit.player()
    idle_s = float(client.info["limits"]["idle_s"])
    if idle_s > visit.patience_s:
        raise InconclusiveError(f"idle_s is {idle_s:g}: longer than this run waits for an answer")
    client.patience_s = 2 * idle_s
    # Later than the login, with which the silence has begun: the ping may come a little early.
    started = trio.current_time()
    await client.until("ping")
    expect(
        trio.current_time() - started >= idle_s - 1, f"ping after {idle_s:g} s of silence", "an earlier one"
    )
    rest = await client.closed()
    expect(rest[-1:] and rest[-1].get("code") == Code.TIMEOUT, "bye timeout after the silence", rest)


@case("S0.late-login", "session.md#goodbye")
async def _late_login(visit: ServerVisit) -> None:
    """A client that does not log in gets timeout."""
    client = await visit.connect()
    started = trio.current_time()
    client.patience_s = min(visit.patience_s, LATEST_LOGIN_S)
    try:
        rest = await client.closed()
    except trio.TooSlowError:
        raise InconclusiveError(
            f"no login for {client.patience_s:g} s: the connection is still open"
        ) from None
    expect(rest[-1:] and rest[-1].get("code") == Code.TIMEOUT, "bye timeout before the end", rest)
    seconds = trio.current_time() - started
    raise InconclusiveError(f"without a login the connection ends after {seconds:.0f} s")


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
        raise UnexpectedError(f"expected hello before a login, got {shown(client.log[-1:])}")
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


@case_rows(
    _HANDSHAKE,
    "A login {what} gets bad_signature (C38)",
    ("S1.other-server", "made for another server's key", "spk"),
    ("S1.other-client-nonce", "with another client nonce", "cn"),
    ("S1.other-server-nonce", "with another server nonce", "sn"),
    ("S1.other-hello", "with the hash of another hello", "server_hello"),
)
async def _another_field(visit: ServerVisit, *, field: str) -> None:
    client, key = await _greeted(visit), generate_signing_key()
    body = auth(client, key, **{field: NONCE})
    await _refused(client, body, key.sign(body), Code.BAD_SIGNATURE)


@case("S1.small-order", "security.md#keys")
async def _small_order(visit: ServerVisit) -> None:
    """A key of small order gets key_not_allowed (C38)."""
    # Four of the 14 encodings (specification.md, "Keys"):
    # each costs a connection, and a failed login (limits.md).
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


@case_rows(
    "limits.md#sizes",
    "A name {what} gets bad_message for name",
    ("S1.name-blank", "of spaces", " "),
    ("S1.name-control", "with a control character", "bell\x07"),
    ("S1.name-long", "above 64 bytes", "a" * 65),
    ("S1.name-long-utf8", "above 64 bytes, though not above 64 characters,", "ж" * 40),
)
async def _name(visit: ServerVisit, *, given: str) -> None:
    client = await _greeted(visit)
    await client.send({**client.auth(generate_signing_key()), "name": given})
    await client.check_ended(Code.BAD_MESSAGE, field="name")


@case("S1.name-alike", "limits.md#names")
async def _name_alike(visit: ServerVisit) -> None:
    """Of two players who ask for one name, the second gets another."""
    name = (await visit.player()).welcome.get("name")
    other = (await visit.player()).welcome.get("name")
    expect(name != other, f"a name other than {name!r} for the second player who asks for it", other)


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
    # session.md, "Login": the tag alone tells players apart.
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
    await client.check_ended(Code.KEY_NOT_ALLOWED, field="invite")

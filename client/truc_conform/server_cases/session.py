"""Cases S0: hello, requests and replies, keep-alive, and what a server does with what it does not know."""

from typing import Final

import trio

from truc_conform.expectations import (
    InconclusiveError,
    Map,
    UnexpectedError,
    check_refusal,
    expect,
    expect_ok,
)
from truc_conform.raw_client import frame
from truc_conform.server_cases.transport import FRAME_LIMIT, hello
from truc_conform.server_visit import ServerVisit, case, row
from truc_protocol.errors import Code
from truc_protocol.messages import decode_info
from truc_protocol.wire.capabilities import is_name

OUTSTANDING: Final = 64  # requests that may be open at once (limits.md#sizes)
LATEST_LOGIN_S: Final = (
    60.0  # longer than a server should wait for a login: later nothing can be said about it
)
_QUIET_S: Final = 0.2  # a server that speaks first does so at once
_CONNECTIONS: Final = 3
_UNKNOWN_CAPABILITY: Final = "example.org/flying"
_REQUESTS: Final = "session.md#requests-and-replies"
_KEEP_ALIVE: Final = "session.md#keep-alive"
_UNKNOWN: Final = "evolution.md#what-a-receiver-does-with-what-it-does-not-know"


async def _bad_field(visit: ServerVisit, *, message: Map, field: str) -> None:
    client = await visit.player()
    await client.refused(message, Code.BAD_MESSAGE, field=field)
    await client.check_alive()


_FIELDS: Final = [
    row(
        name,
        "errors.md#bad_message",
        f"{what} gets bad_message, which names it",
        _bad_field,
        message={"t": "join", **join},
        field=field,
    )
    for name, what, field, join in (
        ("S0.missing-field", "A missing field", "table", {}),
        ("S0.wrong-type", "A field of the wrong type", "table", {"table": 7}),
        ("S0.wrong-bound", "A field out of bounds", "seat", {"table": "K7PQ", "seat": 16}),
    )
]


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
    wrong = [name for name in client.info["caps"] if not is_name(name)]
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
    (error, _) = await client.check_ended(Code.UNSUPPORTED)
    expect(error.get("field") == "require/0", "the field require/0", error)


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
    error = await client.refused({"t": "dance"}, Code.UNKNOWN_REQUEST, field="t")
    expect(error["close"] is False, "the connection to stay open", error)
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
            check_refusal(message, Code.RATE_LIMITED)
        if "re" in message:
            answered.append(message["re"])
    expect(sorted(answered) == list(ids), "one reply to each request", answered)


@case("S0.ping", _KEEP_ALIVE)
async def _ping(visit: ServerVisit) -> None:
    """A ping is answered with the same number."""
    client = await visit.player()
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

"""Cases S0: bytes, frames, hello, and what a server does with what it does not know.

Most are one row: bytes in, a code out. Before `welcome` each mistake ends the connection, with `error` and `bye`.
"""

from functools import partial
from typing import Final

import trio

from truc_conform.expectations import Map, expect, expect_ok
from truc_conform.raw_client import frame, length
from truc_conform.result import Case
from truc_conform.server_visit import ServerCase, ServerVisit, case, case_rows
from truc_protocol.errors import Code

LOGIN_LIMIT: Final = 2_048  # limits.md#sizes, as are the next three
FRAME_LIMIT: Final = 8_192
LONGEST: Final = 2**32 - 1
DEEPEST: Final = 16
_NUMBER: Final = 77
_TAGGED: Final = b"\xa1t\xa4ping"
_FRAMES: Final = "transport.md#frames"
_EXAMPLES: Final = "transport.md#examples"
_ZERO: Final = "A frame of length 0 gets bad_frame"
_HUGE: Final = "A length of 2^32-1 gets frame_too_large, without a wait for the rest"


def hello(**fields: object) -> Map:
    """Return a sound hello with some fields replaced; its nonce is not random, since nothing depends on it."""
    return {"t": "hello", "id": 1, "proto": [1], "want": [], "cn": bytes(32), **fields}


def padded(message: Map, size: int) -> bytes:
    """Return a frame of exactly `size` bytes: the message with a field that nobody knows."""
    bare = len(frame({**message, "x-pad": bytes(256)})) - len(length(0)) - 256
    return frame({**message, "x-pad": bytes(size - bare)})


async def _ends(visit: ServerVisit, raw: bytes, code: Code, *, is_later: bool = False) -> None:
    """Send bytes that end the connection, before a login or after it."""
    client = await (visit.player() if is_later else visit.connect())
    await client.send_bytes(raw)
    await client.check_ended(code)


@case_rows(
    _FRAMES,
    "{what}",
    ("S0.length-zero", _ZERO, 0, Code.BAD_FRAME, False),
    ("S0.length-4gib", _HUGE, LONGEST, Code.FRAME_TOO_LARGE, False),
    ("S0.length-zero-later", f"{_ZERO}, after welcome too", 0, Code.BAD_FRAME, True),
    ("S0.length-4gib-later", f"{_HUGE}, after welcome too", LONGEST, Code.FRAME_TOO_LARGE, True),
    (
        "S0.oversize",
        "A frame above limits.frame_in gets frame_too_large",
        1 << 24,
        Code.FRAME_TOO_LARGE,
        True,
    ),
)
async def _length(visit: ServerVisit, *, announced: int, code: Code, is_later: bool) -> None:
    await _ends(visit, length(announced), code, is_later=is_later)


@case_rows(
    "transport.md#messages",
    "{what}: bad_msgpack",
    ("S0.trailing", "Bytes after the map", b"\x80\x80"),
    ("S0.array", "An array instead of a map", b"\x90"),
    ("S0.not-msgpack", "The byte c1, which msgpack never uses", b"\xc1"),
    ("S0.truncated", "A map that announces more than it holds", b"\x82" + _TAGGED),
    ("S0.duplicate-keys", "A key twice in a map", b"\x82" + _TAGGED + _TAGGED),
    ("S0.float", "A float", b"\x82" + _TAGGED + b"\xa1n\xca" + bytes(4)),
    ("S0.nan", "A NaN", b"\x82" + _TAGGED + b"\xa1n\xcb\x7f\xf8" + bytes(6)),
    ("S0.extension", "An extension type", b"\x82" + _TAGGED + b"\xa1n\xd4\x05\x00"),
    ("S0.timestamp", "A timestamp", b"\x82" + _TAGGED + b"\xa1n\xd6\xff" + bytes(4)),
    ("S0.bytes-key", "A key of type bin", b"\x82" + _TAGGED + b"\xc4\x01n\x01"),
    ("S0.bad-utf8", "Text that is not UTF-8", b"\x82" + _TAGGED + b"\xa1n\xa2\xc3\x28"),
    ("S0.integer", "The integer 2^53", b"\x82" + _TAGGED + b"\xa1n\xcf\x00\x20" + bytes(6)),
    ("S0.depth", "17 levels of arrays and maps", b"\x82" + _TAGGED + b"\xa1n" + b"\x91" * DEEPEST + b"\xc0"),
    ("S0.very-deep", "1,000 levels", b"\x82" + _TAGGED + b"\xa1n" + b"\x91" * 1_000 + b"\xc0"),
    ("S0.array-bomb", "An array that announces 2^32-1 items", b"\x81\xa1t\xdd\xff\xff\xff\xff"),
)
async def _profile(visit: ServerVisit, *, raw: bytes) -> None:
    """Send a frame that is not a message of the profile, before a login and after one."""
    whole = length(len(raw)) + raw
    # transport.md, "Messages": it ends the connection, in any state.
    for is_later in (False, True):
        await _ends(visit, whole, Code.BAD_MSGPACK, is_later=is_later)


@case_rows(
    _FRAMES,
    "{what} gets one readable line",
    ("S0.http", "An HTTP request", b"GET / HTTP/1.1\r\nHost: truc\r\n\r\n"),
    ("S0.tls", "A TLS hello", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
    ("S0.ssh", "An SSH greeting", b"SSH-2.0-OpenSSH_9.2\r\n"),
)
async def _stranger(visit: ServerVisit, *, raw: bytes) -> None:
    """Send what a program sends that has found the wrong port."""
    client = await visit.connect()
    await client.send_bytes(raw)
    while await client.receive_bytes():
        pass
    answer = bytes(client.received)
    # transport.md, "Frames": all limits are below 2^24, so the first byte of a frame is 0;
    # whoever begins with another one has found the wrong port, and is told so in words.
    expect(answer.endswith(b"\n") and answer.count(b"\n") == 1, "one line of text", answer)
    expect(answer.strip().isascii() and answer.strip().decode().isprintable(), "readable text", answer)


_EARLY: Final = [
    ServerCase(Case(name, clause, expected), partial(_ends, raw=raw, code=code))
    for name, clause, expected, code, raw in (
        (
            "S0.login-oversize",
            _FRAMES,
            "A frame above 2048 bytes before welcome gets frame_too_large",
            Code.FRAME_TOO_LARGE,
            length(LOGIN_LIMIT + 1),
        ),
        ("S0.no-tag", _EXAMPLES, "A map without t gets bad_message", Code.BAD_MESSAGE, frame({})),
        (
            "S0.request-first",
            "session.md#hello",
            "A request before welcome gets auth_required",
            Code.AUTH_REQUIRED,
            frame({"t": "tables", "id": 1}),
        ),
        (
            "S0.ping-first",
            _EXAMPLES,
            "A ping before welcome gets auth_required",
            Code.AUTH_REQUIRED,
            frame({"t": "ping", "n": 1}),
        ),
        (
            "S0.unknown-first",
            _EXAMPLES,
            "An unknown message before welcome gets unknown_request, and the end",
            Code.UNKNOWN_REQUEST,
            frame({"t": "none", "id": 1}),
        ),
        (
            "S0.login-first",
            "session.md#login",
            "A login before hello gets not_now",
            Code.NOT_NOW,
            frame({"t": "login", "id": 1, "name": "Ida"}),
        ),
        (
            "S0.short-nonce",
            "messages.md#hello",
            "A nonce of the wrong length gets bad_message",
            Code.BAD_MESSAGE,
            frame(hello(cn=b"short")),
        ),
        (
            "S0.no-proto",
            "session.md#hello",
            "Protocol numbers that the server does not speak get unsupported",
            Code.UNSUPPORTED,
            frame(hello(proto=[65_535])),
        ),
    )
]


@case("S0.login-limit", "limits.md#sizes")
async def _login_limit(visit: ServerVisit) -> None:
    """A frame of 2048 bytes before welcome is accepted."""
    client = await visit.connect()
    await client.send_bytes(padded(hello(), LOGIN_LIMIT))
    reply = await client.receive()
    expect(reply["t"] == "hello", f"a hello of {LOGIN_LIMIT} bytes to be accepted", reply)


@case("S0.frame-limit", "limits.md#sizes")
async def _frame_limit(visit: ServerVisit) -> None:
    """A frame of 8192 bytes after welcome is accepted."""
    client = await visit.player()
    await client.send_bytes(padded({"t": "tables", "id": _NUMBER}, FRAME_LIMIT))
    reply = await client.until("ok")
    expect(reply["re"] == _NUMBER, f"a request of {FRAME_LIMIT} bytes to be accepted", reply)


@case("S0.depth-taken", "limits.md#sizes")
async def _depth_taken(visit: ServerVisit) -> None:
    """16 levels of arrays and maps are accepted."""
    client = await visit.player()
    nested: object = None
    for _ in range(DEEPEST - 1):
        nested = [nested]
    expect_ok(await client.ask({"t": "tables", "x-deep": nested}), f"{DEEPEST} levels to be accepted")


@case("S0.long-integers", "transport.md#messages")
async def _long_integers(visit: ServerVisit) -> None:
    """Integers need not be in their shortest form."""
    client = await visit.player()
    tables = b"\x82\xa1t\xa6tables\xa2id\xcf" + _NUMBER.to_bytes(8, "big")
    await client.send_bytes(length(len(tables)) + tables)
    reply = await client.until("ok")
    expect(reply["re"] == _NUMBER, "an integer in its longest form to be accepted", reply)


@case("S0.bytewise", "transport.md#frames")
async def _bytewise(visit: ServerVisit) -> None:
    """Frames may come byte by byte."""
    client = await visit.connect()
    for byte in frame(hello()):
        await client.send_bytes(bytes([byte]))
        await trio.lowlevel.checkpoint()
    reply = await client.receive()
    expect(reply["t"] == "hello", "hello, although it came byte by byte", reply)


@case("S0.coalesced", "transport.md#frames")
async def _coalesced(visit: ServerVisit) -> None:
    """Several frames may come at once."""
    client = await visit.player()
    ids = list(range(100, 108))
    await client.send_bytes(b"".join(frame({"t": "tables", "id": n}) for n in ids))
    replies = sorted([(await client.until("ok"))["re"] for _ in ids])
    expect(replies == ids, "one reply to each of the frames sent at once", replies)


@case("S0.half-frame", "transport.md#frames")
async def _half_frame(visit: ServerVisit) -> None:
    """A connection lost in mid-frame harms no other."""
    broken = await visit.connect()
    await broken.send_bytes(frame(hello())[:20])
    await trio.aclose_forcefully(broken.stream)
    await (await visit.player()).check_alive()

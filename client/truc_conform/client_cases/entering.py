"""The cases of level C0: connecting, frames, hello, login, ping and bye.

They ask no more of the client than to log in and keep its connection until it is told otherwise.
"""

from collections.abc import Callable
from typing import Final

from truc_conform.client_harness import ClientHarness
from truc_conform.expectations import InconclusiveError, UnadvisedError, UnexpectedError, require
from truc_conform.forging import greeted_again
from truc_conform.grease import greased, raw, strange_info, strange_notices
from truc_conform.scenes import (
    ALIVE,
    ClientExit,
    Scene,
    after_welcome,
    ask_alive,
    check_faults,
    each_of,
    ends_soon,
    enters,
    has_closed,
    intercepting,
    is_alive,
    judged,
    must_close,
    not_entered,
    said,
    says_who,
    scene,
    shared_scene,
    without,
)
from truc_protocol.errors import Code
from truc_protocol.messages import (
    ClientHello,
    GuestLogin,
    GuestReturn,
    KeyLogin,
    Ping,
    ServerHello,
    ServerMessage,
    bye,
)
from truc_protocol.wire.encoding import SERVER_LIMIT

_SILENCE_S: Final = 10.0  # session.md#login; a client may look at its clock only now and then
_LATE_S: Final = 2.0
_WAIT_S: Final = 0.3  # a client that does not wait for a reply goes on at once
_HELLO: Final = "session.md#hello"
_KEEP_ALIVE: Final = "session.md#keep-alive"
_FRAMES: Final = "transport.md#frames"
_UNKNOWN: Final = "evolution.md#what-a-receiver-does-with-what-it-does-not-know"
_GOODBYE: Final = bye(Code.SHUTTING_DOWN, "the server is being stopped")


def _says_hello_first(server: ClientHarness, _exit: ClientExit) -> None:
    require(server.heard, server.faults[0].message if server.faults else "it sent nothing")
    hello = server.heard[0].message
    if not isinstance(hello, ClientHello):
        raise UnexpectedError(f"it began with {type(hello).__name__}")
    require(1 in hello.proto, f"it offers the protocols {list(hello.proto)}")


def _keeps_to_the_size(server: ClientHarness, end: ClientExit) -> None:
    check_faults(server, Code.FRAME_TOO_LARGE)
    enters(server, end)


def _nonces_differ(server: ClientHarness, _exit: ClientExit) -> None:
    # security.md, "The handshake": 32 random bytes on each connection.
    nonces = [hello.cn for hello in said(server, ClientHello)]
    require(len(nonces) != 1, "it did not say hello in both runs")
    require(len(set(nonces)) == len(nonces), "two connections had the same `cn`")
    require(all(len(set(cn)) > 1 for cn in nonces), "`cn` is one byte repeated")


@intercepting()
async def _done_at_login(server: ClientHarness, message: object) -> bool:
    """End the scene when the client logs in."""
    if says_who(message):
        server.done.set()
    return False


_ENTERS: Final = [
    shared_scene(
        judged("C0.hello", _HELLO, "`hello` comes first and offers protocol 1", _says_hello_first),
        judged(
            "C0.size",
            "limits.md#sizes",
            "sends no frame above 2048 bytes before `welcome`",
            _keeps_to_the_size,
        ),
        judged(
            "C0.messages",
            "transport.md#messages",
            "every frame is a message of the profile",
            without(Code.BAD_FRAME, Code.BAD_MSGPACK, Code.BAD_MESSAGE, Code.UNKNOWN_REQUEST),
        ),
    )(_done_at_login),
    scene("C0.nonce", _HELLO, "`cn` is fresh on every connection", _nonces_differ, runs=2)(_done_at_login),
]


def _waits(server: ClientHarness, _exit: ClientExit) -> None:
    check_faults(server, "early")
    require(any(says_who(heard.message) for heard in server.heard), "it never logged in")


def _keep_waiting(kind: type | tuple[type, ...]) -> Callable[[ClientHarness], None]:
    """Let a reply come late, and listen in the meantime."""

    def arrange(server: ClientHarness) -> None:
        async def listen(message: object) -> bool:
            # Both messages may have come in one piece, or the second comes while the reply is held back.
            if isinstance(message, kind) and (server.unanswered or await server.overhear(_WAIT_S)):
                server.blame("early", f"it went on before the reply to {type(message).__name__} had come")
            return False

        server.intercepts.append(listen)
        ask_alive(server)

    return arrange


_WAITS: Final = [
    scene(name, _HELLO, f"sends nothing before {before}", _waits)(_keep_waiting(kinds))
    for name, before, kinds in (
        ("C0.waits-for-hello", "the reply to `hello`", (ClientHello,)),
        ("C0.waits-for-welcome", "`welcome`", (KeyLogin, GuestLogin, GuestReturn)),
    )
]


@scene("C0.ping", _KEEP_ALIVE, "`pong` repeats the number of the `ping`", is_alive)
def _pinged(server: ClientHarness) -> None:
    """Ping after the welcome."""
    ask_alive(server)


@scene("C0.bytes", _FRAMES, "copes with frames that arrive byte by byte", is_alive)
def _byte_by_byte(server: ClientHarness) -> None:
    """Let each byte arrive by itself."""
    server.cut = lambda frame: (frame[i : i + 1] for i in range(len(frame)))
    ask_alive(server)


@scene("C0.heaps", _FRAMES, "copes with several frames at once", is_alive)
def _in_heaps(server: ClientHarness) -> None:
    """Let several messages arrive in one piece, which ends in the middle of the last."""
    frames = (piece if isinstance(piece, bytes) else raw(piece) for piece in strange_notices())
    heap = b"".join((raw(Ping(n=1)), *frames, raw(Ping(n=2)), raw(Ping(n=ALIVE))))
    ask_alive(server)
    after_welcome(server, heap[:-5], heap[-5:])


@scene("C0.unknown-fields", _UNKNOWN, "unknown fields are ignored", is_alive)
def _greased_fields(server: ClientHarness) -> None:
    """Send fields that nobody knows with every message."""
    server.dress = greased
    ask_alive(server)


@scene("C0.unknown-notices", _UNKNOWN, "unknown kinds of message are ignored", is_alive)
def _greased_notices(server: ClientHarness) -> None:
    """Send messages that nobody knows after the welcome."""
    ask_alive(server, *strange_notices())


@scene(
    "C0.unknown-capabilities",
    _UNKNOWN,
    "unknown capabilities, limits and fields of the server's info are ignored",
    is_alive,
)
def _greased_info(server: ClientHarness) -> None:
    """Announce what nobody knows, and a clock that is days ahead."""
    server.info = strange_info()
    ask_alive(server)


def _ending(name: str, clause: str, expected: str, last: ServerMessage | bytes) -> Scene:
    """Return a scene in which something ends the connection after the welcome."""
    return scene(name, clause, expected, has_closed)(lambda server: must_close(server, last))


_ENDINGS: Final = [
    _ending("C0.bye", "session.md#goodbye", "closes the connection after `bye`", _GOODBYE),
    _ending("C0.empty-frame", _FRAMES, "a frame of length 0 ends the connection", bytes(4)),
    _ending(
        "C0.long-frame",
        _FRAMES,
        "a length above the limit ends the connection",
        (SERVER_LIMIT + 1).to_bytes(4, "big") + bytes(64),
    ),
    _ending(
        "C0.garbage",
        "transport.md#messages",
        "a frame that is not a message ends the connection",
        b"\x00\x00\x00\x05\xc1hell",
    ),
]


def bad_hello(server: ClientHarness, change: Callable[[ServerHello], ServerHello]) -> None:
    """Let the server fail to prove itself."""
    server.recast = each_of(ServerHello, lambda hello: (change(hello),))
    server.ends_on_close = True
    ends_soon(server, lambda message: isinstance(message, ClientHello))
    _done_at_login(server)


def says_nothing_of_itself(server: ClientHarness, _exit: ClientExit) -> None:
    """Judge a client whose server has not proved itself: with a key it stops, as a guest it should."""
    is_met = any(isinstance(message, ServerHello) for message in server.sent)
    require(is_met, not_entered(server) or "it sent no hello")
    logins = [heard.message for heard in server.heard if says_who(heard.message)]
    require(not any(isinstance(login, KeyLogin) for login in logins), "it logged in with its key")
    # session.md, "Hello": a client with a key MUST check the answer before it says who it is; a guest SHOULD.
    if logins:
        raise UnadvisedError("it logged in as a guest")


@scene(
    "C0.protocol",
    "security.md#the-handshake",
    "a protocol number that was not offered ends the connection before `login`",
    says_nothing_of_itself,
)
def _bad_proto(server: ClientHarness) -> None:
    """Answer with a protocol that the client did not offer, signed."""
    bad_hello(server, lambda hello: greeted_again(server, hello, proto=2))


def _gives_up(server: ClientHarness, end: ClientExit) -> None:
    if server.has_closed or end.code is not None:
        return
    came = f"it was still waiting after {end.seconds:.0f} s"
    # When it is done a client should have gone (session.md, "Login"); else the kit ended it before.
    raise UnadvisedError(came) if server.done.is_set() else InconclusiveError(came)


@scene("C0.silence", "session.md#login", "gives up on a server that is silent for 10 seconds", _gives_up)
def _silent(server: ClientHarness) -> None:
    """Answer nothing at all."""
    ends_soon(server, lambda message: isinstance(message, ClientHello), _SILENCE_S + _LATE_S)
    _ignore(server)
    server.ends_on_close = True


@intercepting()
async def _ignore(_server: ClientHarness, _message: object) -> bool:
    return True

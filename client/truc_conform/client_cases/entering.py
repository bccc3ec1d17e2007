"""The cases of level C0: connecting, frames, hello, login, ping and bye.

They ask no more of the client than to log in and keep its connection until it is told otherwise.
"""

from collections.abc import Callable
from typing import Final

from truc_conform.client_harness import Stage
from truc_conform.forging import greeted_again
from truc_conform.grease import greased, raw, strange_info, strange_notices
from truc_conform.result import Case, Outcome, Verdict, failed
from truc_conform.scenes import (
    ALIVE,
    Exit,
    Scene,
    after_welcome,
    ask_alive,
    ends_soon,
    faulty,
    has_closed,
    is_alive,
    must_close,
    not_entered,
    one,
    said,
    says_who,
    shut_out,
    without,
)
from truc_protocol.errors import Code
from truc_protocol.messages import ClientHello, GuestLogin, GuestReturn, KeyLogin, Ping, ServerHello, bye
from truc_protocol.wire.frames import SERVER_LIMIT

_SILENCE_S: Final = 2.0
_WAIT_S: Final = 0.3
_HELLO: Final = "session.md#hello"
_KEEP_ALIVE: Final = "session.md#keep-alive"
_FRAMES: Final = "transport.md#frames"
_UNKNOWN: Final = "evolution.md#what-a-receiver-does-with-what-it-does-not-know"


def _says_hello_first(stage: Stage, _exit: Exit) -> Outcome | None:
    if not stage.heard:
        return failed(stage.faults[0].message if stage.faults else "it sent nothing")
    hello = stage.heard[0].message
    if not isinstance(hello, ClientHello):
        return failed(f"it began with {type(hello).__name__}")
    return None if 1 in hello.proto else failed(f"it offers the protocols {list(hello.proto)}")


def _keeps_to_the_size(stage: Stage, _exit: Exit) -> Outcome | None:
    return faulty(stage, Code.FRAME_TOO_LARGE) or shut_out(stage)


def _nonces_differ(stage: Stage, _exit: Exit) -> Outcome | None:
    nonces = [hello.cn for hello in said(stage, ClientHello)]
    if len(nonces) == 1:
        return failed("it did not say hello in both runs")
    if len(set(nonces)) < len(nonces):
        return failed("two connections had the same `cn`")
    return failed("`cn` is one byte repeated") if any(len(set(cn)) == 1 for cn in nonces) else None


def _done_at_login(stage: Stage) -> None:
    async def logs_in(message: object) -> bool:
        if says_who(message):
            stage.done.set()
        return False

    stage.intercepts.append(logs_in)


def _keep_waiting(kind: type | tuple[type, ...]) -> Callable[[Stage], None]:
    """Let a reply come late, and listen in the meantime."""

    def arrange(stage: Stage) -> None:
        async def listen(message: object) -> bool:
            if isinstance(message, kind) and await stage.overhear(_WAIT_S):
                stage.blame("early", f"it went on before the reply to {type(message).__name__} had come")
            return False

        stage.intercepts.append(listen)
        ask_alive(stage)

    return arrange


def _waits(stage: Stage, _exit: Exit) -> Outcome | None:
    if (early := faulty(stage, "early")) is not None:
        return early
    return None if any(says_who(heard.message) for heard in stage.heard) else failed("it never logged in")


def _greased_fields(stage: Stage) -> None:
    stage.dress = greased
    ask_alive(stage)


def _greased_info(stage: Stage) -> None:
    stage.info = strange_info()
    ask_alive(stage)


def _byte_by_byte(stage: Stage) -> None:
    stage.cut = lambda frame: (frame[i : i + 1] for i in range(len(frame)))
    ask_alive(stage)


def _in_heaps(stage: Stage) -> None:
    """Let several messages arrive in one piece, which ends in the middle of the last."""
    frames = (piece if isinstance(piece, bytes) else raw(piece) for piece in strange_notices())
    heap = b"".join((raw(Ping(n=1)), *frames, raw(Ping(n=2)), raw(Ping(n=ALIVE))))
    ask_alive(stage)
    after_welcome(stage, heap[:-5], heap[-5:])


def _bad_proto(stage: Stage) -> None:
    bad_hello(stage, lambda hello: greeted_again(stage, hello, proto=2))


def bad_hello(stage: Stage, change: Callable[[ServerHello], ServerHello]) -> None:
    """Let the server fail to prove itself."""
    stage.recast = lambda message: (change(message) if isinstance(message, ServerHello) else message,)
    stage.ends_on_close = True
    ends_soon(stage, lambda message: isinstance(message, ClientHello))
    _done_at_login(stage)


def says_nothing_of_itself(stage: Stage, _exit: Exit) -> Outcome | None:
    """Judge a client whose server has not proved itself: with a key it stops, as a guest it should."""
    if not any(isinstance(message, ServerHello) for message in stage.sent):
        return failed(not_entered(stage) or "it sent no hello")
    logins = [heard.message for heard in stage.heard if says_who(heard.message)]
    if any(isinstance(login, KeyLogin) for login in logins):
        return failed("it logged in with its key")
    return Outcome(Verdict.NON_STRICT, "it logged in as a guest") if logins else None


def _silent(stage: Stage) -> None:
    async def ignore(_message: object) -> bool:
        return True

    ends_soon(stage, lambda message: isinstance(message, ClientHello), _SILENCE_S)
    stage.intercepts.append(ignore)
    stage.ends_on_close = True


def _gives_up(stage: Stage, end: Exit) -> Outcome:
    came = "closed the connection" if stage.has_closed else "was still waiting"
    return Outcome(Verdict.INFO, f"{came} after {end.seconds:.1f} s without an answer to hello")


_GOODBYE: Final = bye(Code.SHUTTING_DOWN, "the server is being stopped")

SCENES: Final = (
    Scene(
        _done_at_login,
        (
            (Case("C0.hello", _HELLO, "`hello` comes first and offers protocol 1"), _says_hello_first),
            (
                Case("C0.size", "limits.md#sizes", "sends no frame above 2048 bytes before `welcome`"),
                _keeps_to_the_size,
            ),
            (
                Case("C0.messages", "transport.md#messages", "every frame is a message of the profile"),
                without(Code.BAD_FRAME, Code.BAD_MSGPACK, Code.BAD_MESSAGE, Code.UNKNOWN_REQUEST),
            ),
        ),
    ),
    one("C0.nonce", _HELLO, "`cn` is fresh on every connection", _done_at_login, _nonces_differ, runs=2),
    one(
        "C0.waits-for-hello",
        _HELLO,
        "sends nothing before the reply to `hello`",
        _keep_waiting(ClientHello),
        _waits,
    ),
    one(
        "C0.waits-for-welcome",
        _HELLO,
        "sends nothing before `welcome`",
        _keep_waiting((KeyLogin, GuestLogin, GuestReturn)),
        _waits,
    ),
    one("C0.ping", _KEEP_ALIVE, "`pong` repeats the number of the `ping`", ask_alive, is_alive),
    one("C0.bytes", _FRAMES, "copes with frames that arrive byte by byte", _byte_by_byte, is_alive),
    one("C0.heaps", _FRAMES, "copes with several frames at once", _in_heaps, is_alive),
    one("C0.unknown-fields", _UNKNOWN, "unknown fields are ignored", _greased_fields, is_alive),
    one(
        "C0.unknown-notices",
        _UNKNOWN,
        "unknown kinds of message are ignored",
        lambda stage: ask_alive(stage, *strange_notices()),
        is_alive,
    ),
    one(
        "C0.unknown-capabilities",
        _UNKNOWN,
        "unknown capabilities, limits and fields of the server's info are ignored",
        _greased_info,
        is_alive,
    ),
    one(
        "C0.bye",
        "session.md#goodbye",
        "closes the connection after `bye`",
        lambda stage: must_close(stage, _GOODBYE),
        has_closed,
    ),
    one(
        "C0.empty-frame",
        _FRAMES,
        "a frame of length 0 ends the connection",
        lambda stage: must_close(stage, bytes(4)),
        has_closed,
    ),
    one(
        "C0.long-frame",
        _FRAMES,
        "a length above the limit ends the connection",
        lambda stage: must_close(stage, (SERVER_LIMIT + 1).to_bytes(4, "big") + bytes(64)),
        has_closed,
    ),
    one(
        "C0.garbage",
        "transport.md#messages",
        "a frame that is not a message ends the connection",
        lambda stage: must_close(stage, b"\x00\x00\x00\x05\xc1hello"[:9]),
        has_closed,
    ),
    one(
        "C0.protocol",
        "security.md#the-handshake",
        "a protocol number that was not offered ends the connection before `login`",
        _bad_proto,
        says_nothing_of_itself,
    ),
    one(
        "C0.silence",
        "session.md#login",
        "eventually gives up on a server that never answers",
        _silent,
        _gives_up,
    ),
)

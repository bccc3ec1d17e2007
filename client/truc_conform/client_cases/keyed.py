"""The cases of level C3 at an honest table: a login bound to the connection, and records that are right."""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from truc_conform.client_cases.entering import bad_hello, says_nothing_of_itself
from truc_conform.client_cases.interrupted import sent_away
from truc_conform.client_cases.seated import on_choice
from truc_conform.client_harness import Stage
from truc_conform.forging import greeted_again
from truc_conform.playing import secret
from truc_conform.result import Case, Outcome, Verdict, failed, tag_of_body
from truc_conform.scenes import (
    Exit,
    Judge,
    Scene,
    absent,
    ends_soon,
    faulty,
    needing,
    once,
    one,
    plain,
    said,
    unended,
)
from truc_protocol.codec import MAX_INT, dec
from truc_protocol.crypto import keys
from truc_protocol.messages import (
    ClientHello,
    ClientMessage,
    KeyLogin,
    ServerHello,
    ServerMessage,
    SignedAct,
    Welcome,
)
from truc_protocol.wire.handshake import make_roll

_HANDSHAKE: Final = "security.md#the-handshake"
_CHECKS: Final = "../fairness/specification.md#11-checks"
_GIVEN: Final = "somebody else 2"
_DUTIES: Final = "../fairness/specification.md#13-what-a-client-does"


def without_key(stage: Stage) -> Outcome | None:
    """Return the outcome for a client that has no key."""
    if (early := absent(stage)) is not None:
        return early
    return None if said(stage, KeyLogin) else Outcome(Verdict.UNIMPLEMENTED, "it played as a guest")


def _signed(stage: Stage, subject: str) -> list[bytes]:
    """Return the bodies of one kind that the client has signed."""
    return [act.body for act in said(stage, SignedAct) if tag_of_body(act.body) == subject]


def _right(subject: str) -> Judge:
    """Return a judge of the records of one kind: the client signed some, and the server took them."""

    def judge(stage: Stage, _end: Exit) -> Outcome | None:
        if (early := without_key(stage) or faulty(stage, subject)) is not None or _signed(stage, subject):
            return early
        return failed(f"it signed no {subject} record")

    return judge


def _logs_in(stage: Stage, _end: Exit) -> Outcome | None:
    return faulty(stage, "KeyLogin") or without_key(stage)


def _releases_once(stage: Stage, end: Exit) -> Outcome | None:
    if (early := _right("release")(stage, end)) is not None:
        return early
    bodies = set(_signed(stage, "release"))
    calls = sum(tag_of_body(record.body) == "call" for record in stage.records)
    return None if len(bodies) == calls else failed(f"{len(bodies)} releases for {calls} calls")


def _renamed(stage: Stage) -> None:
    """Give the player a name other than the one asked for, and end when it has signed a name."""

    def recast(message: ServerMessage) -> tuple[ServerMessage]:
        return (replace(message, name=_GIVEN) if isinstance(message, Welcome) else message,)

    async def done_when_signed(_message: ClientMessage) -> bool:
        if _signed(stage, "seat"):
            stage.done.set()
        return False

    stage.recast = recast
    stage.intercepts.append(done_when_signed)


def _signs_the_name(stage: Stage, _end: Exit) -> Outcome | None:
    names = [dec(body)[-1] for body in _signed(stage, "seat")]
    if not names:
        return failed("it signed no seat record")
    return None if names[0] == _GIVEN.encode() else failed(f"it signed the name {names[0]!r}, not {_GIVEN!r}")


def _with_another_key(stage: Stage, hello: ServerHello) -> ServerHello:
    stage.key = keys.signing_key_from_seed(secret("another server", stage.seed))
    return greeted_again(stage, hello, spk=stage.key.public)


def _with_a_rotation_of_nobody(stage: Stage, hello: ServerHello) -> ServerHello:
    """Show a rotation with so high a serial that a client which pins it stops at every later one."""
    before = keys.signing_key_from_seed(secret("a server before", stage.seed))
    body, *_ = make_roll(before, stage.key, serial=MAX_INT, not_before=0)
    return replace(hello, rolls=((body, bytes(64), bytes(64)),))


def _moved_to_another(stage: Stage) -> None:
    """Send the client to where another server answers."""

    def recast(message: ServerMessage) -> tuple[ServerMessage]:
        if isinstance(message, ServerHello) and _is_at_other_door(stage):
            return (_with_another_key(stage, message),)
        return (message,)

    stage.recast = recast
    on_choice(sent_away)(stage)
    ends_soon(stage, lambda message: isinstance(message, ClientHello) and _is_at_other_door(stage))


def _is_at_other_door(stage: Stage) -> bool:
    return stage.doors_used[-1] == 1


def _says_nothing_there(stage: Stage, _end: Exit) -> Outcome | None:
    if 1 not in stage.doors_used:
        return failed("it did not go to the address in `to`")
    logins = [heard for heard in stage.heard if isinstance(heard.message, KeyLogin)]
    is_said = any(stage.doors_used[heard.link - 1] == 1 for heard in logins)
    return failed("it logged in with its key at another server") if is_said else None


def _bad_hello(name: str, expected: str, change: Callable[[Stage, ServerHello], ServerHello]) -> Scene:
    """Return a scene with a hello that is changed, after which nothing may be said to the server."""

    def arrange(stage: Stage) -> None:
        bad_hello(stage, lambda hello: change(stage, hello))

    return one(f"C3.hello-{name}", _HANDSHAKE, expected, arrange, says_nothing_of_itself)


SCENES: Final = (
    *needing(
        without_key,
        one("C3.name", "limits.md#names", "signs the name that `welcome` gives", _renamed, _signs_the_name),
    ),
    _bad_hello(
        "signature",
        "a hello with an invalid signature ends the connection before `login`",
        lambda _stage, hello: replace(hello, sig=bytes(64)),
    ),
    _bad_hello(
        "key",
        "a key without the join string's fingerprint ends the connection before `login`",
        _with_another_key,
    ),
    _bad_hello(
        "frame",
        "a hello made for another connection ends this one before `login`",
        lambda stage, hello: greeted_again(stage, hello, client_hello=bytes(32)),
    ),
    _bad_hello(
        "info",
        "an info other than the signed one ends the connection before `login`",
        lambda _stage, hello: replace(hello, info=hello.info.replace(b"a server", b"A server")),
    ),
    _bad_hello(
        "certificate",
        "a certificate that is not this connection's ends it before `login`",
        lambda stage, hello: greeted_again(stage, hello, cert=bytes(32)),
    ),
    _bad_hello(
        "rotation",
        "an unsigned rotation at first contact ends the connection before `login` (C39)",
        _with_a_rotation_of_nobody,
    ),
    *needing(
        without_key,
        one(
            "C3.moved-key",
            "session.md#goodbye",
            "another key at the address in `to` ends the connection before `login`",
            _moved_to_another,
            _says_nothing_there,
        ),
    ),
    Scene(
        plain,
        (
            (Case("C3.login", _HANDSHAKE, "the login is signed for this connection (C38)"), _logs_in),
            (
                Case("C3.plays", _DUTIES, "plays an honest match with a key to its end"),
                once(without_key, unended),
            ),
            (Case("C3.seat", _CHECKS, "agrees to the terms with a `seat` record (C6, C7)"), _right("seat")),
            (Case("C3.release", _DUTIES, "releases once for each call (C14, C15)"), _releases_once),
            (
                Case("C3.act", _CHECKS, "signs what the option says, at this position and head (C10, C20)"),
                _right("act"),
            ),
            (
                Case("C3.ack", "../fairness/specification.md#10-end", "signs the end of the match (C32)"),
                _right("ack"),
            ),
        ),
    ),
)

"""The cases of level C3 at an honest table: a login bound to the connection, and records that are right."""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from truc_conform.client_cases.entering import bad_hello, says_nothing_of_itself
from truc_conform.client_cases.moving import sent_on
from truc_conform.client_cases.seated import on_choice, sent_away
from truc_conform.client_harness import ClientHarness
from truc_conform.expectations import UnofferedError, require
from truc_conform.forging import greeted_again
from truc_conform.playing import secret
from truc_conform.result import tag_of_body
from truc_conform.scenes import (
    Arrange,
    ClientExit,
    Judge,
    Scene,
    check_faults,
    each_of,
    ends_soon,
    finishes,
    if_wanted,
    intercepting,
    judged,
    plain,
    said,
    scene,
    shared_scene,
    sits_down,
    wants,
)
from truc_conform.shown import INFO
from truc_protocol import messages
from truc_protocol.codec import MAX_INT, dec
from truc_protocol.crypto import keys
from truc_protocol.wire.capabilities import OWN_OPTIONS
from truc_protocol.wire.handshake import make_roll

_HANDSHAKE: Final = "security.md#the-handshake"
_CHECKS: Final = "../fairness/specification.md#11-checks"
_GIVEN: Final = "somebody else 2"
_TWICE: Final = 2
_DUTIES: Final = "../fairness/specification.md#13-what-a-client-does"


def has_key(server: ClientHarness, end: ClientExit) -> None:
    """Check that a client took a seat with a key."""
    sits_down(server, end)
    _is_keyed(server, end)


def _is_keyed(server: ClientHarness, _end: ClientExit) -> None:
    """Check that a client logs in with a key."""
    if not said(server, messages.KeyLogin):
        raise UnofferedError("it played as a guest")


def _signed(server: ClientHarness, subject: str) -> list[bytes]:
    """Return the bodies of one kind that the client has signed."""
    return [act.body for act in said(server, messages.SignedAct) if tag_of_body(act.body) == subject]


def _right(subject: str) -> Judge:
    """Return a judge of the records of one kind: the client signed some, and the server took them."""

    def judge(server: ClientHarness, end: ClientExit) -> None:
        has_key(server, end)
        check_faults(server, subject)
        require(_signed(server, subject), f"it signed no {subject} record")

    return judge


def _logs_in(server: ClientHarness, end: ClientExit) -> None:
    check_faults(server, "KeyLogin")
    has_key(server, end)


def _releases_once(server: ClientHarness, end: ClientExit) -> None:
    _right("release")(server, end)
    bodies = set(_signed(server, "release"))
    # specification.md, "What a client does": one release for each (mid, j), and a call for each index.
    calls = sum(tag_of_body(record.body) == "call" for record in server.records)
    require(len(bodies) == calls, f"{len(bodies)} releases for {calls} calls")


def _signs_the_name(server: ClientHarness, _end: ClientExit) -> None:
    # specification.md, "Records": the name is the last field of a `seat`.
    names = [dec(body)[-1] for body in _signed(server, "seat")]
    require(names, "it signed no seat record")
    require(names[0] == _GIVEN.encode(), f"it signed the name {names[0]!r}, not {_GIVEN!r}")


@scene(
    "C3.name",
    "limits.md#names",
    "signs the name that `welcome` gives",
    has_key,
    _signs_the_name,
)
def _renamed(server: ClientHarness) -> None:
    """Give the player a name other than the one asked for, and end when it has signed a name."""
    server.recast = each_of(messages.Welcome, lambda welcome: (replace(welcome, name=_GIVEN),))
    _end_when_signed(server)


@intercepting()
async def _end_when_signed(server: ClientHarness, _message: messages.ClientMessage) -> bool:
    if _signed(server, "seat"):
        server.done.set()
    return False


def _with_another_key(server: ClientHarness, hello: messages.ServerHello) -> messages.ServerHello:
    server.key = keys.signing_key_from_seed(secret("another server", server.seed))
    return greeted_again(server, hello, spk=server.key.public)


def _with_a_rotation_of_nobody(server: ClientHarness, hello: messages.ServerHello) -> messages.ServerHello:
    """Show a rotation with so high a serial that a client which pins it stops at every later one."""
    before = keys.signing_key_from_seed(secret("a server before", server.seed))
    body, *_ = make_roll(before, server.key, serial=MAX_INT, not_before=0)
    return replace(hello, rolls=((body, bytes(64), bytes(64)),))


def _bad_hello(
    name: str, expected: str, change: Callable[[ClientHarness, messages.ServerHello], messages.ServerHello]
) -> Scene:
    """Return a scene with a hello that is changed, after which nothing may be said to the server."""

    def arrange(server: ClientHarness) -> None:
        bad_hello(server, lambda hello: change(server, hello))

    return scene(name, _HANDSHAKE, expected, says_nothing_of_itself)(arrange)


_BAD_HELLOS: Final = [
    _bad_hello(
        "C3.hello-signature",
        "a hello with an invalid signature ends the connection before `login`",
        lambda _server, hello: replace(hello, sig=bytes(64)),
    ),
    _bad_hello(
        "C3.hello-key",
        "a key without the join string's fingerprint ends the connection before `login`",
        _with_another_key,
    ),
    _bad_hello(
        "C3.hello-frame",
        "a hello made for another connection ends this one before `login`",
        lambda server, hello: greeted_again(server, hello, client_hello=bytes(32)),
    ),
    _bad_hello(
        "C3.hello-info",
        "an info other than the signed one ends the connection before `login`",
        lambda _server, hello: replace(hello, info=hello.info.replace(b"a server", b"A server")),
    ),
    _bad_hello(
        "C3.hello-certificate",
        "a certificate that is not this connection's ends it before `login`",
        lambda server, hello: greeted_again(server, hello, cert=bytes(32)),
    ),
    _bad_hello(
        "C3.hello-rotation",
        "an unsigned rotation at first contact ends the connection before `login` (C39)",
        _with_a_rotation_of_nobody,
    ),
]


def _is_at_other_door(server: ClientHarness) -> bool:
    return server.doors_used[-1] == 1


def _says_nothing_there(server: ClientHarness, _end: ClientExit) -> None:
    require(1 in server.doors_used, "it did not go to the address in `to`")
    logins = [heard for heard in server.heard if isinstance(heard.message, messages.KeyLogin)]
    # session.md, "Goodbye": the pin of the address it came
    # by applies at `to` too, and another key is a hard stop.
    is_said = any(server.doors_used[heard.link - 1] == 1 for heard in logins)
    require(not is_said, "it logged in with its key at another server")


def _to_another(move: Arrange) -> Arrange:
    """Send the client to where another server answers."""

    def hello_there(server: ClientHarness, hello: messages.ServerHello) -> messages.ServerHello:
        return _with_another_key(server, hello) if _is_at_other_door(server) else hello

    def arrange(server: ClientHarness) -> None:
        server.recast = each_of(messages.ServerHello, lambda hello: (hello_there(server, hello),))
        move(server)
        ends_soon(
            server, lambda message: isinstance(message, messages.ClientHello) and _is_at_other_door(server)
        )

    return arrange


_MOVED: Final = [
    scene(
        name,
        "session.md#goodbye",
        f"another key at the address in `to` ends the connection before `login`{where}",
        need,
        _says_nothing_there,
    )(_to_another(move))
    for name, where, need, move in (
        ("C3.moved-key", "", has_key, on_choice(sent_away)),
        (
            "C3.moved-key-join",
            ", where `moved` came instead of the reply to `join`",
            _is_keyed,
            sent_on(messages.Join),
        ),
    )
]


@scene(
    "C3.own-options",
    "play.md#decisions",
    "plays by the rules, and passes options over, if it makes its own",
    has_key,
    if_wanted(OWN_OPTIONS),
    finishes,
)
def _unasked(server: ClientHarness) -> None:
    """Send `waiting`, as to everybody, to a client that makes its own options; and options that nobody can open."""
    server.info = messages.encode_info(replace(INFO, caps={OWN_OPTIONS: True}))

    def spoil(options: messages.BoxedOptions) -> tuple[messages.ServerMessage, ...]:
        if not wants(server, OWN_OPTIONS):
            return (options,)
        waiting = messages.Waiting(table=options.table, match=options.match, at=options.at, seats=(0,))
        # A client that looked into it all the same would stop at a box that does not open.
        return replace(options, box=bytes(len(options.box))), waiting

    server.recast = each_of(messages.BoxedOptions, spoil)


def _signs_the_same_seat_again(server: ClientHarness, end: ClientExit) -> None:
    seats = [act.body + act.sig for act in said(server, messages.SignedAct) if act.match is None]
    require(len(seats) >= _TWICE, "it sent no `seat` for the terms that came again")
    require(len(set(seats)) == 1, "it signed the same terms in two ways")
    finishes(server, end)


@scene(
    "C3.seat-again",
    "session.md#coming-back",
    "sends the very same `seat` again when it has come back, and the terms that it has signed come again",
    has_key,
    _signs_the_same_seat_again,
)
@intercepting()
async def _lost_while_the_terms_are_out(server: ClientHarness, _message: messages.ClientMessage) -> bool:
    """Lose the connection and the first `seat`; the terms stay as they are."""
    if len(_signed(server, "seat")) == 1 and len(server.opened) == 1:
        await server.drop()
    return False


_HONEST: Final = shared_scene(
    judged("C3.login", _HANDSHAKE, "the login is signed for this connection (C38)", _logs_in),
    judged("C3.plays", _DUTIES, "plays an honest match with a key to its end", has_key, finishes),
    judged("C3.seat", _CHECKS, "agrees to the terms with a `seat` record (C6, C7)", _right("seat")),
    judged("C3.release", _DUTIES, "releases once for each call (C14, C15)", _releases_once),
    judged(
        "C3.act", _CHECKS, "signs what the option says, at this position and head (C10, C20)", _right("act")
    ),
    judged(
        "C3.ack", "../fairness/specification.md#10-end", "signs the end of the match (C32)", _right("ack")
    ),
)(plain)

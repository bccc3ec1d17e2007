"""The cases of level C4 about the server's key: it is rotated while a match is played, or it has been revoked.

A client heeds a revocation by whatever means it has: the kit gives it the file, if its command names `{revocation}`.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from truc_conform.client_cases.entering import bad_hello, says_nothing_of_itself
from truc_conform.client_cases.keyed import has_key
from truc_conform.client_cases.seated import on_choice
from truc_conform.client_harness import ClientHarness
from truc_conform.expectations import UnofferedError, require
from truc_conform.playing import secret
from truc_conform.result import AnyAct
from truc_conform.scenes import (
    ClientExit,
    Judge,
    Scene,
    ends_soon,
    finishes,
    lose,
    said,
    says_who,
    scene,
)
from truc_protocol.crypto.keys import SigningKey, signing_key_from_seed
from truc_protocol.messages import ClientHello
from truc_protocol.wire.handshake import Roll, make_roll

_ROTATION: Final = "security.md#rotation-and-revocation"
_FAR_AHEAD: Final = 4_000_000_000  # Unix seconds
_EMPTY: Final = bytes(64)

Rolls = Callable[[SigningKey, SigningKey], tuple[Roll, ...]]
"""The rotations that a server shows, from the key that it had to the one that it has."""
_roll = partial(make_roll, not_before=0)


def _key(name: str, server: ClientHarness) -> SigningKey:
    return signing_key_from_seed(secret(name, server.seed))


def _comes_back(server: ClientHarness, _end: ClientExit) -> None:
    require(len(said(server, ClientHello)) != 1, "it did not come back")


def _ends_badly(_server: ClientHarness, end: ClientExit) -> None:
    require(end.code != 0, "it ended with exit code 0, as if all were well")


def _enters_no_more(server: ClientHarness, _end: ClientExit) -> None:
    # security.md, C37: the key is checked before `login`, on each connection anew.
    has_entered = any(heard.link > 1 and says_who(heard.message) for heard in server.heard)
    require(not has_entered, "it logged in with its key")


_FOLLOWS: Final = has_key, _comes_back, finishes
_STAYS_OUT: Final = has_key, _comes_back, _enters_no_more, _ends_badly
"""It has met a key which nothing leads to: it says nothing of itself, and ends."""


def _rotating(name: str, expected: str, judges: tuple[Judge, ...], rolls: Rolls) -> Scene:
    """Return a scene in which the server loses the connection, and has another key when the client comes back."""

    def arrange(server: ClientHarness) -> None:
        _lose_key(server, rolls)
        if judges is _STAYS_OUT:
            _end_when_back(server)

    return scene(name, _ROTATION, expected, *judges)(arrange)


def _lose_key(server: ClientHarness, rolls: Rolls) -> None:
    async def rotate(server: ClientHarness, message: AnyAct) -> None:
        before, server.key = server.key, _key("the next server", server)
        server.rolls = rolls(before, server.key)
        await lose(server, message)

    on_choice(rotate)(server)


def _end_when_back(server: ClientHarness) -> None:
    ends_soon(server, lambda message: isinstance(message, ClientHello) and bool(server.rolls))


def _other(key: SigningKey) -> SigningKey:
    return signing_key_from_seed(secret("somewhere else", int(key.public[0])))


def _unsigned(old: SigningKey, new: SigningKey) -> tuple[Roll]:
    body, _, by_new = _roll(old, new, serial=1)
    return ((body, _EMPTY, by_new),)


_ROTATED: Final = [
    _rotating(*row)
    for row in (
        (
            "C4.rotation",
            "follows a rotation to the server's next key, and goes on with the match (C39)",
            _FOLLOWS,
            lambda old, new: (_roll(old, new, serial=1),),
        ),
        (
            "C4.rotations",
            "follows several rotations at once (C39)",
            _FOLLOWS,
            lambda old, new: (_roll(old, _other(old), serial=1), _roll(_other(old), new, serial=2)),
        ),
        (
            "C4.rotation-signature",
            "stays out after a rotation that the old key has not signed",
            _STAYS_OUT,
            _unsigned,
        ),
        (
            "C4.rotation-gap",
            "stays out after rotations with a serial left out",
            _STAYS_OUT,
            lambda old, new: (_roll(old, _other(old), serial=1), _roll(_other(old), new, serial=3)),
        ),
        (
            "C4.rotation-early",
            "stays out after a rotation that is not due for years",
            _STAYS_OUT,
            lambda old, new: (make_roll(old, new, serial=1, not_before=_FAR_AHEAD),),
        ),
        (
            "C4.rotation-elsewhere",
            "stays out after a rotation to another key than the hello's",
            _STAYS_OUT,
            lambda old, _new: (_roll(old, _other(old), serial=1),),
        ),
    )
]


@scene(
    "C4.rotation-zero",
    _ROTATION,
    "a rotation with the serial 0 ends the connection before `login`",
    says_nothing_of_itself,
)
def _zero(server: ClientHarness) -> None:
    """Show a rotation, signed by both keys, whose serial is 0."""
    before = _key("a server before", server)
    # Serials count from 1 (security.md, "Rotation and revocation").
    server.rolls = (_roll(before, server.key, serial=0),)
    bad_hello(server, lambda hello: hello)


def _enters_nowhere(server: ClientHarness, _end: ClientExit) -> None:
    require(not any(says_who(heard.message) for heard in server.heard), "it logged in")


def _heeds(server: ClientHarness, _end: ClientExit) -> None:
    if not server.takes_revocations:
        raise UnofferedError("its command does not name {revocation}")


@scene(
    "C4.revoked",
    _ROTATION,
    "says nothing to a server whose key is revoked (C40)",
    _heeds,
    _enters_nowhere,
    _ends_badly,
)
def _revoked(server: ClientHarness) -> None:
    """Answer with a key that the client knows to be revoked."""
    # The client is given this key's revocation before it starts.
    server.revoked = server.key
    bad_hello(server, lambda hello: hello)


@scene(
    "C4.revoked-rotation",
    _ROTATION,
    "follows no rotation by a revoked key (C40)",
    _heeds,
    *_STAYS_OUT,
)
def _revoked_between(server: ClientHarness) -> None:
    """Rotate to a key that the client knows to be revoked, and from there to another."""
    # security.md, C40: a revoked key is never part of a rotation
    # that is followed, not even between two sound ones.
    between = server.revoked = _other(server.key)
    _lose_key(server, lambda old, new: (_roll(old, between, serial=1), _roll(between, new, serial=2)))
    _end_when_back(server)

"""The cases of levels C1 and C2 about a server of several addresses, which sends a client on to the one that has what it asks for."""

from collections.abc import Callable
from itertools import groupby
from typing import Final

import trio

from truc_conform.client_cases.seated import on_choice
from truc_conform.client_harness import ClientHarness
from truc_conform.expectations import UnofferedError, require
from truc_conform.scenes import (
    Arrange,
    ClientExit,
    Judge,
    Scene,
    at_message,
    enters,
    finishes,
    intercepting,
    lose,
    said,
    says_who,
    scene,
)
from truc_protocol import messages
from truc_protocol.codec import dec
from truc_protocol.errors import Code

Asking = type[messages.Join | messages.Watch | messages.Resume]

_GOODBYE: Final = "session.md#goodbye"
_OTHER: Final = 1
"""The place of the other address among the doors."""
_MOST_MOVES: Final = 8
"""The specification says "a few"; a client that follows more of them in a row counts as one without a limit."""
_STANDING_S: Final = 5.0
"""How long after a client was sent on it counts as one that goes on no more."""


def moved(server: ClientHarness) -> messages.Bye:
    """Return the goodbye that leads to the other address."""
    to = f"127.0.0.1:{server.doors[_OTHER]}"
    return messages.bye(Code.MOVED, "what is asked for is at another address", to=to)


def sent_on(kind: Asking) -> Arrange:
    """Arrange that the first request of a kind is answered by where to go, and every other one as ever."""

    async def send_on(server: ClientHarness, _message: messages.ClientMessage) -> bool:
        await server.part(moved(server))
        return False

    return at_message(lambda message: isinstance(message, kind), send_on)


def _who(login: messages.ClientMessage) -> object:
    """Return what a login is known by; None if it is that of somebody new."""
    match login:
        case messages.KeyLogin(body=body):
            _, _, public, *_ = dec(body)
            return public
        case messages.GuestReturn(token=token):
            return token
        case _:
            return None


def _asks_there(kind: Asking) -> Judge:
    def judge(server: ClientHarness, end: ClientExit) -> None:
        require(_OTHER in server.doors_used, "it did not go to the address in `to`")
        there = [heard.message for heard in server.heard if server.doors_used[heard.link - 1] == _OTHER]
        first = next(_who(heard.message) for heard in server.heard if says_who(heard.message))
        known = [_who(message) for message in there if says_who(message)]
        # session.md, "Goodbye": there the client logs in anew,
        # as the same player; a new guest would be somebody else.
        is_another = None in known or (first is not None and set(known) - {first})
        require(not is_another, "it logged in there as somebody else")
        asks = any(isinstance(message, kind) for message in there)
        require(asks, f"it did not ask again there: no {kind.__name__}")
        finishes(server, end)

    return judge


def _asks(kind: Asking) -> Judge:
    def judge(server: ClientHarness, end: ClientExit) -> None:
        enters(server, end)
        if not said(server, kind):
            raise UnofferedError(f"it sent no {kind.__name__}")

    return judge


def _lost_then_sent_on(server: ClientHarness) -> None:
    """Lose the connection at a decision; a client that comes back to its seat is sent on."""
    on_choice(lose, number=2)(server)
    sent_on(messages.Resume)(server)


_SENT_ON: Final = [
    scene(
        name,
        _GOODBYE,
        f"asks again at the address in `to` when `moved` comes instead of the reply to {what}",
        _asks(kind),
        _asks_there(kind),
    )(arrange)
    for name, what, kind, arrange in (
        ("C1.moved-watch", "`watch`", messages.Watch, sent_on(messages.Watch)),
        ("C2.moved-join", "`join`", messages.Join, sent_on(messages.Join)),
        ("C2.moved-resume", "`resume`", messages.Resume, _lost_then_sent_on),
    )
]


def _in_a_row(server: ClientHarness) -> int:
    """Return how often in a row the client has gone, at most, where it had been sent."""
    rows = (len(list(row)) for door, row in groupby(server.doors_used) if door == _OTHER)
    return max(rows, default=0)


def _stops_going_round(server: ClientHarness, _end: ClientExit) -> None:
    row = _in_a_row(server)
    require(row, "it did not go to the address in `to`")
    require(row <= _MOST_MOVES, f"it followed {row} moves in a row")


def _round(kind: Asking) -> Callable[[ClientHarness], None]:
    """Send on whoever asks, at the other address too, to where they are; who begins anew at the first one goes round no more."""

    @intercepting(kind)
    async def send_on(server: ClientHarness, _message: messages.ClientMessage) -> bool:
        begins_anew = server.doors_used[-1] != _OTHER and _OTHER in server.doors_used
        # conformance.md: a client that begins anew at the first address has stopped, too.
        if begins_anew or _in_a_row(server) > _MOST_MOVES:
            server.done.set()
        server.nursery.start_soon(_end_unless_asked, server, len(server.heard))
        await server.part(moved(server))
        return False

    return send_on


async def _end_unless_asked(server: ClientHarness, heard: int) -> None:
    """End the scene if the client has said nothing more after some time."""
    await trio.sleep(_STANDING_S)
    if len(server.heard) == heard:
        server.done.set()


_ROUND: Final[list[Scene]] = [
    scene(
        name,
        _GOODBYE,
        f"follows a few moves in a row, and no more than {_MOST_MOVES}",
        _asks(kind),
        _stops_going_round,
    )(_round(kind))
    for name, kind in (("C1.moved-round", messages.Watch), ("C2.moved-round", messages.Join))
]

"""Servers and seats that cheat in play: the client stops by the right check, and its evidence refutes the match to anybody.

The cheats of the kit, which conform/test_own_library.py holds the client to, are not here, but where their evidence is another.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from client.cheats import QuietServer, caught, refuted
from msgspec.structs import replace
from protocol.peers import secret

from truc_conform.forging import Place, RewriteBend, body_of, on, on_record, put_instead, signed_again
from truc_protocol.bodies import Act, Body, Call, Close, Deal, Draw, Open, Release, Void
from truc_protocol.messages import MatchRecord
from truc_protocol.setup import Opts

LINK = secret("no link", 1)


class Case(NamedTuple):
    check: str
    culprit: str | None
    cheat: Callable[[Any], None]
    reveal: str = "hand"


def from_(kind: type, index: int, *makers: Callable[[Place, Any], Body]) -> Callable[[Any], None]:
    def cheat(server) -> None:
        server.bend = RewriteBend(server, kind, index, *makers)

    return cheat


def void(server) -> Callable[[Place, Any], Void]:
    """Return a maker of a void that calls both seats silent."""
    return lambda place, body: Void(
        *place, body.j, "silent", (0, 1), server.dealer._chains[-1].link(body.j + 1)
    )


def after_a_void(make: Callable[[Place, Any], Body], **opts: int) -> Callable[[Any], None]:
    """Void the first deal, before anybody has released, and go on with another record."""

    def cheat(server) -> None:
        server.opts = Opts(guests=1, **opts)
        server.bend = RewriteBend(server, Release, 1, void(server), make)

    return cheat


def deal(place: Place, j: int, **changes: Any) -> Deal:
    shape = {"d": 0, "dealer": 0, "ncards": 3, "cut": 0, "up": (), "leaves": (), "boxes": ()}
    return Deal(*place, j, **{**shape, **changes})


def call(place: Place, body: Call, **changes: Any) -> Call:
    fields = {"j": body.j, "dealer": body.dealer, "ncards": body.ncards, "cut": body.cut, "roles": body.roles}
    return Call(*place, **{**fields, **changes})


def opened_early(server) -> Callable[[Place, Any], Open]:
    def make(place: Place, body: Act) -> Open:
        opening = server.dealer.openings(server.ledger, 1)[0]
        return Open(*place, body.j, 0, 1, ((0, *opening),))

    return make


def open_a_card(server) -> None:
    server.bend = RewriteBend(server, Act, 1, opened_early(server))


def reveal_under_match(server) -> None:
    def close(place: Place, body: Close) -> Close:
        return Close(*place, body.j, server.dealer._chains[-1].link(body.j + 1), body.score, body.reason)

    server.bend = RewriteBend(server, Close, 1, close)


def garble_the_box(server) -> None:
    def swap(message: MatchRecord) -> MatchRecord:
        return signed_again(server, message, boxes=tuple(reversed(body_of(message).boxes)))

    server.bend = on_record("deal", swap)


def forge_an_act(server) -> None:
    """Let the server sign, in the name of seat 1, with its own key."""

    def forge(message: MatchRecord) -> MatchRecord:
        return replace(put_instead(server, message, body_of(message)), signer=message.signer)

    server.bend = on_record("act", forge)


def on_plays_of_seat_1(server, change: Callable[[MatchRecord, Act], MatchRecord]) -> None:
    def bend(message: MatchRecord) -> MatchRecord:
        body = body_of(message)
        mine = message.signer == 2 and isinstance(body, Act) and body.kind == "play"
        return change(message, body) if mine else message

    server.bend = on(MatchRecord, bend)


def play_a_card_twice(server) -> None:
    played: dict[int, tuple] = {}

    def again(message: MatchRecord, body: Act) -> MatchRecord:
        if body.j in played:
            return signed_again(server, message, args=played[body.j])
        played[body.j] = body.args
        return message

    on_plays_of_seat_1(server, again)


CASES = {
    "draw before all have released": Case(
        "C15", "server", from_(Release, 0, lambda place, body: Draw(*place, body.j, LINK, 0))
    ),
    "deal after a void": Case(
        "C11", "server", after_a_void(lambda place, body: deal(place, 2), gone=2, voids=3)
    ),
    "same index called again after a void": Case(
        "C12", "server", after_a_void(lambda place, _: Call(*place, 1, 0, 3, 0, (0, 1, 2)), gone=2, voids=3)
    ),
    "another cut after a void": Case(
        "C13", "server", after_a_void(lambda place, _: Call(*place, 2, 0, 3, 9, (0, 1, 2)), gone=2, voids=3)
    ),
    "call for another dealer": Case(
        "C13", "server", from_(Call, 1, lambda place, body: call(place, body, dealer=1 - body.dealer))
    ),
    "call with a cut": Case("C13", "server", from_(Call, 1, lambda place, body: call(place, body, cut=7))),
    "void that names a seat that has released": Case(
        "C26", "server", from_(Draw, 0, lambda place, body: Void(*place, body.j, "silent", (0,), LINK))
    ),
    "void after the deal": Case(
        "C11", "server", from_(Act, 1, lambda place, body: Void(*place, body.j, "silent", (1,), LINK))
    ),
    "card opened in the hand": Case("C23", "server", open_a_card),
    "hand opened early under match": Case("C14", "server", reveal_under_match, "match"),
    "hand garbled in its box": Case("C18", "server", garble_the_box),
    "act forged by the server": Case("C3", None, forge_an_act),
    "card played twice": Case("C19", "seat 1", play_a_card_twice),
}


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def case(request) -> Case:
    return request.param


async def test_cheat_is_caught_and_its_evidence_refutes_it_to_anybody(scripted, player, case, autojump_clock):
    server = scripted(kind=QuietServer, reveal=case.reveal)
    case.cheat(server)
    stopped = await caught(server, player)
    assert (stopped.check, stopped.culprit) == (case.check, case.culprit)
    assert refuted(stopped) == {(case.check, case.culprit)}

"""What seats of a trace do beside playing: pause, lose the connection, come back, let time pass, claim, resign.

Each turn is a word and a seat, as `leave 1`. It begins when everything before it has been answered and read. What comes of
it is taken up by the course (traced.py), which this module is handed.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple

import trio
from trio.testing import MockClock

from truc_conform.expectations import Map
from truc_conform.raw_client import RawClient
from truc_conform.raw_seat import RawSeat
from truc_protocol.bodies import Act, Body, Resign
from truc_protocol.records import Phase

if TYPE_CHECKING:
    from vectors.traced import Course

_FIRST_HAND = 1
LATE_S = 20.01
"""Longer than a decision of these scripts, and shorter than the silence before a ping."""


class Outside(NamedTuple):
    """What turns need beside the seats: a connection for a seat, and the clock."""

    connect: Callable[[int], Awaitable[RawClient]]
    clock: MockClock


def may_begin(course: "Course") -> bool:
    """Tell whether a hand is over, the next one dealt, and everything read."""
    return all(is_next_hand(seat) and not seat.client.inbox for seat in course.seats)


def is_next_hand(seat: RawSeat) -> bool:
    """Tell whether a seat has seen the second hand dealt."""
    return (
        seat.auditor is not None and seat.ledger.phase is Phase.HAND and seat.ledger.deal_index > _FIRST_HAND
    )


async def take_turns(course: "Course", turns: tuple[str, ...], outside: Outside) -> None:
    """Let seats do one thing after the other, and nothing else."""
    for seat in course.seats:
        seat.chooses = _nothing
    for turn in turns:
        word, _, number = turn.partition(" ")
        await _take_turn(course, word, course.seats[int(number or 0)], outside)
        await _read(course)


def _nothing(message: Map, options: list[Map]) -> None:
    del message, options


async def _take_turn(course: "Course", word: str, seat: RawSeat, outside: Outside) -> None:
    match word:
        case "wait":
            outside.clock.jump(LATE_S)
            await course.settle()
        case "leave":
            await _leave(course, seat)
        case "return":
            await _return(course, seat, await outside.connect(seat.seat))
        case "claim":
            wanted = {"table": seat.table, "match": seat.ledger.setup.mid}
            await course.ask(seat, {"t": "claim_match", **wanted})
        case _:
            await course.ask(seat, _said(seat, word))


def _said(seat: RawSeat, word: str) -> Map:
    """Return the act that says `pause`, `resume` or `resign`, by signature or by choice."""
    ledger = seat.ledger
    if seat.key is None:
        here = {"table": seat.table, "match": ledger.setup.mid, "at": ledger.k}
        return {"t": "act", **here, "choose": word}
    here_signed = (ledger.setup.mid, ledger.k, ledger.head)
    body: Body = Resign(*here_signed, seat.seat)
    if word != "resign":
        body = Act(*here_signed, ledger.deal_index, seat.seat, word, ())
    return seat.sign(body)


async def _leave(course: "Course", seat: RawSeat) -> None:
    await trio.aclose_forcefully(seat.client.stream)
    course.present.remove(seat)
    for other in course.present:
        before = len(other.client.log)
        await other.client.until("away", seat=seat.seat)
        other.client.inbox += other.client.log[before:]
    await course.settle()


async def _return(course: "Course", seat: RawSeat, client: RawClient) -> None:
    token, seat.client = seat.client.welcome["token"], client
    await client.hello()
    course.take_up()
    await client.enter({"t": "login", "token": token})
    course.take_up()
    course.present.append(seat)
    wanted = {"table": seat.table, "match": seat.ledger.setup.mid, "next": seat.next}
    await course.ask(seat, {"t": "resume", **wanted})


async def _read(course: "Course") -> None:
    """Let everybody read what has come; what a key owes for it is sent."""
    while seat := next((seat for seat in course.present if seat.client.inbox), None):
        sent = len(course.frames)
        await seat.react(seat.client.inbox.popleft())
        if len(course.frames) > sent:
            await course.settle()

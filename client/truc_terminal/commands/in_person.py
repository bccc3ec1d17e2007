"""A person at a table: what they are shown before they agree, whom the table waits for, and whether they play again.

Invariant: only a no gives the seat up; a player who leaves without an answer finds it again.
"""

import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from enum import Enum, auto
from ipaddress import ip_address
from itertools import count
from typing import Final, Never

import trio

from truc_client.address import parse_address
from truc_client.connecting import tasks_beside
from truc_client.errors import ClientError, NotPlayedError
from truc_client.happenings import (
    Interrupted,
    MatchContinued,
    MatchEnded,
    MatchStarted,
    RecordSeen,
    Resumed,
    SeatLost,
    TableChanged,
    TableGone,
)
from truc_client.table import Table
from truc_protocol.messages import TableState
from truc_terminal.commands.tables import WAITING, has_free_seat, taken_seats
from truc_terminal.commands.terminal import ask_yes_or_no, tell_commands
from truc_terminal.screen.person import Lines, Person
from truc_terminal.screen.screen import Screen
from truc_words import Sentence, shown_name, time_label

# Seconds of waiting after which a line tells whom the table waits for: ever rarer, as nothing new happens meanwhile;
# a player who comes or goes is told at once anyway.
_FIRST_S: Final = (15, 60, 120, 300)
_EVERY_S: Final = 600


async def look_on(table: Table, screen: Screen) -> bool:
    """Follow a table just joined until it is clear whether a match there waits for this player to step in."""
    async for happening in table:
        match happening:
            case TableChanged(state) if state.state != "playing":
                screen.show(happening)
                return False
            case MatchStarted():
                screen.show(happening)
            case RecordSeen(means=means):
                screen.show(MatchContinued(means))  # silently: the standing is shown at the end
            # Every record that there is has come (session.md, "Coming back").
            case Resumed():
                return table.stands_by
            case _:
                pass
    return False


async def agrees_to_step_in(table: Table, screen: Screen, lines: Lines) -> bool | None:
    """Show the terms and the score of a match, and ask whether to take over the seat; None at the end of the input.

    Raises:
        ClientError: The seat was no longer available before there was an answer.
    """
    state = table.state
    if state is None or table.seat is None:
        return False
    show_terms(table, screen)
    screen.show_score()
    named = (each.name for each in state.seats if each.seat == table.seat)
    name = shown_name(next(named, None) or "", table.seat)
    try:
        async with tasks_beside() as nursery:
            nursery.start_soon(_look_on_meanwhile, table, screen)
            return await ask_yes_or_no(screen, lines, "step_in", default=False, name=name, table=table.code)
    except ClientError:
        table.close()
        raise


async def _look_on_meanwhile(table: Table, screen: Screen) -> Never:
    """Follow a match silently as long as a substitute is wanted there; raise an error once none is."""
    async for happening in table:
        match happening:
            case RecordSeen(means=means):
                screen.show(MatchContinued(means))
            case Interrupted() | Resumed() | TableGone():
                screen.show(happening)
            case SeatLost() | MatchEnded():
                break
            case _:
                pass
    raise NotPlayedError(Sentence("failures.no_longer_vacant"))


def show_terms(table: Table, screen: Screen) -> None:
    """Show what `ready` agrees to, in one line."""
    if table.state is not None:
        screen.show_terms(table.state)


_HERE: Final = ("http://localhost", "http://127.", "http://[::1]")


def tell_invite(table: Table, screen: Screen) -> None:
    """Tell how to invite others, unless there is no seat for them."""
    if table.state is not None and not has_free_seat(table.state):
        return
    screen.note("invite", table=table.code, link=table.invite)
    # A link to this machine's page is of use only where the server is on this machine too.
    is_here = is_here_alone(parse_address(table.invite).host)
    if table.web_invite is not None and (is_here or not table.web_invite.startswith(_HERE)):
        screen.note("invite_web", link=table.web_invite)
    if is_here:
        screen.note("invite_here", "yellow")


def is_here_alone(host: str) -> bool:
    """Tell whether an address reaches its server only from the same machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@asynccontextmanager
async def told_of_waiting(table: Table, screen: Screen) -> AsyncIterator[None]:
    """Tell whom a table waits for, as long as the block lasts."""
    async with tasks_beside() as nursery:
        nursery.start_soon(_tell, table, screen)
        yield


async def _tell(table: Table, screen: Screen) -> None:
    # A match may have begun and ended before a line is due; `table.match` is another then.
    began, before = trio.current_time(), table.match
    for waited in _moments():
        await trio.sleep_until(began + waited)
        state = table.state
        has_begun = table.match is not None and table.match is not before
        if state is None or state.state not in WAITING or has_begun:
            return
        tell_waiting(state, screen, table.invite, waited)


def _moments() -> Iterator[int]:
    """Yield the seconds of waiting after which a line is due."""
    yield from _FIRST_S
    yield from count(_EVERY_S, _EVERY_S)


def tell_waiting(state: TableState, screen: Screen, invite: str, waited: int) -> None:
    """Tell how many seats are taken; once all are, who is not ready."""
    time = time_label(waited)
    if has_free_seat(state):
        taken = taken_seats(state)
        screen.note("still_free", table=state.table, taken=taken, seats=state.n, waited=time, link=invite)
    else:
        names = ", ".join(shown_name(seat.name or "", seat.seat) for seat in state.seats if not seat.ready)
        screen.note("still_unready", table=state.table, waited=time, names=names)


class AnotherMatch(Enum):
    """What came of the question whether to play another match."""

    YES = auto()
    NO = auto()
    LEFT = auto()
    """The input has ended: the seat stays the player's."""
    CLOSED = auto()
    """The table was closed, or the seat taken over, before there was an answer."""


_ANSWERS: Final = {True: AnotherMatch.YES, False: AnotherMatch.NO, None: AnotherMatch.LEFT}


async def ask_for_another(table: Table, screen: Screen, lines: Lines) -> AnotherMatch:
    """Ask whether to play another match at a table."""
    async with tasks_beside() as nursery:
        nursery.start_soon(_follow, table, screen, nursery.cancel_scope)
        return _ANSWERS[await ask_yes_or_no(screen, lines, "another", default=True)]
    return AnotherMatch.CLOSED


async def _follow(table: Table, screen: Screen, asking: trio.CancelScope) -> None:
    """Tell what happens at a table, until the player no longer has a seat there: then nothing is asked any more."""
    told: frozenset[int] = frozenset()
    async for happening in table:
        screen.show(happening)
        if isinstance(happening, TableGone | SeatLost):
            asking.cancel()
            return
        told |= _tell_ready(table, screen, told)


def _tell_ready(table: Table, screen: Screen, told: frozenset[int]) -> frozenset[int]:
    """Tell which of the others have newly agreed to another match; return their seats."""
    if table.state is None or table.state.state == "playing":
        return frozenset()
    others = (seat for seat in table.state.seats if seat.ready and seat.seat != table.seat)
    new = {seat.seat: shown_name(seat.name or "", seat.seat) for seat in others if seat.seat not in told}
    for name in new.values():
        screen.note("wants_another", "dim", name=name)
    return frozenset(new)


async def play_matches(table: Table, screen: Screen, lines: Lines, *, plays_on: bool) -> bool:
    """Play match after match as long as the player wants; tell whether they left with a seat still theirs."""
    while True:
        person = Person(table, screen, lines, plays_on=plays_on)
        async with told_of_waiting(table, screen):
            ended = await person.play()
        if ended is None:
            return not person.has_lost_seat
        screen.say(Sentence("commands.transcript", path=ended.transcript))
        tell_commands(screen, ended.transcript)
        # A script has said all that it has to say: its lines were for one match.
        answer = await ask_for_another(table, screen, lines) if sys.stdin.isatty() else AnotherMatch.NO
        if answer is AnotherMatch.NO:
            await table.leave()
        if answer is not AnotherMatch.YES:
            return answer is AnotherMatch.LEFT
        show_terms(table, screen)
        await table.ready()

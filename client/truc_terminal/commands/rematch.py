"""The question after a match: another one? Meanwhile the player is told who leaves and who has said yes.

Invariant: only a no gives the seat up; a player who leaves without an answer finds it again.
"""

from enum import Enum, auto
from typing import Final

import trio

from truc_client.happenings import SeatTakenOver, TableClosed
from truc_client.table import Table
from truc_terminal.commands.asking import asked
from truc_terminal.screen.person import Lines
from truc_terminal.screen.screen import Screen
from truc_words import shown_name


class Another(Enum):
    """The outcome of the question."""

    YES = auto()
    NO = auto()
    LEFT = auto()
    """The input has ended: the seat stays the player's."""
    CLOSED = auto()
    """The table was closed, or the seat taken over, before there was an answer."""


_ANSWERS: Final = {True: Another.YES, False: Another.NO, None: Another.LEFT}


async def another(table: Table, screen: Screen, lines: Lines) -> Another:
    """Ask whether to play another match at a table."""
    answer = Another.CLOSED
    async with trio.open_nursery() as nursery:

        async def follow() -> None:
            await _follow(table, screen)
            nursery.cancel_scope.cancel()

        nursery.start_soon(follow)
        answer = _ANSWERS[await asked(screen, lines, "another", default=True)]
        nursery.cancel_scope.cancel()
    return answer


async def _follow(table: Table, screen: Screen) -> None:
    """Tell what happens at a table, until the player no longer has a seat there."""
    told: frozenset[int] = frozenset()
    async for happening in table:
        screen.show(happening)
        if isinstance(happening, TableClosed | SeatTakenOver):
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

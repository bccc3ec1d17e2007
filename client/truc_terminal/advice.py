"""Advice: what sharp would do in a player's place, and how that fared in the hands it imagined.

It thinks in a worker thread, about nothing but what its player sees. The same position gets the same thought again,
as far as the time for it is the same.
"""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

import trio

from truc_bots import LIVE, Effort, Sharp, Tried
from truc_client.happenings import Choice, YourTurn
from truc_client.table import Table


class Advice(NamedTuple):
    """The options of a turn that are worth comparing, best first, and how each fared; none where sharp cannot tell."""

    turn: YourTurn
    compared: tuple[tuple[Choice, Tried], ...]


Advise = Callable[[Table, YourTurn], Awaitable[Advice]]
"""Thinks about a turn; it may be cancelled meanwhile."""


async def sharp_advice(table: Table, turn: YourTurn, effort: Effort = LIVE) -> Advice:
    """Return what sharp thinks of the options of a table's newest turn."""
    match = None if table.match is None else table.match.ledger.match
    if match is None or table.seat is None:
        return Advice(turn, ())
    lines = [choice.line for choice in turn.options]
    tried = await trio.to_thread.run_sync(
        Sharp(turn.at, effort).compare, match, table.seat, lines, abandon_on_cancel=True
    )
    return Advice(turn, tuple((turn.options[place], each) for place, each in tried.items()))

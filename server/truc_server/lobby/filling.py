"""Company for players who wait alone: after a while the host's own bots are called to the free seats of an open table.

A table waits as long as it is open and public, has a free seat, and somebody sits there who is connected, has said that
they are ready, and is no bot. Only the moment of the next call is kept; calls are repeated as long as the table waits,
so that a bot that comes late, or not at all, keeps nobody waiting for ever.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from truc_server.house import House
from truc_server.lobby.house_bots import Calls

if TYPE_CHECKING:
    from truc_server.tables.table import Table
    from truc_server.timing.timers import Timer

_WAITING: Final = ("open", "over")


class Filling:
    """The tables that wait, and when the bots are called to each; `calls` returns the calls in force."""

    def __init__(self, house: House, calls: Callable[[], Calls]) -> None:
        self._house = house
        self._calls = calls
        self._next: dict[str, Timer] = {}

    def note(self, table: "Table") -> None:
        """Note how a table stands now."""
        after_s = self._house.settings.tables.company_s
        if not (after_s and self._waits(table)):
            self.drop(table.code)
        elif table.code not in self._next:
            self._next[table.code] = self._house.timers.after(after_s, partial(self._call, table))

    def drop(self, code: str) -> None:
        """Call nobody to a table."""
        timer = self._next.pop(code, None)
        if timer is not None:
            timer.cancel()

    def _call(self, table: "Table") -> None:
        del self._next[table.code]
        if not self._house.is_draining:
            self._calls().fill(table)
        self.note(table)

    def _waits(self, table: "Table") -> bool:
        if table.made.private or table.state not in _WAITING or None not in table.seats:
            return False
        seated = (each for seat in table.audience.online if (each := table.seats[seat]) is not None)
        return any(each.is_ready and not self._calls().is_bot(each.player) for each in seated)

"""The partners of a bot, any of whom may answer for the side: how long the bot waits for them before it answers itself.

Nobody tells a bot who is a person. So a partner is given a multiple of the longest time that a decision of theirs has
taken, up to a limit; until one was seen, the limit. The bot hardly waits for another bot, and for a person as long as
they need. Invariant: it never waits for a partner who is away.
"""

from math import inf
from typing import Final

from truc_client.happenings import Away, Fact, Happening, Recalled, RecordSeen, Resumed

_TIMES: Final = 3
"""How many times the longest time seen a partner is given."""


class Partners:
    """Whom a match waits for, and how long each was seen to take; `limit_s` is the longest wait for a partner."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._slowest: dict[int, float] = {}
        self._away: set[int] = set()
        self._since = 0.0
        self.waiting: tuple[int, ...] = ()

    def see(self, happening: Happening, now: float) -> None:
        """Note what has happened at a time in seconds."""
        match happening:
            case RecordSeen(means=means) | Recalled(means=means):
                self._wait_for(means[-1] if means else {}, now)
            case Away(seat, online):
                (self._away.discard if online else self._away.add)(seat)
            case Resumed():
                self._slowest.clear()  # the missing records came at once, which says nothing about the time taken
            case _:
                pass

    def _wait_for(self, state: Fact, now: float) -> None:
        if len(self.waiting) == 1:
            (seat,) = self.waiting
            self._slowest[seat] = max(now - self._since, self._slowest.get(seat, 0.0))
        self.waiting, self._since = state.get("waiting", ()), now

    def wait_s(self, own: int, deadline_ms: int | None) -> float:
        """Return how long to wait for the partners of a seat now, at most half of the time left."""
        partners = {seat for seat in self.waiting if seat != own and seat % 2 == own % 2} - self._away
        wanted = max((_TIMES * self._slowest.get(seat, inf) for seat in partners), default=0.0)
        return min(wanted, self._limit_s, inf if deadline_ms is None else deadline_ms / 2000)

"""The partners of a bot, of whom any may answer for the side: how long they are waited for before the bot answers itself.

Nobody tells a bot who is a person. So a partner is given a multiple of the longest time that a decision of theirs has taken, up to
a limit, and the limit until one was seen: another bot is hardly waited for, a person as long as they need. Invariant: who is away
is not waited for.
"""

from math import inf
from typing import Final

from truc_client.happenings import Away, Fact, Happening, Recalled, RecordSeen, Resumed

_TIMES: Final = 3
"""How many times the longest time seen is waited."""


class Partners:
    """Whom a match waits for, and what was seen of how long each takes; `limit_s` is how long a partner is waited for at most."""

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
                self._slowest.clear()  # what was missing came at once: that tells nothing of anybody's time
            case _:
                pass

    def _wait_for(self, state: Fact, now: float) -> None:
        if len(self.waiting) == 1:
            (seat,) = self.waiting
            self._slowest[seat] = max(now - self._since, self._slowest.get(seat, 0.0))
        self.waiting, self._since = state.get("waiting", ()), now

    def wait_s(self, own: int, deadline_ms: int | None) -> float:
        """Return how long the partners of a seat are waited for now, at most half of the time that is left."""
        partners = {seat for seat in self.waiting if seat != own and seat % 2 == own % 2} - self._away
        wanted = max((_TIMES * self._slowest.get(seat, inf) for seat in partners), default=0.0)
        return min(wanted, self._limit_s, inf if deadline_ms is None else deadline_ms / 2000)

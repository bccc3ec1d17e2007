"""How much one player may say, or ask for, in a short time, counted over every connection they have.

Who has gone and comes back is still known, for as long as what they have said counts. Invariant: nothing is kept of a
player who has been silent for longer than that, but until somebody else speaks.
"""

from typing import Final, NamedTuple

from msgspec.structs import replace

from truc_protocol.errors import Code
from truc_protocol.messages import Refusal
from truc_server.abilities import CHAT_LINES, CHAT_SECONDS, CHAT_TOTAL, LISTS_SECONDS
from truc_server.abilities import LISTS as MOST_LISTS
from truc_server.peer import RefusedError


class TooMuchTalkError(RefusedError):
    """A player says more than the others can be expected to hear, or asks for more than they need."""

    def __init__(self, message: str, wait_ms: int) -> None:
        super().__init__(Code.RATE_LIMITED, message)
        self._wait_ms = wait_ms

    def refusal(self, request: int | None) -> Refusal:
        """Return the answer."""
        return replace(super().refusal(request), retry_after_ms=self._wait_ms)


class Allowed(NamedTuple):
    """What one player may say in so many seconds: how often, and how much in all; `what` is the same in words."""

    times: int
    total: int
    seconds: int
    what: str


CHAT: Final = Allowed(CHAT_LINES, CHAT_TOTAL, CHAT_SECONDS, f"{CHAT_LINES} lines, {CHAT_TOTAL} characters")
LISTS: Final = Allowed(MOST_LISTS, MOST_LISTS, LISTS_SECONDS, f"{MOST_LISTS} lists of all tables")


class Spoken(NamedTuple):
    """When something was said, and how much it was."""

    moment: float
    size: int


class Floods:
    """What every player has said in the last seconds."""

    def __init__(self, allowed: Allowed) -> None:
        self._allowed = allowed
        self._spoken: dict[bytes, tuple[Spoken, ...]] = {}  # who has spoken last stands last

    def pay(self, player: bytes, size: int, now: float) -> None:
        """Count one thing more that a player says.

        Raises:
            TooMuchTalkError: It is one too many, or too much after the others; it does not count.
        """
        since = now - self._allowed.seconds
        spoken = tuple(one for one in self._spoken.get(player, ()) if one.moment > since)
        wait_s = _wait(self._allowed, spoken, size, now)
        if wait_s:
            message = f"expected at most {self._allowed.what} in {self._allowed.seconds} s"
            raise TooMuchTalkError(message, int(wait_s * 1000) + 1)
        self._spoken.pop(player, None)
        self._spoken[player] = (*spoken, Spoken(now, size))
        self._forget(since)

    def _forget(self, since: float) -> None:
        while (oldest := next(iter(self._spoken))) and self._spoken[oldest][-1].moment <= since:
            del self._spoken[oldest]

    def __len__(self) -> int:
        """The number of players of whom anything is kept."""
        return len(self._spoken)


def _wait(allowed: Allowed, spoken: tuple[Spoken, ...], size: int, now: float) -> float:
    """Return after how many seconds so much of what was said counts no more that there is room."""
    for past in range(len(spoken) + 1):
        rest = spoken[past:]
        if len(rest) < allowed.times and sum(one.size for one in rest) + size <= allowed.total:
            return spoken[past - 1].moment + allowed.seconds - now if past else 0.0
    raise ValueError(f"expected at most {allowed.total} at once, got {size}")

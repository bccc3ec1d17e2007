"""How much one player may say in a short time, counted over everything that they say and every connection they have.

Who has gone and comes back is still known, for as long as what they have said counts. Invariant: nothing is kept of a
player who has been silent for longer than that, but until somebody speaks.
"""

from typing import NamedTuple

from msgspec.structs import replace

from truc_protocol.errors import Code
from truc_protocol.messages import Refusal
from truc_server.abilities import CHAT_LINES, CHAT_SECONDS, CHAT_TOTAL
from truc_server.peer import RefusedError


class TooMuchTalkError(RefusedError):
    """A player says more than the others can be expected to hear."""

    def __init__(self, message: str, wait_ms: int) -> None:
        super().__init__(Code.RATE_LIMITED, message)
        self._wait_ms = wait_ms

    def refusal(self, request: int | None) -> Refusal:
        """Return the answer."""
        return replace(super().refusal(request), retry_after_ms=self._wait_ms)


class Spoken(NamedTuple):
    """When a line was said, and how long it was."""

    moment: float
    characters: int


class Floods:
    """What every player has said in the last seconds."""

    def __init__(self) -> None:
        self._spoken: dict[bytes, tuple[Spoken, ...]] = {}  # who has spoken last stands last

    def pay(self, player: bytes, characters: int, now: float) -> None:
        """Count one more line of a player.

        Raises:
            TooMuchTalkError: It is one too many, or too long after the others; it does not count.
        """
        spoken = tuple(one for one in self._spoken.get(player, ()) if one.moment > now - CHAT_SECONDS)
        wait_s = _wait(spoken, characters, now)
        if wait_s:
            message = f"expected at most {CHAT_LINES} lines, {CHAT_TOTAL} characters, in {CHAT_SECONDS} s"
            raise TooMuchTalkError(message, int(wait_s * 1000) + 1)
        self._spoken.pop(player, None)
        self._spoken[player] = (*spoken, Spoken(now, characters))
        self._forget(now - CHAT_SECONDS)

    def _forget(self, since: float) -> None:
        while (oldest := next(iter(self._spoken))) and self._spoken[oldest][-1].moment <= since:
            del self._spoken[oldest]

    def __len__(self) -> int:
        """The number of players of whom anything is kept."""
        return len(self._spoken)


def _wait(spoken: tuple[Spoken, ...], characters: int, now: float) -> float:
    """Return after how many seconds so much of what was said counts no more that a line has room."""
    for past in range(len(spoken) + 1):
        rest = spoken[past:]
        if len(rest) < CHAT_LINES and sum(one.characters for one in rest) + characters <= CHAT_TOTAL:
            return spoken[past - 1].moment + CHAT_SECONDS - now if past else 0.0
    raise ValueError(f"expected a line of at most {CHAT_TOTAL} characters, got {characters}")

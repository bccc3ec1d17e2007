"""How much one player may say, or ask for, in a short time, counted over every connection they have.

A player who leaves and comes back is still known, for as long as what they have said counts. Invariant: once somebody
speaks, nothing is kept about others who have been silent for longer than that.
"""

from itertools import islice
from typing import Final, NamedTuple

import trio

from truc_server.net.peer import LoggedInPlayer, Peer, TooSoonError
from truc_server.settings.abilities import (
    CHAT_CROWD,
    CHAT_LINES,
    CHAT_SECONDS,
    CHAT_TOTAL,
    LISTS_CROWD,
    LISTS_SECONDS,
)
from truc_server.settings.abilities import LISTS as MOST_LISTS
from truc_server.settings.in_force import CurrentValue
from truc_server.settings.settings import Settings
from truc_server.timing.rate_limits import MAX_SUBJECTS, Meter


class TalkLimit(NamedTuple):
    """What one player may say in so many seconds: how often, and how much in all; `what` is the same in words.

    All players of one network together may say as much as `crowd` of them.
    """

    times: int
    total: int
    seconds: int
    what: str
    crowd: int

    def of_crowd(self) -> "TalkLimit":
        """Return what all players of one network may say together."""
        return self._replace(times=self.crowd * self.times, total=self.crowd * self.total)


CHAT: Final = TalkLimit(
    CHAT_LINES, CHAT_TOTAL, CHAT_SECONDS, f"{CHAT_LINES} lines, {CHAT_TOTAL} characters", crowd=CHAT_CROWD
)
LISTS: Final = TalkLimit(
    MOST_LISTS, MOST_LISTS, LISTS_SECONDS, f"{MOST_LISTS} lists of all tables", crowd=LISTS_CROWD
)


class SpokenLine(NamedTuple):
    """When something was said, and its length."""

    moment: float
    size: int


class RecentTalk:
    """What every player has said in the last seconds."""

    def __init__(self, limit: TalkLimit) -> None:
        self._limit = limit
        self._spoken: dict[bytes, tuple[SpokenLine, ...]] = {}  # the last to speak comes last

    def check(self, player: bytes, size: int, now: float) -> None:
        """Check that a player may say one more thing.

        Raises:
            TooSoonError: It is one too many, or too much after the others.
        """
        wait_s = _wait(self._limit, self._recent(player, now), size, now)
        if wait_s:
            message = f"expected at most {self._limit.what} in {self._limit.seconds} s"
            raise TooSoonError(message, int(wait_s * 1000) + 1)

    def note(self, player: bytes, size: int, now: float) -> None:
        """Count what a player says."""
        spoken = (*self._recent(player, now), SpokenLine(now, size))
        # Taken out first, so that those who have been silent for longest come first, to be forgotten.
        self._spoken.pop(player, None)
        self._spoken[player] = spoken
        self._forget(now - self._limit.seconds)

    def _recent(self, player: bytes, now: float) -> tuple[SpokenLine, ...]:
        since = now - self._limit.seconds
        return tuple(one for one in self._spoken.get(player, ()) if one.moment > since)

    def _forget(self, since: float) -> None:
        while (oldest := next(iter(self._spoken))) and self._spoken[oldest][-1].moment <= since:
            del self._spoken[oldest]

    def __len__(self) -> int:
        """The number of players about whom anything is kept."""
        return len(self._spoken)


class Allowance:
    """What everybody has said in the last seconds: each player, and all of each network together.

    A guest is somebody new at every login, and so is whoever makes a new key: the others are not to hear the same flood
    from each of them.
    """

    def __init__(self, limit: TalkLimit) -> None:
        self._players = RecentTalk(limit)
        self._crowds = RecentTalk(limit.of_crowd())

    def pay(self, peer: Peer, player: LoggedInPlayer, size: int) -> None:
        """Count one more thing that a player says on a connection.

        Raises:
            TooSoonError: It is one too many, or too much after the others; it does not count.
        """
        now, network = trio.current_time(), peer.network.encode()
        # Both are asked before either counts it: what is refused costs nothing.
        self._players.check(player.id, size, now)
        self._crowds.check(network, size, now)
        self._players.note(player.id, size, now)
        self._crowds.note(network, size, now)


def _wait(limit: TalkLimit, spoken: tuple[SpokenLine, ...], size: int, now: float) -> float:
    """Return after how many seconds there is room, as enough of what was said no longer counts."""
    for past in range(len(spoken) + 1):
        rest = spoken[past:]
        if len(rest) < limit.times and sum(one.size for one in rest) + size <= limit.total:
            return spoken[past - 1].moment + limit.seconds - now if past else 0.0
    raise ValueError(f"expected at most {limit.total} at once, got {size}")


_MINUTE_S: Final = 60
BURST: Final = 10  # pages at once, for each connection that an address may have; then one a second for each
# Seconds whose acts, or steps with the pack, may come at once; with the rates of the settings no game between
# people comes near, while two pairs of programs at one address once wrote 0.4 MB a second.
ACTS_S: Final = 20
STEPS: Final = 5
"""Steps with the pack of mode blind that may come for each act.

A hand of n seats takes 4n + 1 of them beside its acts (n masks, n + 1 locks, n keys, n links) where one of mode dealt takes n
releases, which are acts: 4.5 for each at most. New cards take 2n + 1, and two acts at least. So at once may come ten
whole hands of any game, with all the new cards that its pack can supply.
"""


class Budget:
    """What every address, and every table in its match, may store for good in the long run, and at once.

    Nobody is refused: whoever wants more waits, and nothing else of that connection is handled meanwhile.
    """

    def __init__(self, settings: CurrentValue[Settings], *, times: int = 1) -> None:
        """Begin with nobody; so many `times` as many as the settings say of acts."""
        self._settings = settings
        self._times = times
        self._paid_until: dict[str | bytes, float] = {}  # by address and by match; the last to pay comes last

    def __len__(self) -> int:
        """The number of addresses and matches about which anything is kept."""
        return len(self._paid_until)

    async def wait(self, network: str, mid: bytes | None, now: float) -> None:
        """Wait until an address, and a table in its match, may have another one after what was taken just now.

        Each costs a stretch of time; whoever is more than `ACTS_S` seconds ahead waits. So an address waits no longer
        with many connections than one connection would alone.
        """
        paid_until, wait_s = self._paid_until, 0.0
        limits = self._settings.now.limits
        # An address has the same, however many of the connections that it may have are open.
        of_address = limits.acts_per_s * limits.connections_per_address
        for subject, per_s in ((network, of_address), (mid, limits.table_acts_per_s)):
            if subject is not None:
                before = paid_until.pop(subject, now)
                until = paid_until[subject] = (before if before > now else now) + 1 / (self._times * per_s)
                if until - now - ACTS_S > wait_s:
                    wait_s = until - now - ACTS_S
        too_many = len(paid_until) - MAX_SUBJECTS
        for oldest in list(islice(paid_until, 2)):  # those who owe nothing go as fast as they come
            if paid_until[oldest] <= now or too_many > 0:
                del paid_until[oldest]
        # Behind the act, which is taken and answered: no player is kept from moving (limits.md, "Rates").
        if wait_s > 0:
            await trio.sleep(wait_s)


class Pace:
    """What every address was given lately that costs the server much: pages of the store or the lobby, acts, steps with a pack.

    Nobody is refused.

    Attributes:
        acts: what is decided, released and signed of a match.
        steps: what seats do with the pack of a hand in mode blind, until it is open; the protocol asks for it, not they.
    """

    def __init__(self, settings: CurrentValue[Settings]) -> None:
        self.acts, self.steps = Budget(settings), Budget(settings, times=STEPS)
        self._settings = settings
        self._pages = Meter[str]()

    async def wait_page(self, network: str) -> None:
        """Wait until an address may have one more page."""
        # A page costs the server a hundred times what asking for it costs. An address has the same, however many
        # of the connections that it may have are open.
        connections = self._settings.now.limits.connections_per_address
        rate, now = (_MINUTE_S * connections, BURST * connections), trio.current_time()
        # Asked again after each wait: another connection of the network may have had the page meanwhile.
        while wait_ms := self._pages.pay(network, rate, now):
            await trio.sleep(wait_ms / 1000)
            now = trio.current_time()

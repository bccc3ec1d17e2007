"""Players of a cluster, who come back to whichever node has their table now: they follow where they are sent, and else try all.

They hold the nodes together to what survivors hold one server to. A node may stand still with its connections open, so a
player who hears nothing for some seconds comes again.
"""

import random
from collections.abc import Callable
from typing import Final

import psycopg
import trio
from chaos.parties import Game, Party, Tally
from chaos.servers import HOST
from chaos.stored import ViolationError
from chaos.surviving import LOSSES, Found, Survivor
from server.rawclient import GoneError, Map, RawClient

AGAIN_S: Final = (0.2, 0.7)  # before the next node is tried
CONNECT_S: Final = 2.0
_AT_ONCE: Final = 4  # who read the database, so that their connections are few
_FAREWELLS: Final = (
    "moved",
    "internal",
    "shutting_down",
    "timeout",
)  # the last, of who waits for others to come
_ELSEWHERE: Final = ("no_such_table", "shutting_down", "internal")


class Company(Party):
    """A party at a table of a cluster.

    Attributes:
        ports: where the nodes listen.
        home: the place in these of the node that had the table last.
        pace_s: how long each takes for a decision, about.
        patience_s: how long each waits for a word.
    """

    def __init__(
        self,
        ports: tuple[int, ...],
        url: str,
        tally: Tally,
        *,
        goal: int,
        home: int,
        pace_s: float,
        patience_s: float,
        reading: trio.CapacityLimiter,
    ) -> None:
        super().__init__(None, url, tally, goal=goal)
        self.ports = ports
        self.home = home
        self.pace_s = pace_s
        self.patience_s = patience_s
        self.reading = reading

    def hasten(self) -> None:
        """Begin no further match, and end this one soon."""
        super().hasten()
        self.pace_s = 0.0


def few_readers() -> trio.CapacityLimiter:
    """Return what keeps those few who read the database at once."""
    return trio.CapacityLimiter(_AT_ONCE)


class Wanderer(Survivor):
    """A survivor who finds the table wherever it is."""

    losses = (*LOSSES, trio.TooSlowError)

    def __init__(self, party: Company, game: Game, seat: int, *, seed: int) -> None:
        super().__init__(None, party, game, seat, seed=seed)
        self._steps = random.Random(f"steps {seed}")
        self._tried = 0
        self._at = party.home

    async def live(self) -> None:
        """Come, and play to the end, on as many connections as it takes."""
        self.client = await self._reach()
        await super().live()

    async def _reach(self) -> RawClient:
        """Connect where the table was last, then to the other nodes in turn."""
        party = self.party
        while True:
            if self._tried:
                await trio.sleep(self._steps.uniform(*AGAIN_S))
            self._at = (party.home + self._tried) % len(party.ports)
            self._tried += 1
            try:
                with trio.fail_after(CONNECT_S):
                    stream = await trio.open_tcp_stream(HOST, party.ports[self._at])
            except (OSError, trio.TooSlowError):
                continue
            return RawClient(stream, patience_s=party.patience_s)

    async def _enter(self) -> Map:
        try:
            return await super()._enter()
        except ViolationError:
            if self.client.log[-1].get("retryable"):
                raise GoneError(f"{self.name} was not let in") from None
            raise

    async def ask(self, message: Map) -> Map:
        """Send a request and return its reply, unless the table is not here; again while it is between two nodes."""
        reply = await super().ask(message)
        while reply.get("code") == "rate_limited":
            self.party.tally.count(between=1)
            await trio.sleep(reply["retry_after_ms"] / 1000)
            reply = await super().ask(message)
        if reply.get("code") in _ELSEWHERE:
            self.party.tally.count(elsewhere=1)
            raise GoneError(f"{self.name} is at the wrong node")
        if reply["t"] == "ok" and "table" in (message | reply):
            self.party.home, self._tried = self._at, 0
        return reply

    async def choose(self, message: Map) -> None:
        """Choose after some thought."""
        if message["must"] and self.party.pace_s:
            await trio.sleep(self.party.pace_s * self._steps.uniform(0.5, 1.5))
        await super().choose(message)

    def note(self, message: Map) -> None:
        """Go where a node sends its players, or away from one that ends."""
        if message["t"] == "bye" and message["code"] in _FAREWELLS:
            self._follow(message)
            raise GoneError(f"bye: {message}")
        super().note(message)

    def _follow(self, bye: Map) -> None:
        self.party.tally.count(**{f"bye_{bye['code']}": 1})
        if bye["code"] == "moved":
            self.party.home = self.party.ports.index(int(bye["to"].rpartition(":")[2]))
            self._tried = 0

    def _refused(self, sent: Map, error: Map) -> None:
        if error["code"] in _ELSEWHERE:
            raise GoneError(f"{self.name} is refused: {error}")
        if error["code"] == "no_such_match":
            return  # sent again, and its match has given its place to the next one
        super()._refused(sent, error)

    async def _read(self, stored: Callable[..., Found], what: bytes | str) -> Found:
        """Return what is stored, as soon as the database answers."""
        while True:
            try:
                return await trio.to_thread.run_sync(
                    stored, self.party.data, what, limiter=self.party.reading
                )
            except psycopg.OperationalError:
                await trio.sleep(AGAIN_S[0])

    async def _finish(self) -> None:
        await super()._finish()
        self.client.log.clear()
        self.client.received.clear()

"""Kill the server under load, again and again, and hold it to every word: nothing acknowledged is lost.

Tables of players who audit all they see play match after match, and come back by themselves; a share of them shuffle and
seal their packs themselves. The server is killed at random instants: while it serves, before it listens, while it stops;
now and then it is frozen for a while first. Matches are paused now and then, and some players go
away for others to step in. What is checked stands in surviving.py.
"""

import signal
import statistics
import sys
from collections.abc import Sequence
from enum import Enum
from itertools import count
from pathlib import Path
from typing import Final, NamedTuple

import trio
from chaos.dealing import Dealer
from chaos.parties import Game, Parties, Party
from chaos.reporting import Outcome, carry_out, planned
from chaos.servers import QUICK, ServerProcess
from chaos.stepping_in import Leaver, Newcomer
from chaos.stored import ViolationError, unfinished
from chaos.surviving import Survivor, reach

from truc_protocol.records import BLIND

LEFT: Final = (
    ("gone", 1),
    ("gone_after", 2),
    ("decision_ms", 1_500),
    ("bank_ms", 0),
    ("release_ms", 1_500),
)
"""Options of a table where who goes away is soon gone."""
GAMES: Final = (
    Game("truc-french", 2),
    Game("truc-catalan", 4, guests=(2,)),
    Game("truc-french", 2, options=LEFT, is_left=True),
    Game("truco-argentino-flor", 2, options=(("target", 15),)),
    Game("truc-french", 2, guests=(0, 1)),
    Game("truc-catalan", 4, options=LEFT, is_left=True),
)
BLIND_GAMES: Final = (
    Game("truc-french", 2, deal=BLIND),
    Game("truc-catalan", 4, options=(("target", 6),), deal=BLIND),
    Game("truco-paulista", 2, options=(("target", 3),), deal=BLIND),
)
"""What is played at the tables whose host sees no card."""
SETTINGS: Final = {
    **QUICK,
    "TRUC_MATCH_DECISION_MS": "600000",
    "TRUC_MATCH_RELEASE_MS": "600000",
    "TRUC_MATCH_PAUSE_MS": "1000",
    "TRUC_MATCH_LINKS": "8",
    "TRUC_MATCH_REKEYS": "50",
}
"""Clocks that no outage can use up, pauses that end, and chains that end within a match."""
GRACE_S: Final = 180.0  # for the matches under way to end, once nobody kills any more
START_S: Final = 0.75  # in which a server is killed that starts
STOP_S: Final = 0.1  # in which one is killed that stops
MOMENT_S: Final = 0.03
FROZEN_S: Final = (0.05, 1.5)  # how long the server is frozen, far below any clock
LONG: Final = 0.1  # of the lives are so long that a seat is found to be gone, and taken over
LONG_S: Final = 3.5
KILL_S: Final = 20.0  # for one kill and what comes before it, on a busy machine


class When(Enum):
    """What the server does when it is killed."""

    SERVING = "killed_serving"
    STARTING = "killed_starting"
    STOPPING = "killed_stopping"


WEIGHTS: Final = {When.SERVING: 16, When.STARTING: 3, When.STOPPING: 1}


class Plan(NamedTuple):
    """How many kills, beside how many tables, of what seed.

    Attributes:
        acts: so many acts are acknowledged between two kills at most.
        life_s: how long is waited for them at most.
        matches: what a party plays before it leaves its table.
        blind: the share of the tables whose host sees no card.
        freezes: the share of the lives in which the server is frozen once.
    """

    count: int = 1000
    tables: int = 8
    seed: int = 1
    acts: int = 200
    life_s: float = 1.5
    matches: int = 3
    blind: float = 0.0
    freezes: float = 0.0

    def game(self, table: int) -> Game:
        """Return what is played at a table: the first ones are those whose host sees no card."""
        hidden = round(self.blind * self.tables)
        games, n = (BLIND_GAMES, table) if table < hidden else (GAMES, table - hidden)
        return games[n % len(games)]


class Kills(Parties):
    """One run: a server, the parties at its tables, and whoever kills it."""

    def __init__(self, plan: Plan, data: Path) -> None:
        super().__init__(plan.seed)
        self._plan = plan
        self._data = data
        self._server = ServerProcess(data, SETTINGS)
        self._newcomers = count(1_000_000_000)
        self._starts: list[float] = []

    async def run(self) -> Outcome:
        """Kill as often as planned, let every match end, and return what was counted.

        Raises:
            ViolationError: The server has broken its word.
        """
        try:
            await self._play_and_kill()
        except* trio.TooSlowError as errors:
            raise ViolationError(f"nothing goes on: {self._whereabouts()}") from errors
        finally:
            with trio.CancelScope(shield=True):
                await self._server.kill()
        if left := unfinished(self._data):
            raise ViolationError(f"{len(left)} matches have no end")
        if warnings := self._server.warnings():
            raise ViolationError(f"the server has logged {len(warnings)} lines, the first: {warnings[0]}")
        middle, longest = statistics.median(self._starts), max(self._starts)
        return Outcome(self._tally.figures, f", start median {middle:.2f} s, longest {longest:.2f} s")

    async def _play_and_kill(self) -> None:
        with trio.fail_after(self._plan.count * KILL_S) as patience:
            async with trio.open_nursery() as nursery:
                for n in range(self._plan.tables):
                    nursery.start_soon(self._keep_playing, n, self._plan.game(n), self._new_party)
                for _ in range(self._plan.count):
                    await self._kill_once()
                await self._start()
                patience.deadline = trio.current_time() + GRACE_S
                self._end()
            if found := await self._server.stop():
                raise ViolationError(found[0])

    def _new_party(self) -> Party:
        return Party(self._server, self._data, self._tally, goal=self._plan.matches)

    async def _play(self, party: Party, game: Game, seat: int, seed: int) -> None:
        kind: type[Survivor] = Leaver if game.is_left and seat == game.seats - 1 else Survivor
        if game.deal == BLIND:
            kind = Dealer
        await self._live_on(kind(await reach(self._server), party, game, seat, seed=seed))

    async def _step_in(self, game: Game, left: Leaver) -> None:
        await self._live_on(Newcomer(await reach(self._server), game, left, seed=next(self._newcomers)))

    async def _kill_once(self) -> None:
        """Start the server, and kill it at some instant of its life."""
        when = self._random.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        if when is When.STARTING:
            await self._server.spawn()
            with trio.move_on_after(self._random.uniform(0, START_S)):
                await self._server.wait_listening()
        else:
            await self._start()
            if self._plan.freezes and self._random.random() < self._plan.freezes:
                await self._live()
                await self._server.freeze(self._random.uniform(*FROZEN_S))
                self._tally.count(freezes=1)
            await self._live()
        if (status := self._server.status) is not None:
            raise ViolationError(
                f"the server has ended by itself, with status {status}; see {self._server.log}"
            )
        if when is When.STOPPING:
            self._server.signal(signal.SIGTERM)
            await trio.sleep(self._random.uniform(0, STOP_S))
        await self._server.kill()
        self._tally.count(**{when.value: 1})

    async def _live(self) -> None:
        """Let the server live until so many more acts are acknowledged, and a moment longer, now and then some seconds."""
        with trio.move_on_after(self._plan.life_s):
            await self._tally.wait_more("acts", self._random.randrange(self._plan.acts))
        is_long = self._random.random() < LONG
        await trio.sleep(LONG_S if is_long else MOMENT_S * self._random.random() ** 3)

    async def _start(self) -> None:
        began = trio.current_time()
        await self._server.start()
        self._starts.append(trio.current_time() - began)


async def run(plan: Plan, folder: Path) -> Outcome:
    """Run the kills of a plan on a data folder of its own."""
    return await Kills(plan, folder / "data").run()


FLAGS: Final = {
    "count": "how often the server is killed",
    "tables": "tables that are played at",
    "seed": "what instants and choices are drawn from",
    "acts": "most acts between two kills",
    "blind": "share of the tables whose host sees no card",
    "freezes": "share of the lives in which it is frozen",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; the status is 1 if the server has broken its word."""
    return carry_out(planned(Plan(), FLAGS, arguments, __doc__), run)


if __name__ == "__main__":
    sys.exit(main())

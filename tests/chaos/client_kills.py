"""Kill and freeze clients, again and again, while they play: no place is signed twice, and every match ends and verifies.

Pairs of `truc bot` processes play match after match at one server, whose host deals or sees no card. One of them, or both,
are killed at random instants and started again on the same home, or stopped and let go on. What they sign is read on its
way by relaying.py; what they keep is verified at the end. Invariant: the clocks are longer than anybody is away, so nobody
is ruled against; at the tables of `Plan.away`, whose clocks are shorter, it is only ever the first of a pair that is away.
"""

import random
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import trio
from chaos.kills import MOMENT_S, SETTINGS
from chaos.relaying import Relay
from chaos.reporting import Outcome, carry_out, planned
from chaos.servers import Program, ServerProcess, serving
from chaos.stored import ViolationError, stored_matches, unfinished

from truc_client.home.transcripts import path_of
from truc_client.verifying import examine_files
from truc_protocol.audit import Result, Verdict
from truc_protocol.records import BLIND, DEALT

VARIANTS: Final = {
    DEALT: ("truc-french", "truc-catalan", "truco-argentino-flor"),
    BLIND: ("truc-french", "truc-catalan", "truco-paulista"),
}
"""What the pairs play, by the mode of their tables."""
SHORT_MS: Final = 4_000
SHORT: Final = (("decision_ms", SHORT_MS), ("bank_ms", 0), ("release_ms", SHORT_MS))
"""Options of a table where who is frozen may be late."""
FROZEN_S: Final = (0.05, 1.5)  # how long somebody is frozen, far below any clock of a table but those
LONG_S: Final = (1.2 * SHORT_MS / 1_000, 2 * SHORT_MS / 1_000)  # how long who is late at a table of them
IN_TIME_S: Final = (0.05, SHORT_MS / 4_000)  # and who is back in time
SERVER_STOPS: Final = 0.25  # of the freezes there are of the server, whose clock stands still meanwhile
FOREVER: Final = "1000"  # matches, before a bot leaves by itself
END_S: Final = 240.0  # for a last match, on a busy machine


class Plan(NamedTuple):
    """How many kills, of how many pairs, of what seed.

    Attributes:
        places: so many places are signed for between two kills of a pair at most.
        life_s: how long is waited for them at most.
        deal: the mode of the tables: the server deals, or sees no card.
        freezes: so many of the kills are no kills: a client is stopped for a while, and goes on.
        away: at these tables clocks are short, and the first of the two is away for shorter and for longer than they are.
    """

    count: int = 200
    pairs: int = 3
    seed: int = 1
    places: int = 15
    life_s: float = 3.0
    deal: str = DEALT
    freezes: float = 0.0
    away: bool = False


class Bot(Program):
    """A bot on a home and a way to the server of its own.

    Attributes:
        late: how often it may have been away for longer than short clocks are.
    """

    def __init__(self, folder: Path, relay: Relay, *sits: str) -> None:
        self.relay = relay
        self.late = 0
        self._home = folder / "bots" / "bot"
        self._lives = 0
        command = [sys.executable, "-m", "truc_terminal", "bot", relay.url, *sits]
        super().__init__(command, folder.with_suffix(".errors"), {"TRUC_HOME": str(folder)})

    @property
    def transcripts(self) -> Path:
        """Where it keeps its transcripts."""
        return self._home / "transcripts"

    @property
    def evidence(self) -> Path:
        """Where it keeps what failed a check."""
        return self._home / "evidence"

    async def start(self, matches: str = FOREVER) -> None:
        """Start it; in each life it would choose otherwise than in the one before, but for what it has kept."""
        self._lives += 1
        await self.spawn("--matches", matches, "--seed", str(self._lives))

    async def table(self) -> str:
        """Return the code of the table that it says it sits at."""
        return (await self.first_line()).split("/")[-1].split("#")[0]

    async def finish(self) -> None:
        """Wait for its end."""
        with trio.fail_after(END_S):
            async for _ in self.process.stdout:
                pass
        if status := await self.wait():
            raise ViolationError(f"a bot has ended with status {status}: {self.log.read_text()}")

    def end(self) -> None:
        """End it, whatever it does."""
        if self.process is not None:
            self.process.kill()

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal, which it must be there to get."""
        if self.status is not None:
            raise ViolationError(f"a bot has ended by itself: {self.log.read_text()}")
        super().signal(number)


class Killing:
    """What is left to be killed, and when."""

    def __init__(self, plan: Plan, server: ServerProcess) -> None:
        self.plan = plan
        self._server = server
        self.left = plan.count
        self.figures: Counter[str] = Counter()
        self._random = random.Random(plan.seed)

    async def disturb(self, bots: Sequence[Bot]) -> None:
        """Kill or freeze one of a pair, now and then both, when it has signed something more, or after some time of its life."""
        relay = self._random.choice(bots).relay
        patience_s = self._random.uniform(0, self.plan.life_s)
        with trio.move_on_after(patience_s):
            await relay.wait_signed(relay.places + self._random.randint(1, self.plan.places))
        await trio.sleep(MOMENT_S * self._random.random() ** 3)
        is_freeze = bool(self.plan.freezes) and self._random.random() < self.plan.freezes
        victims = list(bots) if self._random.random() < 0.2 else [self._random.choice(bots)]
        if self.plan.away:
            victims = [bots[0]]
        if not is_freeze:
            await self._kill(victims)
        elif self.plan.away:
            await self._keep_away(bots[0])
        else:
            await self._freeze(victims)

    async def _kill(self, victims: Sequence[Bot]) -> None:
        for bot in victims:
            await bot.kill()
        for bot in victims:
            bot.late += 1
            self.figures["kills"] += 1
            self.left -= 1
            await bot.start()

    async def _freeze(self, victims: Sequence[Bot]) -> None:
        async with trio.open_nursery() as nursery:
            for bot in victims:
                self.figures["freezes"] += 1
                self.left -= 1
                nursery.start_soon(bot.freeze, self._random.uniform(*FROZEN_S))

    async def _keep_away(self, bot: Bot) -> None:
        """Freeze one beyond the clocks of its table, or not so long; or the server instead, for which nobody is late."""
        self.left -= 1
        if self._random.random() < SERVER_STOPS:
            self.figures["freezes of the server"] += 1
            await self._server.freeze(self._random.uniform(*LONG_S))
            return
        is_late = self._random.random() < 0.5
        self.figures["freezes beyond the clocks" if is_late else "freezes"] += 1
        bot.late += is_late
        await bot.freeze(self._random.uniform(*(LONG_S if is_late else IN_TIME_S)))


async def run(plan: Plan, folder: Path) -> Outcome:
    """Run the kills of a plan in a folder, and return what was counted.

    Raises:
        ViolationError: Something was signed twice, or a match did not end as proven.
    """
    async with serving(folder / "data", SETTINGS) as server, trio.open_nursery() as pairs:
        killing = Killing(plan, server)
        for n in range(plan.pairs):
            pairs.start_soon(_play, killing, server, folder, n)
    if warnings := server.warnings():
        raise ViolationError(f"the server has logged {len(warnings)} lines, the first: {warnings[0]}")
    if left := unfinished(folder / "data"):
        raise ViolationError(f"{len(left)} matches have no end")
    return Outcome(killing.figures)


async def _play(killing: Killing, server: ServerProcess, folder: Path, n: int) -> None:
    """Let two bots play until enough were killed, then to the end of their match."""
    async with trio.open_nursery() as relays:
        ways = [Relay(server), Relay(server)]
        for relay in ways:
            await relays.start(relay.run)
        first = Bot(folder / f"first-{n}", ways[0], *_new_table(killing.plan, n))
        await first.start()
        bots = [first]
        try:
            code = await first.table()
            bots.append(Bot(folder / f"second-{n}", ways[1], "--table", code))
            await bots[1].start()
            await _kill_and_end(killing, bots)
        finally:
            for bot in bots:
                bot.end()
        _check(killing, bots, stored_matches(folder / "data", code))
        relays.cancel_scope.cancel()


def _new_table(plan: Plan, n: int) -> list[str]:
    """Return what a bot is told that opens the table of a pair."""
    variants = VARIANTS[plan.deal]
    options = {"match": 1, "mode": plan.deal, **dict(SHORT if plan.away else ())}
    if plan.deal == DEALT:
        del options["mode"]
    told = [word for name, value in options.items() for word in ("--option", f"{name}={value}")]
    return ["--create", variants[n % len(variants)], "--private", *told]


async def _kill_and_end(killing: Killing, bots: Sequence[Bot]) -> None:
    while killing.left > 0:
        await killing.disturb(bots)
    for bot in bots:  # both, before one leaves: the other would wait for it
        await bot.kill()
    for bot in bots:
        await bot.start("1")
    async with trio.open_nursery() as nursery:
        for bot in bots:
            nursery.start_soon(bot.finish)


def _check(killing: Killing, bots: Sequence[Bot], matches: Sequence[bytes]) -> None:
    """Check what a pair has signed and kept."""
    for bot in bots:
        if bot.relay.twice:
            raise ViolationError(f"signed twice differently: {bot.relay.twice}")
        if kept := list(bot.evidence.iterdir()):
            raise ViolationError(f"a bot has kept evidence: {kept}, {bot.log.read_text()}")
        killing.figures["places signed"] += bot.relay.places
        killing.figures["steps of a deal sent"] += bot.relay.steps
    reasons: Counter[str | None] = Counter()
    for mid in matches:
        together = examine_files([path_of(bot.transcripts, mid) for bot in bots])
        if together.is_refuted or {file.result for file in together.files} != {Result.PROVEN}:
            raise ViolationError(f"match {mid.hex()} is not proven: {together}")
        for file in together.files:
            _check_verdict(file, killing.plan)
        reasons[together.files[0].reason] += 1
        killing.figures["matches proven"] += 1
    if reasons["forfeit"] > bots[0].late:
        raise ViolationError(f"{reasons['forfeit']} forfeits of who was late {bots[0].late} times")
    killing.figures["forfeits of who was late"] += reasons["forfeit"]


def _check_verdict(verdict: Verdict, plan: Plan) -> None:
    """Check that nobody is blamed who was there in time."""
    if verdict.mode != plan.deal or verdict.exposed is not None:
        raise ViolationError(f"expected a match of mode {plan.deal} without a cheat, got {verdict}")
    if not plan.away:
        if verdict.reason not in ("won", "resigned") or verdict.rulings or verdict.voids or verdict.unopened:
            raise ViolationError(f"a ruling against somebody who came back in time: {verdict}")
        return
    # an abandoned match blames nobody: so it ends where the draw was void too often (specification, "Voids")
    blamed = [
        rule
        for _, rule in verdict.rulings
        if rule.ruling not in ("pause", "resume") and rule.seat != 0 and rule.kind != "voids"
    ]
    lost = verdict.reason not in ("won", "resigned", "abandoned") and verdict.winner != 1
    # nobody need open a hand that a ruling has ended: `unopened` blames nobody here
    if blamed or lost or any(seats != (0,) for _, seats in verdict.silent):
        raise ViolationError(f"who was there is blamed: {verdict}")


FLAGS: Final = {
    "count": "how often a client is killed",
    "pairs": "pairs that play",
    "seed": "what instants are drawn from",
    "life_s": "longest life of a client, in seconds",
    "deal": "who deals: the server, or the seats",
    "freezes": "share of the kills that are freezes",
    "away": "freeze and kill one of each pair beyond short clocks",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; the status is 1 if a promise was broken."""
    return carry_out(planned(Plan(), FLAGS, arguments, __doc__, deal=(DEALT, BLIND)), run)


if __name__ == "__main__":
    sys.exit(main())

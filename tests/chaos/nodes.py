"""Nodes on a real PostgreSQL, with everything done to them that happens to machines, and the cluster held to every word.

Tables of players who audit all they see, and who find their table again by themselves, play match after match on three nodes. A
seed draws what happens to a node, or to two at once: it is killed; it stands still for longer than its lease, and goes on; its
line to the database is cut, either way or both, or slow; PostgreSQL is restarted, or stands still; all nodes are gone for longer
than anybody has for a decision. What was acknowledged or shown must be stored byte for byte; no position be written twice; each
epoch be one node's, and rise along each match; every match end proven, and nobody be ruled for the time that a node was gone.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from enum import Enum
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path
from typing import Final, NamedTuple

import trio
from chaos.cutting import WHOLE, Lines, State, lines
from chaos.members import Member, make_keys
from chaos.parties import Game, Parties
from chaos.postgres import Cluster, cluster
from chaos.reporting import Outcome, carry_out, planned
from chaos.servers import HOST, QUICK, free_port
from chaos.stored import ViolationError, Written, every_match, stored_records, unfinished, unowned, written
from chaos.surviving import check_verdict
from chaos.wandering import Company, Wanderer, few_readers

from truc_protocol.audit import Auditor

NODES: Final = ("one", "two", "three")
GAMES: Final = (
    Game("truc-french", 2),
    Game("truc-french", 2, guests=(0, 1)),
    Game("truco-argentino-flor", 2, options=(("target", 15),), guests=(1,)),
    Game("truc-catalan", 4, guests=(1, 2)),
    Game("put", 2, guests=(0, 1), options=(("match", 1),)),
)
RECOVERY_S: Final = 120.0  # for the nodes to be there again and play to go on, on a busy machine
GRACE_S: Final = 600.0  # for the matches under way to end, once nothing happens any more
END_S: Final = 60.0  # for a node to end that has lost its lease
DATABASE: Final = "truc"


class Fault(Enum):
    """What happens to a node, or to all."""

    KILL = "killed"
    FREEZE = "frozen"
    PAUSE = "frozen within the lease"
    CUT = "cut from the database"
    CUT_TO = "cut on the way there"
    CUT_BACK = "cut on the way back"
    SLOW = "slow to the database"
    RESTART = "PostgreSQL restarted"
    STILL = "PostgreSQL frozen"
    ALL = "all gone for longer than a decision"


WEIGHTS: Final = {
    Fault.KILL: 10,
    Fault.FREEZE: 8,
    Fault.PAUSE: 2,
    Fault.CUT: 5,
    Fault.CUT_TO: 3,
    Fault.CUT_BACK: 4,
    Fault.SLOW: 3,
    Fault.RESTART: 4,
    Fault.STILL: 2,
    Fault.ALL: 1,
}
ONE_NODE: Final = (Fault.KILL, Fault.FREEZE, Fault.CUT, Fault.CUT_TO, Fault.CUT_BACK)
"""What may happen to two nodes at once."""
CUTS: Final = {
    Fault.CUT: State(to=False, back=False),
    Fault.CUT_TO: State(to=False),
    Fault.CUT_BACK: State(back=False),
}


class Plan(NamedTuple):
    """How many faults, beside how many tables, of what seed.

    Attributes:
        lease_s: of each node.
        pace_s: how long a player takes for a decision, about.
        decision_s: how long a player has for one.
        acts: so many acts are acknowledged between two faults at most.
        matches: what a party plays before it leaves its table.
        twice: the share of the faults that befall two nodes at once.
        outages: whether all nodes may be gone at once, for longer than a decision may take.
        route: whether players are sent to the node of their table ("moved"), or brought there ("proxy").
    """

    faults: int = 200
    tables: int = 300
    seed: int = 1
    lease_s: int = 5
    pace_s: float = 1.0
    decision_s: int = 60
    acts: int = 200
    matches: int = 2
    twice: float = 0.2
    outages: bool = True
    route: str = "moved"


class Nodes(Parties):
    """One run: the database, the nodes, the parties at their tables, and whatever befalls them."""

    def __init__(self, plan: Plan, folder: Path, database: Cluster, line: Lines) -> None:
        super().__init__(plan.seed)
        self._plan = plan
        self._database = database
        self._line = line
        self._url = database.url(DATABASE, database.port)
        self._members = [Member(name, folder, self._settings(name)) for name in NODES]
        self._reading = few_readers()

    def _settings(self, name: str) -> dict[str, str]:
        decision_ms = str(self._plan.decision_s * 1_000)
        return {
            **QUICK,
            "TRUC_STORE_URL": self._database.url(DATABASE, self._line.ports[name]),
            "TRUC_CLUSTER_LEASE_S": str(self._plan.lease_s),
            "TRUC_CLUSTER_ROUTE": self._plan.route,
            "TRUC_CLUSTER_INNER": f"{HOST}:{free_port()}",
            "TRUC_LIMITS_TABLES": "20000",
            "TRUC_MATCH_DECISION_MS": decision_ms,
            "TRUC_MATCH_RELEASE_MS": decision_ms,
            "TRUC_MATCH_PAUSE_MS": "1000",
            "TRUC_MATCH_LINKS": "8",
            "TRUC_MATCH_REKEYS": "50",
        }

    async def run(self) -> Outcome:
        """Let as much happen as planned, let every match end, and return what was counted.

        Raises:
            ViolationError: The cluster has broken its word.
        """
        async with trio.open_nursery() as nursery:
            for member in self._members:
                nursery.start_soon(member.keep)
            try:
                await self._play_among_faults()
            except* trio.TooSlowError as errors:
                raise ViolationError(f"nothing goes on: {self._whereabouts()}") from errors
            nursery.cancel_scope.cancel()
        await trio.to_thread.run_sync(self._check_store)
        self._check_logs()
        for status, ends in sum((member.ends for member in self._members), Counter[int]()).items():
            self._tally.count(**{f"ends with status {status}": ends})
        return Outcome(self._tally.figures)

    async def _play_among_faults(self) -> None:
        async with trio.open_nursery() as nursery:
            for n in range(self._plan.tables):
                game = GAMES[n % len(GAMES)]
                nursery.start_soon(self._keep_playing, n, game, partial(self._new_party, n))
            done = 0
            while done < self._plan.faults:
                with trio.fail_after(RECOVERY_S + self._plan.decision_s):
                    await self._settle()
                done += await self._suffer(self._plan.faults - done)
            with trio.fail_after(RECOVERY_S):
                await self._settle()
            self._end()
            nursery.cancel_scope.deadline = trio.current_time() + GRACE_S
        if nursery.cancel_scope.cancelled_caught:
            raise trio.TooSlowError

    async def _settle(self) -> None:
        """Wait until every node is there, each table has one, and play goes on."""
        for member in self._members:
            await member.wait_up()
        while True:
            if not await trio.to_thread.run_sync(unowned, self._url):
                break
            await trio.sleep(0.1)
        await self._tally.wait_more("acts", 1 + self._random.randrange(self._plan.acts))

    async def _suffer(self, most: int) -> int:
        """Let something happen, to two nodes at once now and then; return how much that was."""
        dice, (one, two, _) = self._random, self._random.sample(self._members, 3)
        if most > 1 and dice.random() < self._plan.twice:
            both = [(fault, dice.random()) for fault in dice.choices(ONE_NODE, k=2)]
            self._tally.count(**{"two at once": 1})
            async with trio.open_nursery() as nursery:
                for (fault, size), member in zip(both, (one, two), strict=True):
                    nursery.start_soon(self._befall, fault, member, size)
            return 2
        weights = {
            fault: weight for fault, weight in WEIGHTS.items() if self._plan.outages or fault is not Fault.ALL
        }
        fault = dice.choices(list(weights), list(weights.values()))[0]
        await self._befall(fault, one, dice.random())
        return 1

    async def _befall(self, fault: Fault, member: Member, size: float) -> None:
        """Let a fault befall a node; 0 <= `size` < 1 says how badly, of what there is."""
        lease_s = self._plan.lease_s
        self._tally.count(**{fault.value: 1})
        match fault:
            case Fault.KILL:
                member.kill(away_s=2 * size * lease_s)
            case Fault.FREEZE:
                await self._freeze(member, (1.2 + 1.3 * size) * lease_s)
            case Fault.PAUSE:
                await member.server.freeze((0.1 + 0.4 * size) * lease_s)
            case Fault.SLOW:
                late = State(late_ms=round((10 + 190 * size) * lease_s))
                await self._turn(member, late, 2 * lease_s)
            case Fault.CUT | Fault.CUT_TO | Fault.CUT_BACK:
                await self._cut(member, CUTS[fault], (0.5 + 2.5 * size) * lease_s)
            case _:
                await self._befall_all(fault, size)

    async def _befall_all(self, fault: Fault, size: float) -> None:
        """Let a fault befall the database, or every node."""
        match fault:
            case Fault.RESTART:
                await trio.to_thread.run_sync(self._database.restart)
            case Fault.STILL:
                with self._database.frozen():
                    await trio.sleep((0.5 + 2 * size) * self._plan.lease_s)
            case _:
                for each in self._members:
                    each.kill(away_s=self._plan.decision_s + 1)
                await trio.sleep(self._plan.decision_s + 1)

    async def _freeze(self, member: Member, seconds: float) -> None:
        """Let a node stand still beyond its lease; it must end when it goes on."""
        was_up, deaths = member.is_up, member.deaths
        await member.server.freeze(seconds)
        if was_up:
            await self._wait_end(member, deaths, "it stood still for longer than its lease")

    async def _cut(self, member: Member, state: State, seconds: float) -> None:
        """Cut a node's line; if that lasts for longer than the lease, it must end."""
        was_up, deaths = member.is_up, member.deaths
        await self._turn(member, state, seconds)
        if was_up and seconds > 1.2 * self._plan.lease_s:
            await self._wait_end(member, deaths, "it could not reach the database for longer than its lease")

    async def _turn(self, member: Member, state: State, seconds: float) -> None:
        await self._line.turn(member.name, state)
        await trio.sleep(seconds)
        await self._line.turn(member.name, WHOLE)

    async def _wait_end(self, member: Member, deaths: int, why: str) -> None:
        with trio.move_on_after(END_S) as waiting:
            await member.wait_end(deaths)
        if waiting.cancelled_caught:
            raise ViolationError(f"node {member.name} did not end although {why}; see {member.server.log}")

    def _new_party(self, table: int) -> Company:
        plan = self._plan
        return Company(
            tuple(member.server.port for member in self._members),
            self._url,
            self._tally,
            goal=plan.matches,
            home=table % len(NODES),
            pace_s=plan.pace_s,
            patience_s=max(5.0, 3.0 * plan.lease_s),
            reading=self._reading,
        )

    async def _play(self, party: Company, game: Game, seat: int, seed: int) -> None:
        await self._live_on(Wanderer(party, game, seat, seed=seed))

    def _check_store(self) -> None:
        """Hold the database to what every match must be, whoever played it."""
        if left := unfinished(self._url):
            raise ViolationError(f"{len(left)} matches have no end, the first: {left[0].hex()}")
        log = written(self._url)
        check_epochs(log)
        takeovers = sum(a.mid == b.mid and a.node != b.node for a, b in pairwise(log))
        self._tally.count(stored=len(log), takeovers=takeovers)
        for mid, document, setup in every_match(self._url):
            auditor = Auditor(document)
            for record in (*setup, *stored_records(self._url, mid)):
                auditor.feed(record)
            check_verdict(auditor.verdict())
            self._tally.count(proven=1)

    def _check_logs(self) -> None:
        for member in self._members:
            lines = member.server.warnings()
            for number, line in enumerate(lines):
                if "Traceback" in line or '"exception"' in line:
                    # a traceback is told by its last lines
                    told = "\n".join(lines[number : number + 80])[-3000:]
                    raise ViolationError(f"node {member.name} has logged: {told}")


def check_epochs(log: Sequence[Written]) -> None:
    """Check by who wrote the records, in order, that no two wrote in one epoch, and that each match went on in later ones.

    Raises:
        ViolationError: It was not so.
    """
    for mid, records in groupby(log, lambda record: record.mid):
        epoch = 0
        for k, record in enumerate(records):
            if record.k != k:
                raise ViolationError(f"match {mid.hex()}: expected position {k}, found {record.k}")
            if record.node is None:
                raise ViolationError(f"match {mid.hex()}, position {k}: nobody drew epoch {record.epoch}")
            if record.epoch < epoch:
                raise ViolationError(f"match {mid.hex()}, position {k}: epoch {record.epoch} after {epoch}")
            epoch = record.epoch


async def run(plan: Plan, folder: Path) -> Outcome:
    """Carry a plan out, in a folder of its own."""
    make_keys(folder)
    async with AsyncExitStack() as stack:
        database = stack.enter_context(cluster())
        await trio.to_thread.run_sync(database.create, DATABASE)
        line = await stack.enter_async_context(lines(NODES, database.port))
        return await Nodes(plan, folder, database, line).run()


FLAGS: Final = {
    "faults": "how much happens",
    "tables": "tables that are played at",
    "seed": "what happens, and what is chosen",
    "lease_s": "seconds of each node's lease",
    "pace_s": "seconds for a decision, about",
    "route": "whether players are sent to their table's node, or brought there",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; the status is 1 if the cluster has broken its word."""
    return carry_out(planned(Plan(), FLAGS, arguments, __doc__, route=("moved", "proxy")), run)


if __name__ == "__main__":
    sys.exit(main())

"""What nodes on one database cost: an act on one, two and three of them, a table that is played from two, the lobby of both, and how
long one is missed.

All nodes are on this machine, on the core of what is measured where processor time counts, and each has a load generator of its
own, all of which share the other core. With a pace every node has as much to do whether there are others or not, so that what it
takes more for an act is the price of the others. Acts a second are those of nodes and generators that share all cores.
"""

import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final, NamedTuple

import trio
from benchmarks import running
from benchmarks.generator import Plan, spread
from benchmarks.proc import usage
from chaos.members import give_keys, make_keys
from chaos.postgres import Cluster, cluster, programs
from chaos.servers import ServerProcess
from chaos.thin import Address, Game, Guest, Tally, connect

from truc_conform.raw_client import RawClient

Figures = dict[str, Any]

NAMES: Final = ("one", "two", "three")
LEASE_S: Final = 20  # so that nobody loses it on a busy machine
APART: Final = 100_000  # between the numbers of the first tables of two generators
MAKERS: Final = 8
AT_ONCE: Final = 16  # links are opened by fewer than a node lets knock at once
PATIENCE_S: Final = 60.0
_DATABASE: Final = "truc"
_LOOK_S: Final = 0.005
_OWNER: Final = "SELECT owner FROM tables WHERE code = %s"


class Reach(NamedTuple):
    """How much is measured.

    Attributes:
        seconds, warm_s: how long each load is measured, and runs before.
        tables: of each node at a `pace`, ascending.
        rush: of each node as fast as it goes.
        leases_s: of nodes that are missed, each so many `times`.
    """

    seconds: float = 10.0
    warm_s: float = 3.0
    tables: tuple[int, ...] = (25, 100, 400)
    pace: float = 1.0
    rush: int = 100
    leases_s: tuple[int, ...] = (1, 2, 5)
    times: int = 5


FULL: Final = Reach()
SHORT: Final = Reach(seconds=2.0, warm_s=0.5, tables=(25, 100), rush=50, times=1)
LEAST: Final = Reach(seconds=0.3, warm_s=0.0, tables=(2,), pace=20.0, rush=2, leases_s=(2,), times=1)


class Lab:
    """A database, and whatever runs on it."""

    def __init__(self, folder: Path, database: Cluster, reach: Reach) -> None:
        make_keys(folder)
        self._folder = folder
        self._database = database
        self._reach = reach
        self._numbers = count()

    async def loads(self, names: Sequence[str], *, is_pinned: bool, **wanted: Any) -> Figures:
        """Let as much be played at each of so many nodes, at once; return each node's load."""
        found: Figures = {}
        async with self._nodes(names, is_pinned=is_pinned) as nodes:

            async def play(i: int, name: str) -> None:
                found[name] = await self._played(nodes[i], first=i * APART, **wanted)

            async with trio.open_nursery() as nursery:
                for i, name in enumerate(names):
                    nursery.start_soon(play, i, name)
        return found

    async def alone(self, **wanted: Any) -> Figures:
        """Let the same be played at a server that has a database alone."""
        settings = {**running.SETTINGS, "TRUC_STORE_URL": self._fresh()}
        async with running.server(self._folder, settings=settings) as server:
            return await self._played(server, **wanted)

    async def brought(self, *, is_far: bool, **wanted: Any) -> Figures:
        """Let tables be played at one of two nodes, whose second seats are brought from the other if they are far."""
        async with self._nodes(NAMES[:2], TRUC_CLUSTER_ROUTE="proxy") as (near, far):
            further = {"far_port": far.port} if is_far else {}
            return await self._played(near, far_pid=far.pid, at_once=AT_ONCE, **further, **wanted)

    async def missed_s(self, lease_s: int, dice: random.Random) -> float:
        """Kill a node; return how many seconds later its table is joined at the other."""
        async with self._nodes(
            NAMES[:2], TRUC_CLUSTER_ROUTE="proxy", TRUC_CLUSTER_LEASE_S=str(lease_s)
        ) as nodes:
            guests = [Guest(await connect(Address(node.port)), Tally(), dice) for node in nodes]
            for i, guest in enumerate(guests):
                await guest.enter(f"guest {i}")
            code = await guests[0].create(Game())
            await trio.sleep(dice.uniform(0, lease_s))
            begun = time.perf_counter()
            await nodes[0].kill()
            await trio.to_thread.run_sync(self._wait_owned, code, NAMES[1])
            while True:
                if (await guests[1].ask("join", table=code))["t"] == "ok":
                    break
                await trio.sleep(_LOOK_S)
            took = time.perf_counter() - begun
            for guest in guests:
                await trio.aclose_forcefully(guest.stream)
            return took

    async def lobby(self) -> Figures:
        """Let public tables come and go at one node as fast as they do, before somebody who follows the lobby at another."""
        async with self._nodes(NAMES[:2]) as nodes:
            lobby = Lobby(*[await _guest(nodes[0], f"maker {i}") for i in range(MAKERS)])
            follower = await _guest(nodes[1], "follower")
            await follower.ask({"t": "lobby"})
            before, begun = [usage(node.pid) for node in nodes], time.perf_counter()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(lobby.follow, follower)
                await lobby.make(self._reach.seconds)
                seconds = time.perf_counter() - begun
                await lobby.wait_seen(await lobby.make_last())
                nursery.cancel_scope.cancel()
            spent = [usage(node.pid) - earlier for node, earlier in zip(nodes, before, strict=True)]
            for client in (*lobby.makers, follower):
                await trio.aclose_forcefully(client.stream)
        main_s = sum(each.main_s for each in spent)
        return {
            "seconds": seconds,
            "changes": lobby.changes,
            "main_s": main_s,
            "late_ms": spread(lobby.late_ms),
        }

    def _wait_owned(self, code: str, name: str) -> None:
        """Wait until a node owns a table; blocks."""
        with self._database.connect(self._newest, autocommit=True) as looking:
            while looking.execute(_OWNER, [code]).fetchone() != (name,):
                time.sleep(_LOOK_S)  # the database tells nobody that a table is taken; asking is cheap

    def _fresh(self) -> str:
        self._newest = f"{_DATABASE}{next(self._numbers)}"
        return self._database.create(self._newest)

    @asynccontextmanager
    async def _nodes(
        self, names: Sequence[str], *, is_pinned: bool = True, **settings: str
    ) -> AsyncIterator[list[ServerProcess]]:
        """Run nodes on a fresh database."""
        url, number = self._fresh(), next(self._numbers)
        (root := self._folder / f"nodes-{number}").mkdir()
        (root / "keys").symlink_to(self._folder / "keys")
        async with AsyncExitStack() as stack:
            nodes = []
            for name in names:
                whole = {
                    **running.SETTINGS,
                    "TRUC_STORE_URL": url,
                    "TRUC_CLUSTER_NODE": name,
                    "TRUC_CLUSTER_INNER": str(root / f"{name}.inner"),
                    "TRUC_CLUSTER_LEASE_S": str(LEASE_S),
                    **settings,
                }
                data = give_keys(root, name)
                served = running.server(root, settings=whole, data=data, is_pinned=is_pinned)
                nodes.append(await stack.enter_async_context(served))
            yield nodes

    async def _played(self, server: ServerProcess, **wanted: Any) -> Figures:
        windows = {"seconds": self._reach.seconds, "warm_s": self._reach.warm_s}
        return await running.load(Plan("play", server.port, server.pid, **windows, **wanted))


class Lobby:
    """Tables that come and go, and when each was first heard of elsewhere.

    Attributes:
        changes: how many tables have come or gone.
        late_ms: after how long each was heard of that was, of those that are made with others.
    """

    def __init__(self, *makers: RawClient) -> None:
        self.makers = makers
        self.changes = 0
        self.late_ms: list[float] = []
        self._made: dict[str, float] = {}
        self._seen: set[str] = set()
        self._more = trio.lowlevel.ParkingLot()

    async def make(self, seconds: float) -> None:
        """Let everybody make tables, and leave them, for so long."""
        async with trio.open_nursery() as nursery:
            for maker in self.makers:
                nursery.start_soon(self._make, maker, trio.current_time() + seconds)

    async def _make(self, maker: RawClient, end: float) -> None:
        while trio.current_time() < end:
            code = await self._create(maker)
            await maker.ask({"t": "leave", "table": code})
            self.changes += 2

    async def make_last(self) -> set[str]:
        """Let everybody make one more table, which stays; return their codes."""
        return {await self._create(maker) for maker in self.makers}

    async def _create(self, maker: RawClient) -> str:
        begun = time.perf_counter()
        made = await maker.ask({"t": "create", "variant": "put", "seats": 2, "options": {"guests": 2}})
        code: str = made["table"]
        self._made[code] = begun
        return code

    async def follow(self, follower: RawClient) -> None:
        """Hear what becomes of the tables."""
        while True:
            message = await follower.receive()
            code = message.get("table")
            if code in self._made and code not in self._seen:
                self._seen.add(code)
                self.late_ms.append(1000 * (time.perf_counter() - self._made[code]))
                self._more.unpark_all()

    async def wait_seen(self, codes: set[str]) -> None:
        """Wait until tables were heard of."""
        with trio.fail_after(PATIENCE_S):
            while not codes <= self._seen:
                await self._more.park()


async def _guest(node: ServerProcess, name: str) -> RawClient:
    client = RawClient(await node.connect(), patience_s=PATIENCE_S)
    await client.login_guest(name)
    return client


async def nodes(folder: Path, reach: Reach) -> Figures:
    """Measure what nodes cost, one after the other."""
    if programs() is None:
        raise running.MissingError("needs PostgreSQL (Debian's package postgresql)")
    dice, most = random.Random(1), reach.tables[-1]
    with cluster() as database:
        lab = Lab(folder, database, reach)
        paced = partial(lab.loads, is_pinned=True, pace=reach.pace)
        return {
            "alone": await lab.alone(tables=most, pace=reach.pace),
            "paced": {
                str(n): {str(tables): await paced(NAMES[:n], tables=tables) for tables in reach.tables}
                for n in (1, 2, 3)
            },
            "rush": {
                str(n): await lab.loads(NAMES[:n], is_pinned=False, tables=reach.rush) for n in (1, 2, 3)
            },
            "near": await lab.brought(is_far=False, tables=most, pace=reach.pace),
            "far": await lab.brought(is_far=True, tables=most, pace=reach.pace),
            "lobby": await lab.lobby(),
            "missed_s": {
                str(lease_s): {str(i): await lab.missed_s(lease_s, dice) for i in range(reach.times)}
                for lease_s in reach.leases_s
            },
        }

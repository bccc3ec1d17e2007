"""One run: from a seed to what became of it."""

import gc
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal, NamedTuple
from unittest.mock import patch

import msgspec
import structlog
from chaos.members import give_keys, make_keys
from server.stored import new_database
from simulation.database import Database
from simulation.faults import Faults
from simulation.machine import Machine
from simulation.network import Network, Socket
from simulation.nodes import Node
from simulation.observer import Observer
from simulation.players import Dialing, Game, Participant, Party
from simulation.standins import simulated
from simulation.world import World

from truc_protocol import dealing
from truc_protocol.audit import Result, verify
from truc_protocol.transcript import write_transcript
from truc_server.settings.settings import (
    ClusterSettings,
    LimitSettings,
    ListenSettings,
    MatchDefaults,
    Settings,
    TableSettings,
)
from truc_server.storage import engine
from truc_server.storage.archive import open_archive

PORT: Final = 4700
INNER_PORT: Final = 4701
HOST: Final = "truc.example"
LONGEST_S: Final = 7_200.0
GAMES: Final = (
    ("truc-french", 2),
    ("truc-catalan", 2),
    ("truco-argentino", 2),
    ("put", 2),
    ("truc-valencia", 4),
)
BLIND_GAMES: Final = (("truc-french", 2), ("truc-catalan", 2), ("put", 2))
BLIND_SHARE: Final = 0.15
"""Of the tables, at which the seats deal among themselves; they are slow."""
IDLE_S: Final = 8
"""Short, so that players whose node stands still notice it long before their time at the node that took over ends."""
SETTINGS: Final = Settings(
    listen=ListenSettings(hosts=("127.0.0.1",), port=PORT, tls=False),
    tables=TableSettings(between_hands_ms=200, window_ms=200),
    limits=LimitSettings(failed_logins_per_min=1_000, idle_s=IDLE_S),
    match=MatchDefaults(guests=4, decision_ms=20_000, bank_ms=20_000, release_ms=40_000),
)
_FORESEEN: Final = ("store_not_read",)
"""Errors that a server logs when its store fails."""


class Outcome(NamedTuple):
    """What became of a run: the digest of all its bytes, how long it took in simulated seconds, and figures."""

    seed: int
    digest: str
    seconds: float
    figures: dict[str, int]


class Plan(NamedTuple):
    """What a run is made of: `nodes` is 0 for one server alone; at most so many `faults`."""

    nodes: int
    parties: int
    faults: int
    lease_s: int
    route: Literal["moved", "proxy"]


def simulate(seed: int, *, trace: Callable[[str], object] | None = None) -> Outcome:
    """Make one run; a trace is told everything that happens.

    Raises:
        ViolationError: Something has happened that may not.
        StuckError: A match has not come to its end.
    """
    database = new_database()
    with TemporaryDirectory(prefix="simulated") as folder:
        (Path(folder) / "truc.db").write_bytes(database)
        run = _Run(World(seed, trace), Path(folder))
        with run.in_place():
            return run.go(seed)


class _Run:
    """The parts of one run."""

    def __init__(self, world: World, folder: Path) -> None:
        self._world = world
        self._network = Network(world)
        self._folder = folder
        self._file = folder / "truc.db"
        self._observer = Observer(world, self._file, self._is_excused)
        self._database = Database(world, self._file, self._observer)
        self._nodes: list[Node] = []
        self._players: list[Participant] = []
        self._network.on_connect = self._watch

    def _is_excused(self, table: str, seat: int) -> bool:
        """Tell whether who sits there may be late by the fault of their own network."""
        return any(
            player.excused_until > self._world.now
            for player in self._players
            if (player.party.code, player.seat) == (table, seat)
        )

    def _watch(self, near: Socket) -> None:
        """Look at what players say and are told; what nodes tell each other is sealed."""
        if any(player.machine is near.machine for player in self._players):
            self._observer.watch(near)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Let everything in this process live in the run's world; leave nothing of it behind."""
        deal = dealing.deal_cards

        def deal_cards(*values: Any, **named: Any) -> dealing.DealtCards:
            cards = deal(*values, **named)
            self._observer.dealt(cards)
            return cards

        before = structlog.get_config()
        gathering = structlog.contextvars.merge_contextvars
        structlog.configure(processors=[gathering, self._log], cache_logger_on_first_use=False)
        gc.disable()  # what is finalized, and when, is no chance either
        try:
            with (
                simulated(self._world, self._network),
                patch.object(dealing, "deal_cards", deal_cards),
                patch.object(engine, "now_ms", self._database.now_ms),
            ):
                yield
        finally:
            structlog.configure(**before)
            self._end()

    def _log(self, _logger: object, method: str, event: Any) -> Any:
        """Tell the trace what a server logs; that it has failed in a way that nobody foresaw may not be."""
        who = "" if self._world.acting is None else self._world.acting.name
        told = {name: value for name, value in event.items() if name != "exc_info"}
        self._world.tell(who, f"logs {told}")
        if method in ("exception", "error", "critical") and event["event"] not in _FORESEEN:
            error = sys.exception()
            if error is not None:
                self._world.tell(who, "".join(traceback.format_exception(error)))
            self._world.fail(f"{who} logs {event['event']}: {error!r}")
        raise structlog.DropEvent

    def go(self, seed: int) -> Outcome:
        """Let everything happen."""
        world, dice = self._world, self._world.dice
        plan = Plan(
            nodes=dice.choice((0, 2, 3)),
            parties=dice.choice((1, 1, 2)),
            faults=dice.randrange(16),
            lease_s=dice.choice((1, 2, 5)),
            route=dice.choice(("moved", "proxy")),
        )
        self._start_nodes(plan)
        for number in range(plan.parties):
            self._send_party(number + 1)
        every_s = dice.choice((0.4, 1.5, 4.0))
        faults = Faults(
            world,
            self._network,
            self._database,
            self._nodes,
            self._players,
            most=plan.faults,
            every_s=every_s,
        )
        faults.begin()
        world.run(lambda: all(player.is_done for player in self._players), LONGEST_S)
        self._check_end()
        figures = Counter(faults.counted)
        figures.update(
            nodes=len(self._nodes),
            records=len(self._observer.stored),
            blamed=self._observer.blamed,
            matches=len(self._observer.ended),
            starts=sum(node.starts for node in self._nodes),
        )
        return Outcome(seed, world.digest, world.now, dict(figures))

    def _start_nodes(self, plan: Plan) -> None:
        """Start one server alone, or nodes with the keys of all."""
        with Machine(self._world, "host", "10.0.0.9").acting():
            identity = make_keys(self._folder)
        for number in range(1, max(1, plan.nodes) + 1):
            name = f"n{number}"
            address = f"10.0.0.{number}"
            cluster = ClusterSettings(
                node=name,
                lease_s=plan.lease_s,
                public=f"{name}.{HOST}:{PORT}",
                inner=f"{address}:{INNER_PORT}",
                route=plan.route,
            )
            node = Node(
                self._world,
                self._network,
                self._database,
                name=name,
                address=address,
                settings=msgspec.structs.replace(SETTINGS, cluster=cluster) if plan.nodes else SETTINGS,
                folder=give_keys(self._folder, name),
                identity=identity,
            )
            self._nodes.append(node)
            self._world.after(self._world.dice.uniform(0, 1), node.start)

    def _send_party(self, number: int) -> None:
        """Send the players of one table."""
        dice = self._world.dice
        is_blind = dice.random() < BLIND_SHARE
        variant, seats = dice.choice(BLIND_GAMES if is_blind else GAMES)
        guests = frozenset(seat for seat in range(seats) if dice.random() < 0.3 and not is_blind)
        options: dict[str, int | str] = {"match": 1, "guests": seats}
        if is_blind:
            options = {"match": 1, "mode": "blind"}
        party = Party(number, Game(variant, seats, guests, options, dice.choice((0.2, 1.0, 3.0))))
        for seat in range(seats):
            home = self._folder / f"home{number}.{seat}"
            dial = Dialing(self._network, HOST, PORT, partial(self._find, party))
            player = Participant(self._world, party, seat, home=home, seed=dice.randrange(1 << 30), dial=dial)
            self._players.append(player)
            self._world.after(dice.uniform(0.1, 1.0), player.start)

    def _find(self, party: Party, host: str) -> tuple[str, int]:
        """Return where a name leads: to a node, mostly the one that has the table of a party."""
        named = host.removesuffix(f".{HOST}")
        if named == host and party.code is not None and self._world.dice.random() < 0.7:
            named = self._observer.owner_of(party.code) or host
        node = next((node for node in self._nodes if node.name == named), None)
        return (node or self._world.dice.choice(self._nodes)).address, PORT

    def _check_end(self) -> None:
        """Check that what is stored is what was committed, and that every match is proven by itself."""
        with closing(open_archive(f"sqlite:///{self._file}")) as archive:
            for mid, match in self._observer.started.items():
                found = archive.transcript(mid)
                if found is None:
                    self._world.fail(f"match {mid.hex()[:8]} is not stored")
                    continue
                committed = [record for (of, _), record in sorted(self._observer.stored.items()) if of == mid]
                if list(found.records) != committed or found.setup != match.setup:
                    self._world.fail(f"match {mid.hex()[:8]} is not stored as it was committed")
                verdict = verify(write_transcript(found.document, (*found.setup, *found.records)))
                if verdict.result is not Result.PROVEN:
                    self._world.fail(f"match {mid.hex()[:8]} is not proven: {verdict}")
        self._world.check()

    def _end(self) -> None:
        """Let go of everything: what was in the middle of something is told of nothing."""
        self._world.drop()
        self._observer.close()
        hook, sys.unraisablehook = sys.unraisablehook, _ignore
        try:
            for player in self._players:
                player.machine.kill()
            for node in self._nodes:
                if node.machine is not None:
                    node.machine.kill()
            self._nodes.clear()
            self._players.clear()
            gc.collect()
            gc.freeze()  # what killed machines were in the middle of is never let go, nor looked through again
        finally:
            sys.unraisablehook = hook
            gc.enable()


def _ignore(_: object) -> None:
    """Say nothing of a task that complains as it is dropped."""

"""The faults of a run: which, when and to whom, all drawn by the world's dice."""

from typing import TYPE_CHECKING, Final, NamedTuple

from simulation.database import Database, Line, Loss
from simulation.machine import Machine
from simulation.network import Network, Socket
from simulation.nodes import Node

if TYPE_CHECKING:
    from simulation.players import Participant
    from simulation.world import World


class Weights(NamedTuple):
    """How often each fault happens, beside the others."""

    crash: float = 3
    stop: float = 1
    pause: float = 3
    loss: float = 3
    unheard: float = 1
    unanswered: float = 1
    cut_off: float = 1
    database: float = 1
    cut: float = 3
    stall: float = 1
    links: float = 1
    clock: float = 1


EXCUSED_S: Final = 60.0
WEIGHTS: Final = Weights()


class Faults:
    """What goes wrong; `most` times at the most, `every_s` apart on average.

    Attributes:
        counted: how often each fault has happened.
    """

    def __init__(
        self,
        world: "World",
        network: Network,
        database: Database,
        nodes: list[Node],
        players: "list[Participant]",
        *,
        most: int,
        every_s: float,
    ) -> None:
        self._world = world
        self._network = network
        self._store = database
        self._nodes = nodes
        self._players = players
        self._left = most
        self._every_s = every_s
        self.counted: dict[str, int] = {}

    def begin(self) -> None:
        """Draw when the first one comes."""
        if self._left > 0:
            self._world.after(self._world.dice.expovariate(1 / self._every_s), self._strike)

    def _strike(self) -> None:
        self._left -= 1
        (name,) = self._world.dice.choices(WEIGHTS._fields, WEIGHTS)
        self.counted[name] = self.counted.get(name, 0) + 1
        self._world.note("fault", name)
        getattr(self, f"_{name}")()
        self.begin()

    def _node(self) -> Node:
        return self._world.dice.choice(self._nodes)

    def _seconds(self, shortest: float, longest: float) -> float:
        """Return a time, the short ones as likely as the long."""
        return float(shortest * (longest / shortest) ** self._world.dice.random())

    def _crash(self) -> None:
        self._node().crash(self._seconds(0.2, 120), silently=self._world.dice.random() < 0.3)

    def _stop(self) -> None:
        self._node().stop()

    def _pause(self) -> None:
        self._node().pause(self._seconds(0.5, 300))

    def _line(self) -> Line | None:
        machine = self._node().machine
        return None if machine is None or machine.is_dead else self._store.lines[machine]

    def _loss(self) -> None:
        """Let a commit fail, before it is made or behind it."""
        if (line := self._line()) is not None:
            line.loss = self._world.dice.choice(list(Loss))

    def _unheard(self) -> None:
        """Let what a node asks of the database not arrive."""
        self._hold("asks_from")

    def _unanswered(self) -> None:
        """Let what the database answers a node not arrive."""
        self._hold("hears_from")

    def _cut_off(self) -> None:
        """Let nothing pass between a node and the database."""
        self._hold("asks_from", "hears_from")

    def _hold(self, *ways: str) -> None:
        if (line := self._line()) is not None:
            until = self._world.now + self._seconds(0.1, 30)
            for way in ways:
                setattr(line, way, until)

    def _database(self) -> None:
        """Restart the database."""
        self._store.restart(self._seconds(0.05, 20))

    def _player(self, seconds: float) -> "Participant":
        """Return somebody whose line fails for so long; they may be late for a while longer."""
        player = self._world.dice.choice(self._players)
        player.excused_until = max(player.excused_until, self._world.now + seconds + EXCUSED_S)
        return player

    def _cut(self) -> None:
        for end in self._network.ends_of(self._player(0.0).machine):
            end.cut()

    def _links(self) -> None:
        """Hold all that passes between a node and the others for a while, and then cut it, or let it go on."""
        machines = [node.machine for node in self._nodes]
        machine = self._node().machine
        between = [end for end in self._ends(machine) if end.far.machine in machines]
        until = self._world.now + self._seconds(0.1, 20)
        is_cut = self._world.dice.random() < 0.5
        for near in between:
            near.held_until = near.far.held_until = until
            if is_cut:
                self._world.at(until, near.cut)

    def _ends(self, machine: Machine | None) -> list[Socket]:
        return [] if machine is None or machine.is_dead else self._network.ends_of(machine)

    def _stall(self) -> None:
        seconds = self._seconds(0.1, 8)
        until = self._world.now + seconds
        for near in self._network.ends_of(self._player(seconds).machine):
            for end in (near, near.far)[:: self._world.dice.choice((1, -1))][
                : self._world.dice.choice((1, 2))
            ]:
                end.held_until = until

    def _clock(self) -> None:
        self._node().bend_clock(self._world.dice.uniform(-30, 30))

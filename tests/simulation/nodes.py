"""A server's process, and whoever watches it: when it ends, it is started again after a while, as a service manager does."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import outcome
import trio
from simulation.database import Database
from simulation.machine import Machine

from truc_server.identity.identity import Identity
from truc_server.server import serve
from truc_server.settings.folder import Folder
from truc_server.settings.settings import Settings
from truc_server.settings.variants import read_catalogue
from truc_server.storage import StoreError
from truc_server.timing.clock import RunningClock

if TYPE_CHECKING:
    from simulation.network import Network
    from simulation.world import World

AGAIN_S: Final = (0.5, 3.0)


class Node:
    """One server.

    Attributes:
        machine: its process, or the newest one; None before the first.
        starts: how often it was started.
    """

    def __init__(
        self,
        world: "World",
        network: "Network",
        database: Database,
        *,
        name: str,
        address: str,
        settings: Settings,
        folder: Path,
        identity: Identity,
    ) -> None:
        self.name = name
        self.address = address
        self.machine: Machine | None = None
        self.starts = 0
        self.clock_ahead_s = 0.0
        self._world = world
        self._network = network
        self._database = database
        self._settings = settings
        self._folder = Folder(folder)
        self._identity = identity

    def start(self) -> None:
        """Start it."""
        self.starts += 1
        machine = self.machine = Machine(self._world, self.name, self.address, clock=RunningClock)
        machine.clock_ahead_s = self.clock_ahead_s
        self._stop = trio.CancelScope()
        self._world.note(self.name, f"starts {self.starts}")
        machine.start(self._run, self._ended)

    async def _run(self) -> None:
        assert self.machine is not None
        cluster = self._settings.cluster
        store = self._database.open(self.machine, patience_s=cluster.lease_s / 2 if cluster.node else None)
        try:
            with self._stop:
                await serve(
                    self._settings,
                    self._folder,
                    store,  # type: ignore[arg-type]  # it has all that a store has
                    self._identity,
                    lambda _port, _origin: None,
                    catalogue=read_catalogue(self._folder.variants),
                )
        finally:
            store.close()

    def stop(self) -> None:
        """Ask it to end, as a signal does."""
        if self.machine is not None:
            self.machine.cancel(self._stop)

    def crash(self, again_s: float, *, silently: bool) -> None:
        """End it in the middle of anything; start it again after a while."""
        if self.machine is not None and not self.machine.is_dead:
            self._world.note(self.name, "crashes")
            self.machine.kill()
            self._network.lose(self.machine, silently=silently)
            self._world.after(again_s, self.start)

    def pause(self, seconds: float) -> None:
        """Execute nothing of it for a while."""
        machine = self.machine
        if machine is not None and not (machine.is_dead or machine.is_paused):
            self._world.note(self.name, "stands still")
            machine.pause()
            self._world.after(seconds, machine.resume)

    def bend_clock(self, seconds: float) -> None:
        """Set its time of day forward, or back."""
        self.clock_ahead_s += seconds
        if self.machine is not None:
            self.machine.clock_ahead_s = self.clock_ahead_s

    def _ended(self, how: outcome.Outcome[object]) -> None:
        assert self.machine is not None
        self._world.note(self.name, "ends")
        self._network.lose(self.machine, silently=False)
        if isinstance(how, outcome.Error) and not is_of_store(how.error):
            self._world.fail(f"{self.name} has ended by {how.error!r}")
        self._world.after(self._world.dice.uniform(*AGAIN_S), self.start)


def is_of_store(error: BaseException) -> bool:
    """Tell whether nothing but the store has failed."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(is_of_store, error.exceptions))
    return isinstance(error, StoreError)

"""The nodes of a cluster, as processes that are started again whenever they have ended, as a service manager would.

A node may end by a kill of ours, or by itself: with status 1, and only when it has lost its lease or its database. Invariant:
the processes end with the block that keeps them.
"""

import shutil
import signal
from collections import Counter
from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import Final

import trio
from chaos.servers import ServerProcess, StartError, free_port
from chaos.stored import ViolationError

from truc_server.identity.identity import Identity, load_identity
from truc_server.settings.folder import open_folder

_KEYS: Final = ("identity.pem", "secrets.key", "rolls.txt", "earlier/*.pem")
AGAIN_S: Final = 0.2
_FAILED: Final = 1
_START_S: Final = 300.0  # it may have to wait for its database, and have many tables


class Member:
    """One node.

    Attributes:
        name: its name in the cluster.
        server: its process.
        is_up: whether it listens, as far as is known.
        ends: how often it has ended, and with what status.
    """

    def __init__(self, name: str, root: Path, settings: Mapping[str, str]) -> None:
        self.name = name
        folder = give_keys(root, name)
        self.server = ServerProcess(folder, {**settings, "TRUC_CLUSTER_NODE": name}, port=free_port())
        self.ends = Counter[int]()
        self.delay_s = AGAIN_S
        self.is_up = False
        self._changed = trio.lowlevel.ParkingLot()

    async def keep(self) -> None:
        """Run it, and start it again as often as it ends; until cancelled.

        Raises:
            ViolationError: It has ended as it must not.
        """
        try:
            while True:
                await self._live_once()
                self._change(is_up=False)
                await trio.sleep(self.delay_s)
                self.delay_s = AGAIN_S
        finally:
            with trio.CancelScope(shield=True):
                self.server.signal(signal.SIGCONT)
                await self.server.kill()

    async def _live_once(self) -> None:
        await self.server.spawn()
        try:
            await self.server.wait_listening(_START_S)
            self._change(is_up=True)
        except StartError:
            pass
        status = await self.server.wait(inf)
        self.ends[status] += 1
        if status not in (_FAILED, -signal.SIGKILL):
            raise ViolationError(f"node {self.name} has ended with status {status}; see {self.server.log}")

    def _change(self, *, is_up: bool) -> None:
        self.is_up = is_up
        self._changed.unpark_all()

    async def wait_up(self) -> None:
        """Wait until it listens."""
        while not self.is_up:
            await self._changed.park()

    @property
    def deaths(self) -> int:
        """How often it has ended."""
        return self.ends.total()

    async def wait_end(self, after: int) -> None:
        """Wait until it has ended since it had ended so often."""
        while self.deaths == after:
            await self._changed.park()

    def kill(self, *, away_s: float) -> None:
        """End it as a power cut would; it is started again after so many seconds."""
        self.delay_s = away_s
        self.server.signal(signal.SIGKILL)


def make_keys(root: Path) -> Identity:
    """Make the keys that the nodes in a folder share; return them."""
    return load_identity(open_folder(root / "keys"))


def give_keys(root: Path, name: str) -> Path:
    """Copy the files of the keys to the data folder of a node, as a host does; return the folder."""
    keys, folder = root / "keys", open_folder(root / name).root
    for key in (path for pattern in _KEYS for path in keys.glob(pattern)):
        copy = folder / key.relative_to(keys)
        copy.parent.mkdir(mode=0o700, exist_ok=True)
        shutil.copy2(key, copy)
    return folder

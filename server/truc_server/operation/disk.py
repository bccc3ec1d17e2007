"""Room on the disk of the data folder: when little is left nothing new begins, and what is under way can end.

Checked from time to time, as others fill a disk too. If the database is not a file in the folder, its disk is not
watched here, and how much is free stops nobody. Invariant: what the log says of it alternates: nearly full, has room.
"""

import os
from pathlib import Path
from typing import Final

import structlog
import trio

from truc_server.settings.in_force import CurrentValue
from truc_server.settings.settings import Settings

LOOK_S: Final = 10.0
MB: Final = 1_000_000

log = structlog.get_logger()


class Disk:
    """The disk of a folder.

    Attributes:
        free: how many bytes there were at the last look; 0 before the first.
        is_nearly_full: whether less is free than is to be kept free.
    """

    def __init__(self, folder: Path, settings: CurrentValue[Settings]) -> None:
        self.free = 0
        self.is_nearly_full = False
        self._folder = folder
        self._settings = settings

    async def run(self) -> None:
        """Look again and again."""
        while True:
            await trio.sleep(LOOK_S)
            await self.look()

    async def look(self) -> None:
        """Look how much is free; if that cannot be seen, nothing changes."""
        try:
            # In a thread, as a disk that hangs, such as one in the network, must not hold up the loop.
            self.free = await trio.to_thread.run_sync(free_bytes, self._folder)
        except OSError as error:
            log.warning("disk_not_seen", reason=error.strerror)
            return
        database = self._settings.now.store
        # A database elsewhere fills another disk than this folder's.
        spare_mb = 0 if database.url else database.spare_mb
        was, self.is_nearly_full = self.is_nearly_full, self.free < spare_mb * MB
        if self.is_nearly_full and not was:
            log.warning("disk_nearly_full", free_mb=self.free // MB, spare_mb=spare_mb)
        elif was and not self.is_nearly_full:
            log.info("disk_has_room", free_mb=self.free // MB)


def free_bytes(folder: Path) -> int:
    """Return how many bytes this user may still write to the disk of a folder; blocks."""
    found = os.statvfs(folder)
    # `f_bfree` would count what is kept for root.
    return found.f_bavail * found.f_frsize

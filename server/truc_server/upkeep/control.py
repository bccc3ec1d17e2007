"""What the process that runs a server asks of it, and what the server needs of the process.

Deliberately not here: stopping at once, for which the server is cancelled.
"""

from collections.abc import Callable
from typing import NamedTuple

import trio

from truc_server.settings.settings import Settings


class Together:
    """The end of a node that drains with others of its machine.

    Attributes:
        is_on: whether they all drain.
        drained: set when no hand is under way here.
    """

    def __init__(self) -> None:
        self.is_on = False
        self.drained = trio.Event()

    async def wait(self) -> None:
        """Say that no hand is under way here; if all drain, wait to be stopped, when none is anywhere."""
        self.drained.set()
        if self.is_on:
            await trio.sleep_forever()


class Control(NamedTuple):
    """What a running server and its process share.

    Attributes:
        drain: set when the server is to let hands end and then stop.
        reread: reads the settings again, from where they were read at the start; raises a `SettingsError`.
        on_end: called when the server begins to say goodbye, and can be asked for nothing more.
        together: when several nodes drain at once, so that none ends while its clients play on at another.
    """

    drain: trio.Event
    reread: Callable[[], Settings]
    on_end: Callable[[], object]
    together: "Together | None" = None

"""What is in force until it changes while the server runs: the settings, who is shut out or muted, whether the server drains.

And what the process that runs a server asks of it, and the server of the process. Deliberately not here: what follows from
a drain, which is decided where it matters; stopping at once, for which the server is cancelled.
"""

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

import trio

from truc_server.settings.settings import Settings

_Value = TypeVar("_Value")


class CurrentValue(Generic[_Value]):
    """A value in force, looked up here each time it is needed.

    Attributes:
        now: the value in force.
    """

    def __init__(self, value: _Value) -> None:
        self.now = value


class ServerDrain:
    """The drain of one server.

    Attributes:
        by: when at the latest the draining server says goodbye, a moment of Trio's clock; None while it does not drain.
        to: where players reach another node meanwhile, which they are sent to; empty if there is none.
    """

    def __init__(self) -> None:
        self.by: float | None = None
        self.to = ""

    @property
    def is_on(self) -> bool:
        """Whether hands under way go on, and nothing else begins."""
        return self.by is not None


class MachineDrain:
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
        machine_drain: when several nodes drain at once, so that none ends while its clients play on at another.
    """

    drain: trio.Event
    reread: Callable[[], Settings]
    on_end: Callable[[], object]
    machine_drain: MachineDrain | None = None

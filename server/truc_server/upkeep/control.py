"""What the process that runs a server asks of it, and what the server needs of the process.

Deliberately not here: stopping at once, for which the server is cancelled.
"""

from collections.abc import Callable
from typing import NamedTuple

import trio

from truc_server.settings.settings import Settings


class Control(NamedTuple):
    """What a running server and its process share.

    Attributes:
        drain: set when the server is to let hands end and then stop.
        reread: reads the settings again, from where they were read at the start; raises a `SettingsError`.
        on_end: called when the server begins to say goodbye, and can be asked for nothing more.
    """

    drain: trio.Event
    reread: Callable[[], Settings]
    on_end: Callable[[], object]

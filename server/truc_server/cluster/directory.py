"""Which node owns a table, as the store has it: asked in a thread, and believed for a moment.

Invariant: nothing is decided by it but whom to ask; the owner's own word counts.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import trio

from truc_server.storage import TableOwner

BELIEVED_S: Final = 0.5
"""Less than the time after which a client asks again for a table that is between two nodes."""
KEPT: Final = 4_096  # codes, among them those that nobody has


class _Answer(NamedTuple):
    place: TableOwner | None
    until: float


class StoreDirectory:
    """What the store says of the owners of tables; `find` reads it, and blocks."""

    def __init__(self, find: Callable[[str], TableOwner | None]) -> None:
        self._find = find
        self._answers: dict[str, _Answer] = {}  # the newest comes last

    def __len__(self) -> int:
        """How many codes anything is kept about."""
        return len(self._answers)

    async def owner_of(self, code: str) -> TableOwner | None:
        """Return who owns a table, as of a moment ago; None if there is no such table.

        Raises:
            StoreError: The store cannot be read.
        """
        known = self._answers.get(code)
        if known is not None and trio.current_time() < known.until:
            return known.place
        place = await trio.to_thread.run_sync(self._find, code)
        self._answers.pop(code, None)
        self._answers[code] = _Answer(place, trio.current_time() + BELIEVED_S)
        if len(self._answers) > KEPT:
            del self._answers[next(iter(self._answers))]
        return place

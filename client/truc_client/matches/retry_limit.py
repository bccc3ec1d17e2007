"""How often something unsigned may fail in one place before a table ends: the line may be bad, or the server may cheat.

A table starts again from where all was well. If that does not help, the kept records may themselves be altered where no
signature covers them: once, it asks for everything anew. Invariant: every place is tried a limited number of times.
"""

from enum import Enum
from typing import Final

MAX_TRIES: Final = 3
"""How often in a row something may fail in one place."""


class NextTry(Enum):
    """What comes after a failure: ask again from the last good position, ask for everything anew, or end."""

    AGAIN = "again"
    ANEW = "anew"
    END = "end"


class Tries:
    """How often something has failed at one table with nobody to blame."""

    def __init__(self) -> None:
        self._position: tuple[bytes, int] | None = None
        self._is_anew = False
        self.count = 0

    def note(self, position: tuple[bytes, int] | None, *, may_begin_anew: bool) -> NextTry:
        """Note a failure at a position of a match, None before there is a match, and return what comes after it."""
        self.count = self.count + 1 if position == self._position else 1
        self._position = position
        if self.count < MAX_TRIES:
            return NextTry.AGAIN
        if self._is_anew or not may_begin_anew:
            return NextTry.END
        self._is_anew, self.count = True, 0
        return NextTry.ANEW

"""How often something unsigned may fail in one place before a table ends: the line may be bad, or the server may cheat.

A table starts again from where all was well. If that does not help, the kept records may themselves be altered where no
signature covers them: once, it asks for everything anew. Invariant: every place is tried a limited number of times.
"""

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Final

from truc_client.errors import ClientError, LostError, UnboundError
from truc_client.matches.playing import Playing
from truc_client.matches.setting_up import MatchMaker
from truc_words import Sentence

MAX_TRIES: Final = 3
"""How often in a row something may fail in one place."""

Place = tuple[bytes, int] | None


class Step(Enum):
    """What comes after a failure: ask again from the last good position, ask for everything anew, or end."""

    AGAIN = "again"
    ANEW = "anew"
    END = "end"


class Tries:
    """How often something has failed at one table with nobody to blame."""

    def __init__(self) -> None:
        self._place: Place = None
        self._is_anew = False
        self.count = 0

    def note(self, place: Place, *, may_begin_anew: bool) -> Step:
        """Note a failure at a position of a match, None before there is a match, and return what comes after it."""
        self.count = self.count + 1 if place == self._place else 1
        self._place = place
        if self.count < MAX_TRIES:
            return Step.AGAIN
        if self._is_anew or not may_begin_anew:
            return Step.END
        self._is_anew, self.count = True, 0
        return Step.ANEW


class Doubts:
    """What becomes of one table when something unsigned fails."""

    def __init__(self, playing: Playing, maker: MatchMaker, fail: Callable[[ClientError], None]) -> None:
        self._playing = playing
        self._maker = maker
        self._fail = fail
        self._tries = Tries()

    def meet(self, error: UnboundError) -> None:
        """Drop the connection that brought it: it is reopened automatically, and what is missing is asked for again.

        Raises:
            LostError: Always, unless the table has ended over it.
        """
        match = self._playing.match
        place = None if match is None else (match.mid, match.next)
        step = self._tries.note(place, may_begin_anew=match is not None and error.is_record)
        if step is Step.END:
            self._fail(error.after(self._tries.count))
            return
        if step is Step.ANEW and match is not None:
            self._begin_anew(match.witness.file.path, str(error))
        raise LostError(Sentence("failures.unsigned_fails", error=str(error)))

    def _begin_anew(self, path: Path, reason: str) -> None:
        self._playing.drop_match()
        try:
            self._maker.set_aside(path, reason)
        except ClientError as error:
            self._fail(error)

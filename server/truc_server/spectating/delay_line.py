"""A queue of what is to be shown later: up to which record, what is said after it, and when.

Only moments and positions are here; the records are kept elsewhere. Invariants: what is put in comes out in the same
order, never before its time, and at most a thousandth of the delay after it; so a line holds about a thousand marks,
however much happens.
"""

from math import ceil
from typing import Final, NamedTuple

GRAIN: Final = 1_000  # marks in the time of the delay
NOTICES: Final = 16  # at one mark; watchers are not shown what is said beyond them


class Notice(NamedTuple):
    """A frame, and the tag of the player who speaks in it, if one does."""

    frame: bytes
    speaker: str | None


class DueMark(NamedTuple):
    """What is due at a moment of Trio's clock: the records before position `k`, then notices."""

    moment: float
    k: int
    notices: tuple[Notice, ...] = ()


class DelayLine:
    """What waits to be shown of one match."""

    def __init__(self, delay_s: int) -> None:
        self._grain = delay_s / GRAIN
        self._marks: list[DueMark] = []

    def put_record(self, moment: float, k: int) -> None:
        """Let the records before position `k` be shown at a moment; notices waiting at the same mark are left out."""
        moment = self._place(moment)
        # what was said about an older position is stale by then, and may be left out (views.md, "Shown late")
        if self._marks and self._marks[-1].moment == moment:
            self._marks.pop()
        self._marks.append(DueMark(moment, k))

    def put_notice(self, moment: float, k: int, notice: Notice) -> None:
        """Let a notice be shown at a moment, after the records before position `k`."""
        moment = self._place(moment)
        if not self._marks or self._marks[-1].moment < moment:
            self._marks.append(DueMark(moment, k, (notice,)))
        elif len(self._marks[-1].notices) < NOTICES:
            last = self._marks.pop()
            self._marks.append(last._replace(notices=(*last.notices, notice)))

    def _place(self, moment: float) -> float:
        """Return the mark for a moment: rounded up, so that there are not too many, and not before the last one."""
        moment = ceil(moment / self._grain) * self._grain
        return max(moment, self._marks[-1].moment) if self._marks else moment

    def hush(self) -> None:
        """Leave out all notices but the last one after the newest record: nobody hears them."""
        self._marks = [
            # who comes to watch before its time is still told whom the match waits for
            mark._replace(notices=mark.notices[-1:] if mark is self._marks[-1] else ())
            for mark in self._marks
        ]

    def hush_newest(self) -> None:
        """Leave out the notices at the last mark, before more is put in: nobody hears them."""
        if self._marks and self._marks[-1].notices:
            self._marks[-1] = self._marks[-1]._replace(notices=())

    @property
    def end(self) -> int:
        """The position up to which records wait; 0 if none do."""
        return self._marks[-1].k if self._marks else 0

    @property
    def next(self) -> float | None:
        """The moment of the first mark."""
        return self._marks[0].moment if self._marks else None

    def due(self, now: float) -> DueMark | None:
        """Return the first mark, if its time has come; it stays."""
        return self._marks[0] if self._marks and self._marks[0].moment <= now else None

    def pop(self) -> None:
        """Take the first mark out: it has been shown."""
        del self._marks[0]

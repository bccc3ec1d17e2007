"""The decision of a player at one table, on its way to the server: sent, resent where that is right, answered once.

What is signed is stored before it comes here. Invariant: nothing is sent for a match that is not live.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import trio

from truc_client.matches.choosing import GuestChoice, Sendable
from truc_client.matches.seatmatch import SeatMatch
from truc_protocol.messages import GuestAct, Ok, Refusal, SignedAct

if TYPE_CHECKING:
    from truc_client.session import Session


OnRefused = Callable[[SeatMatch, int, Sendable, Refusal], None]
OnTaken = Callable[[SeatMatch, int | None], None]


class _Pending(NamedTuple):
    """A decision whose fate somebody waits for."""

    at: int
    sendable: Sendable
    answers: trio.MemorySendChannel[Refusal | None]


class Decisions:
    """What is sent for one table; at most one decision waits for its fate."""

    def __init__(self, session: "Session", code: str, taken: OnTaken, refused: OnRefused) -> None:
        self._session = session
        self._code = code
        self._taken = taken
        self._refused = refused
        self._pending: _Pending | None = None
        self._is_closed = False

    async def decide(self, match: SeatMatch, sendable: Sendable) -> Refusal | None:
        """Send a decision for the current position; return its refusal, or None once it is taken.

        Raises:
            EndOfChannel: The table was left, or has failed.
        """
        if self._is_closed:
            return None
        send, receive = trio.open_memory_channel[Refusal | None](1)
        self._pending = _Pending(match.next, sendable, send)
        self.send(match, match.next, sendable)
        return await receive.receive()

    def send(self, match: SeatMatch, at: int, sendable: Sendable) -> None:
        """Send something for a position; if the match is not live, it goes out once no record is missing any more."""
        if not match.is_live:
            return

        def answered(answer: Ok | Refusal) -> None:
            refusal = answer if isinstance(answer, Refusal) else None
            if isinstance(answer, Refusal):
                self._refused(match, at, sendable, answer)
            else:
                self._taken(match, answer.k)
            self._settle(sendable, refusal)

        self._session.post(lambda n: self._request(n, match.mid, sendable), answered)

    def _request(self, n: int, mid: bytes, sendable: Sendable) -> GuestAct | SignedAct:
        if isinstance(sendable, GuestChoice):
            line, place = sendable.line, sendable.place
            return GuestAct(id=n, table=self._code, match=mid, at=sendable.at, choose=line, p=place)
        return SignedAct(id=n, table=self._code, match=mid, body=sendable.body, sig=sendable.sig)

    def _settle(self, sendable: Sendable, refusal: Refusal | None) -> None:
        pending = self._pending
        if pending is not None and pending.sendable == sendable:
            self._pending = None
            pending.answers.send_nowait(refusal)

    def go_on(self, match: SeatMatch) -> None:
        """Go on with what waits, now that no record is missing; a signed decision goes out with all that is owed."""
        pending = self._pending
        if pending is None:
            return
        if match.next > pending.at:
            self._settle(pending.sendable, None)  # that position is decided; the records say how
        elif isinstance(pending.sendable, GuestChoice):
            self.send(match, pending.at, pending.sendable)

    def close(self) -> None:
        """End every wait, now and later: the table is closed, and the player is told so."""
        self._is_closed = True
        self.end()

    def end(self) -> None:
        """End the wait: the match is over, and its records say how each position was decided."""
        if self._pending is not None:
            self._settle(self._pending.sendable, None)

    def drop(self) -> None:
        """End the wait without an answer."""
        if self._pending is not None:
            self._pending.answers.close()
            self._pending = None

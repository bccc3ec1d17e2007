"""What goes out for the seat of one table: what the records require, and the player's decisions, each answered once.

What is signed is stored before it comes here. At most one decision waits for its fate. Invariant: nothing is sent for a
match that is not live.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import trio

from truc_client.errors import NotPlayedError, RefusedError
from truc_client.line.single_connection import Answer, Build
from truc_client.matches.choosing import GuestChoice, Sendable
from truc_client.matches.pack_steps import PackSteps, PackWork
from truc_client.matches.seat_match import SeatMatch, begins_chain
from truc_client.matches.signer import Intent
from truc_protocol.blind_mode.sealed_pack import SeatStep
from truc_protocol.errors import OVERTAKEN_CODES, Code
from truc_protocol.messages import GuestAct, Refusal, SignedAct
from truc_words import Sentence

Post = Callable[[Build, Callable[[Answer], None]], bool]
"""Sends a request; what its answer makes fail ends the table. Tells whether the connection was open."""
Make = Callable[[PackWork, Callable[[SeatStep], None]], None]
"""Makes a step with the pack in a thread, and goes on with it on this one."""


class _Pending(NamedTuple):
    """A decision whose fate somebody waits for."""

    at: int
    sent: Sendable
    fate: trio.MemorySendChannel[Refusal | None]


class Sending:
    """What is sent for the seat of one table."""

    def __init__(self, code: str, post: Post, make: Make) -> None:
        self._code = code
        self._post = post
        self._make = make
        self._pending: _Pending | None = None
        self._is_closed = False

    async def decide(self, match: SeatMatch, sent: Sendable) -> Refusal | None:
        """Send a decision for the current position; return its refusal, or None once it is taken.

        Raises:
            EndOfChannel: The table was left, or has failed.
        """
        # closed while the player was choosing, which is told as what happens next: no error
        if self._is_closed:
            return None
        # room for the one answer: `settle` waits for nobody
        tell, fate = trio.open_memory_channel[Refusal | None](1)
        self._pending = _Pending(match.next, sent, tell)
        self.send(match, match.next, sent)
        return await fate.receive()

    def send(self, match: SeatMatch, at: int, sent: Sendable) -> None:
        """Send something for a position; if the match is not live, it goes out once no record is missing any more."""
        if match.is_live:
            self._post(partial(self._request, match.mid, sent), partial(self._answered, match, at, sent))

    def _request(self, mid: bytes, sent: Sendable, n: int) -> GuestAct | SignedAct:
        if isinstance(sent, GuestChoice):
            return GuestAct(id=n, table=self._code, match=mid, at=sent.at, choose=sent.line, p=sent.place)
        return SignedAct(id=n, table=self._code, match=mid, body=sent.body, sig=sent.sig)

    def send_owed(self, match: SeatMatch) -> None:
        """Send what the records so far require of the seat, or a decision made before."""
        owed = match.owed()
        if owed is not None:
            match.is_stepping_in = match.signer is not None and match.signer.intent is Intent.STEP_IN
            self.send(match, match.next, owed)
        steps = match.steps
        if steps is not None and steps.work is not None:
            work, steps.work = steps.work, None
            self._make(work, partial(self._made, match, steps, work))

    def _made(self, match: SeatMatch, steps: PackSteps, work: PackWork, step: SeatStep) -> None:
        steps.take(work, step)
        self.send_owed(match)

    def go_on(self, match: SeatMatch) -> None:
        """Go on, now that no record is missing: with what is owed, and with the decision that waits."""
        self.send_owed(match)
        pending = self._pending
        if pending is not None and match.next > pending.at:
            self.settle()  # that position is decided; the records say how
        elif pending is not None and isinstance(pending.sent, GuestChoice):
            self.send(match, pending.at, pending.sent)  # a signed one goes out with all that is owed

    def _answered(self, match: SeatMatch, at: int, sent: Sendable, answer: Answer) -> None:
        """Take the answer to something sent.

        Raises:
            CheckFailedError: It is refused by signature, though the rules allow it.
            UnboundError: It was taken as a record that has not come: records come before the replies to them.
            NotPlayedError: Somebody else who stood by for the seat was quicker.
            RefusedError: A new chain is refused for good.
        """
        if isinstance(answer, Refusal):
            match.refused(at, sent, answer)
            if begins_chain(sent):
                _check_goes_on(match, answer)
        # records come before the replies to them: one that is said to stand there has been lost, or never was
        elif match.is_live and answer.k is not None and answer.k >= match.next:
            said = f"what was sent is said to be the record at {answer.k}, which has not come"
            match.audit.raise_unbound("C33", said)
        if self._pending is not None and self._pending.sent == sent:
            self.settle(answer if isinstance(answer, Refusal) else None)

    def settle(self, refusal: Refusal | None = None) -> None:
        """End the wait for a decision's fate: it is refused; or it is taken, or the records say how its position was decided."""
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.fate.send_nowait(refusal)

    def close(self) -> None:
        """End every wait, now and later: the table is closed, and the player is told so."""
        self._is_closed = True
        self.settle()

    def drop(self) -> None:
        """End the wait without an answer: the seat or the table is lost."""
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.fate.close()


def _check_goes_on(match: SeatMatch, refusal: Refusal) -> None:
    """Check that a refused chain may be signed anew for the next position."""
    match.is_stepping_in = False
    if refusal.code == Code.NOT_SEATED:  # somebody else who stood by was quicker
        raise NotPlayedError(Sentence("failures.no_longer_vacant"))
    if refusal.code not in (*OVERTAKEN_CODES, Code.PAUSED) and not refusal.retryable:
        raise RefusedError(refusal.code, refusal.msg)
    match.check_wanted()

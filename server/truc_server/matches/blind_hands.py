"""Hands of mode blind: keys that are held until every seat has sent its own, steps that wait to be checked, and what opened hands tell.

Held keys are told to nobody and stored nowhere: whoever has all the keys of a place knows its card, so no seat may see
those of others while it can still choose not to send its own. They are written together, seats ascending. Who sends the
same again, on another connection or after a restart, is answered when they are written.

Steps are checked one at a time, but for the links that open a hand: every seat sends its own as soon as the hand is over. Judged
together, in the order of the masks, they take half of what they take one by one (`blind_mode.seat_steps`), and they are stored in one
batch. So the first waits a moment for the others.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import trio
from msgspec import Struct
from outcome import Outcome

from truc_protocol.bodies import Close, Keys
from truc_protocol.dealing import DealtCards
from truc_protocol.errors import Code
from truc_protocol.ledger import (
    FoldedRecord,
    Ledger,
    PlacedRecord,
    known_hands,
    opened_hands,
    replayed,
    untold,
)
from truc_protocol.messages import Request
from truc_protocol.records import Record, parse_own
from truc_server.net.peer import LoggedInPlayer, Peer, RefusedRequestError
from truc_server.storage import AddRecord

GATHER_S: Final = 0.1
"""How long a link waits for those of other seats: their answers to one record come that much apart."""
CHECKED_S: Final = 2 * GATHER_S
"""How long it takes at most until what has come is checked, on a machine that can do it."""


class SentStep(Struct):
    """A step with the pack that a seat has sent and that waits: in its place, and whom to answer.

    Attributes:
        answer: what came of it, if it was judged with others: the moment of Trio's clock at which it was taken, or why
            it is refused.
    """

    placed: PlacedRecord
    peer: Peer
    player: LoggedInPlayer
    request: Request
    answer: Outcome[float] | None = None


class HeldKeys:
    """The keys of one match that wait for others.

    Attributes:
        held: these keys, by seat.
    """

    def __init__(self) -> None:
        self.held: dict[int, SentStep] = {}

    def hold(self, seat: int, held: SentStep, *, holder: Peer | None) -> None:
        """Hold a seat's keys; if they came before with another request, refuse the one of the two that is not kept.

        Kept is the later one, or that of the connection which has the seat: what was sent on an old one may be read late.

        Raises:
            RefusedError: Other keys of the seat are held: it signs once for a place.
        """
        before = self.held.get(seat)
        if before is not None and before.placed.record.body != held.placed.record.body:
            raise RefusedRequestError(
                Code.NOT_NOW, "expected the keys that this seat has sent already, got others"
            )
        # an old connection may be read after the new one, and its request is not the one the player waits by
        is_late = before is not None and before.peer is holder and held.peer is not holder
        if not is_late:
            self.held[seat] = held
        other = held if is_late else before
        if other is not None:
            _refuse(other, Code.NOT_NOW, "these keys have come by another request, which is answered")

    def refuse_stale(self, k: int) -> None:
        """Refuse keys for another position than `k`, which the match has come to: a record came in between."""
        late = [seat for seat, held in self.held.items() if held.placed.body.k != k]
        for seat in sorted(late):
            message = f"expected position {k}, got keys for an earlier one"
            _refuse(self.held.pop(seat), Code.STALE_POSITION, message)

    def has(self, seats: Collection[int]) -> bool:
        """Tell whether the keys of all these seats are here."""
        return self.held.keys() >= set(seats)

    def bodies(self) -> tuple[Keys, ...]:
        """Return what is held."""
        return tuple(held.placed.body for held in self.held.values() if isinstance(held.placed.body, Keys))

    def take(self) -> tuple[SentStep, ...]:
        """Return what is held, seats ascending, and hold nothing any more."""
        taken = tuple(self.held[seat] for seat in sorted(self.held))
        self.held.clear()
        return taken


def _refuse(held: SentStep, code: Code, message: str) -> None:
    if held.peer.is_open:
        held.peer.refuse(RefusedRequestError(code, message).refusal(held.request.id))


class StepsInTurn:
    """The steps of one match that wait.

    Attributes:
        mutex: held while something is checked.
    """

    def __init__(self) -> None:
        self.mutex = trio.Lock()
        self._links: dict[int, SentStep] = {}
        self._come = trio.Event()

    @property
    def is_busy(self) -> bool:
        """Whether anything waits to be checked, or is being checked."""
        return bool(self._links) or self.mutex.locked()

    def has_link(self, seat: int) -> bool:
        """Tell whether a link of this seat waits."""
        return seat in self._links

    @contextmanager
    def keep_waiting(self, seat: int, link: SentStep) -> Iterator[None]:
        """Keep a seat's link waiting within this block."""
        self._links[seat] = link
        # an event cannot be cleared: those who wait for the next link wait for a new one
        self._come.set()
        self._come = trio.Event()
        try:
            yield
        finally:
            del self._links[seat]

    async def gather(self, seats: Collection[int]) -> None:
        """Wait for the links of all these seats, but only for a moment."""
        # this costs nobody time: the hand is closed when the last link has come
        with trio.move_on_after(GATHER_S):
            while not self._links.keys() >= set(seats):
                await self._come.wait()

    def links(self, ledger: Ledger) -> list[SentStep]:
        """Return those that wait, in the order of the masks."""
        if ledger.blind_hand is None:
            return []
        # with the links of all who masked before, a seat's points are known multiples of G: half the time
        order = ledger.blind_hand.pack.plan.in_order()
        return [self._links[seat] for seat in order if seat in self._links]


def opened_hand(ledger: Ledger) -> DealtCards | None:
    """Return the newest cards of a hand that is about to be closed; None if not all of them are open."""
    opened = opened_hands(ledger)
    return opened[-1] if opened else None


def with_untold_events(before: Ledger, folded: FoldedRecord) -> FoldedRecord:
    """Return what follows from a link that opens a hand, with only the events that were not told while it was played."""
    if not folded.events or before.hand is None or before.match is None:
        return folded
    _, told = replayed(before.hand, known_hands(before.hand, before.match))
    return FoldedRecord(folded.ledger, untold(folded.events, told))


def end_of_closed_hands(rows: Sequence[AddRecord]) -> int:
    """Return the position after the last close of a hand that was played to its end.

    No seat was exposed in what stands before it: the match would have ended with that.
    """
    closes = (row.k + 1 for row in reversed(rows) if _closes_hand(row))
    return next(closes, 0)


def _closes_hand(row: AddRecord) -> bool:
    body = parse_own(Record(row.signer, row.body, row.sig))
    return isinstance(body, Close) and body.reason == "hand"

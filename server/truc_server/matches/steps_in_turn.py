"""Steps of a match in mode blind that wait to be checked: one at a time, and the links that open a hand together.

Every seat sends its link as soon as the hand is over. Judged together, in the order of the masks, they take half of what they
take one by one (`blind_mode.opened_seat`), and they are stored in one batch. So the first waits a moment for the others, which
costs nobody time: the hand is closed when the last has come.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Final

import trio
from msgspec import Struct
from outcome import Outcome

from truc_protocol.ledger import InPlace, Ledger
from truc_protocol.messages import SignedAct
from truc_server.net.peer import Peer, Player

GATHER_S: Final = 0.1
"""How long a link waits for those of other seats: their answers to one record come that much apart."""
CHECKED_S: Final = 2 * GATHER_S
"""How long it takes at most until what has come is checked, on a machine that can do it."""


class Link(Struct):
    """A link that a seat has sent: in its place, and whom to answer.

    Attributes:
        answer: what came of it, if it was judged with others: the moment of Trio's clock at which it was taken, or why
            it is refused.
    """

    placed: InPlace
    peer: Peer
    player: Player
    request: SignedAct
    answer: Outcome[float] | None = None


class StepsInTurn:
    """The steps of one match that wait.

    Attributes:
        turn: held while something is checked.
    """

    def __init__(self) -> None:
        self.turn = trio.Lock()
        self._links: dict[int, Link] = {}
        self._come = trio.Event()

    @property
    def is_busy(self) -> bool:
        """Whether anything waits to be checked, or is being checked."""
        return bool(self._links) or self.turn.locked()

    def has_link(self, seat: int) -> bool:
        """Tell whether a link of this seat waits."""
        return seat in self._links

    @contextmanager
    def waits(self, seat: int, link: Link) -> Iterator[None]:
        """Let a seat's link wait in this block."""
        self._links[seat] = link
        self._come.set()
        self._come = trio.Event()
        try:
            yield
        finally:
            del self._links[seat]

    async def gather(self, seats: Collection[int]) -> None:
        """Wait until links of all these seats are here, but only for a moment."""
        with trio.move_on_after(GATHER_S):
            while not self._links.keys() >= set(seats):
                await self._come.wait()

    def links(self, ledger: Ledger) -> list[Link]:
        """Return those that wait, in the order of the masks."""
        if ledger.sealed is None:
            return []
        order = ledger.sealed.pack.plan.in_order()
        return [self._links[seat] for seat in order if seat in self._links]

"""Survivors at tables whose host sees no card: they shuffle, seal and open the pack, whatever becomes of the server.

Invariant: a step is signed once for its place, and what is sent again are the same bytes (check C51).
"""

from chaos.surviving import Survivor
from server.blind_seats import BlindSeat

from truc_protocol.ledger import steps_due


class Dealer(Survivor, BlindSeat):
    """A survivor who deals with the others of the table."""

    async def _resume(self, mid: bytes) -> None:
        self._before = set(self.taken)
        await super()._resume(mid)

    async def send_again(self) -> None:
        """Send again what the server may have lost: the step that is due, if it was taken before the connection was lost."""
        if self.ledger.blind_hand is None:
            await super().send_again()
        else:
            await self.send_steps_again(self._before)

    async def _use_the_moment(self) -> None:
        if self.ledger.blind_hand is None or steps_due(self.ledger) is None:
            await super()._use_the_moment()
        else:
            await self._chat()

"""The end of a match that a seat asks for because the other side is away.

Functions of the records, and of what no record shows. Invariant: a claim makes a winner only where the terms and the
table provide a forfeit for it; in every other case nobody wins.
"""

from collections.abc import Collection

from msgspec.structs import replace

from truc_protocol.dealer import Dealer
from truc_protocol.errors import Code
from truc_protocol.ledger import Ledger
from truc_protocol.messages import Refusal
from truc_protocol.records import Record
from truc_protocol.setup import GONE_FORFEIT
from truc_server.matches.auto_rulings import Unrecorded, absent, may_rule
from truc_server.net.peer import RefusedError


class TooEarlyError(RefusedError):
    """A claim that cannot be granted yet; `wait_ms` is how long until it may be, at least, if that can be told."""

    def __init__(self, message: str, wait_ms: int | None) -> None:
        super().__init__(Code.NOT_NOW, message)
        self._wait_ms = wait_ms

    def refusal(self, request: int | None) -> Refusal:
        """Return the answer."""
        return replace(super().refusal(request), retry_after_ms=self._wait_ms)


def claimed(
    dealer: Dealer, ledger: Ledger, seat: int, beside: Unrecorded, alone: Collection[int]
) -> Record | None:
    """Return the ruling that a seat may claim now; `alone` are the seats without a connection for too long."""
    if not may_rule(ledger):
        return None
    gone = _of_other_side(seat, absent(ledger, beside.returned))
    if gone and beside.is_claimed and ledger.setup.terms.opts.gone == GONE_FORFEIT:
        return dealer.forfeit(ledger, gone[0], "absent")
    return dealer.abandon(ledger, "server") if _of_other_side(seat, alone) else None


def _of_other_side(seat: int, seats: Collection[int]) -> tuple[int, ...]:
    return tuple(other for other in seats if other % 2 != seat % 2)

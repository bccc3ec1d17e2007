"""What the server has to rule because of what the records show: after a void, for absent seats, for pauses.

A function of the ledger and of whether the time to wait before a call is over, which is judged elsewhere. Invariant:
nothing is ruled that the ledger would not take.
"""

from truc_protocol.ledger import (
    Due,
    Ledger,
    awaits_substitutes,
    due,
    may_abandon,
    may_forfeit,
    must_end,
)
from truc_protocol.records import Phase, Record
from truc_protocol.setup import GONE_SUBSTITUTE
from truc_server.dealer import Dealer

_OWED = (Due.SHARE, Due.OPEN, Due.CLOSE, Due.END)


def consequence(dealer: Dealer, ledger: Ledger, *, is_held_out: bool = False) -> Record | None:
    """Return the ruling that is due now, if any; `is_held_out` once the call has been held back long enough."""
    if ledger.phase not in (Phase.BETWEEN, Phase.HAND) or due(ledger) in _OWED:
        return None
    if ledger.phase is Phase.BETWEEN and must_end(ledger):
        return _after_void(dealer, ledger)
    ruling = _for_absence(dealer, ledger) or _for_pause(dealer, ledger)
    if ruling is None and is_held_out and ledger.phase is Phase.BETWEEN and not ledger.pause.active:
        return _after_hold(dealer, ledger)
    return ruling


def _after_void(dealer: Dealer, ledger: Ledger) -> Record:
    if may_abandon(ledger, "empty"):
        return dealer.abandon(ledger, "empty")
    for seat in ledger.silent:
        if may_forfeit(ledger, seat, "silent"):
            return dealer.forfeit(ledger, seat, "silent")
    return dealer.abandon(ledger, "voids" if may_abandon(ledger, "voids") else "server")


def _for_absence(dealer: Dealer, ledger: Ledger) -> Record | None:
    opts = ledger.setup.terms.opts
    if opts.gone == GONE_SUBSTITUTE:
        return None  # rulings play on, and between two hands the seat is offered
    absent = tuple(seat for seat, streak in enumerate(ledger.streaks) if 0 < opts.gone_after <= streak)
    return _against(dealer, ledger, absent)


def _after_hold(dealer: Dealer, ledger: Ledger) -> Record | None:
    """Rule for the seats that nobody has taken over, and for those without a chain for the next call."""
    if awaits_substitutes(ledger):
        return _after_void(dealer, ledger)
    return _against(dealer, ledger, tuple(range(ledger.seats)))


def _against(dealer: Dealer, ledger: Ledger, seats: tuple[int, ...]) -> Record | None:
    """Let those of the seats that may forfeit as absent do so; where both sides would, nobody wins."""
    absent = [seat for seat in seats if may_forfeit(ledger, seat, "absent")]
    if not absent:
        return None
    if may_abandon(ledger, "empty"):
        return dealer.abandon(ledger, "empty")
    first = absent[0]
    if any(seat % 2 != first % 2 for seat in absent):
        return dealer.abandon(ledger, "server")
    return dealer.forfeit(ledger, first, "absent")


def _for_pause(dealer: Dealer, ledger: Ledger) -> Record | None:
    if len(ledger.pause.asked) < ledger.seats:
        return None
    return dealer.resume(ledger) if ledger.pause.active else dealer.pause(ledger)

"""What the server has to rule because of what the records show: after a void, for absent seats, for pauses.

A function of the ledger; time that runs out is judged elsewhere. Invariant: nothing is ruled that the ledger would not
take.
"""

from truc_protocol.ledger import Due, Ledger, due, may_abandon, may_forfeit
from truc_protocol.records import Phase, Record
from truc_server.dealer import Dealer


def consequence(dealer: Dealer, ledger: Ledger) -> Record | None:
    """Return the ruling that is due now, if any."""
    match due(ledger):
        case Due.CONSEQUENCE:
            return _after_void(dealer, ledger)
        case Due.REKEY:
            return dealer.abandon(ledger, "server")
        case Due.SHARE | Due.OPEN | Due.CLOSE | Due.END:
            return None
        case _ if ledger.phase in (Phase.BETWEEN, Phase.HAND):
            return _for_absence(dealer, ledger) or _for_pause(dealer, ledger)
        case _:
            return None


def _after_void(dealer: Dealer, ledger: Ledger) -> Record:
    if may_abandon(ledger, "empty"):
        return dealer.abandon(ledger, "empty")
    for seat in ledger.silent:
        if may_forfeit(ledger, seat, "silent"):
            return dealer.forfeit(ledger, seat, "silent")
    return dealer.abandon(ledger, "voids" if may_abandon(ledger, "voids") else "server")


def _for_absence(dealer: Dealer, ledger: Ledger) -> Record | None:
    after = ledger.setup.terms.opts.gone_after
    absent = [
        seat
        for seat, streak in enumerate(ledger.streaks)
        if 0 < after <= streak and may_forfeit(ledger, seat, "absent")
    ]
    if not absent:
        return None
    if may_abandon(ledger, "empty"):
        return dealer.abandon(ledger, "empty")
    return dealer.forfeit(ledger, absent[0], "absent")


def _for_pause(dealer: Dealer, ledger: Ledger) -> Record | None:
    if len(ledger.pause.asked) < ledger.seats:
        return None
    return dealer.resume(ledger) if ledger.pause.active else dealer.pause(ledger)

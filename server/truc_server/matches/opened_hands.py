"""What is told of a hand in mode blind once the links of every seat have opened it: what no card had shown before."""

from truc_protocol.dealing import DealtCards
from truc_protocol.ledger import Folded, Ledger, known_hands, opened_hands, replayed, untold


def opened_hand(ledger: Ledger) -> DealtCards | None:
    """Return the newest cards of a hand that is about to be closed; None if not all of them are open."""
    opened = opened_hands(ledger)
    return opened[-1] if opened else None


def news_of(before: Ledger, folded: Folded) -> Folded:
    """Return what follows from a link that opens a hand, with only those events that were not told as it was played."""
    if not folded.events or before.hand is None or before.match is None:
        return folded
    _, told = replayed(before.hand, known_hands(before.hand, before.match))
    return Folded(folded.ledger, untold(folded.events, told))

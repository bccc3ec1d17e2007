"""Hands of mode blind that the links of every seat have opened: what is told of them, and what is known of those in the store."""

from collections.abc import Sequence

from truc_protocol.bodies import Close
from truc_protocol.dealing import DealtCards
from truc_protocol.ledger import Folded, Ledger, known_hands, opened_hands, replayed, untold
from truc_protocol.records import Record, parse_own
from truc_server.storage import AddRecord


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


def closed_before(rows: Sequence[AddRecord]) -> int:
    """Return the position after the last close of a hand that was played to its end.

    No seat was exposed in what stands before it: the match would have ended with that.
    """
    closes = (row.k + 1 for row in reversed(rows) if _closes_hand(row))
    return next(closes, 0)


def _closes_hand(row: AddRecord) -> bool:
    body = parse_own(Record(row.signer, row.body, row.sig))
    return isinstance(body, Close) and body.reason == "hand"

"""Signs as both ends of a connection see them: to whom they go, which words there are, and which come without a box.

Questions asked of the ledger alone; what the rules say about signs stands in them. The boxes stand in boxes.py.
"""

from truc_protocol.boxes import BoxError
from truc_protocol.ledger import Ledger, box_public
from truc_rules import Seat, sign_receivers

TABLE = "table"


def addressee(ledger: Ledger, seat: int) -> int | None:
    """Return the seat that a sign of `seat` names as the one it goes to; None if nobody sees signs of it."""
    receivers = () if ledger.match is None else sign_receivers(ledger.match, Seat(seat))
    return receivers[0] if receivers else None


def check_seen(ledger: Ledger, sender: int, word: str) -> None:
    """Check a sign that a client was told of: it may be false, but is a word of the game, by a seat of the match.

    Raises:
        BoxError: It is not.
    """
    signals = ledger.setup.terms.variant.signals
    if signals is None or word not in signals.vocabulary or sender >= ledger.seats:
        raise BoxError("expected a word that the rules let a seat sign")


def is_for_all(ledger: Ledger) -> bool:
    """Tell whether the whole table sees every sign, which then comes in clear to all."""
    signals = ledger.setup.terms.variant.signals
    return signals is not None and signals.visible_to == TABLE


def comes_boxed(ledger: Ledger, seat: int) -> bool:
    """Tell whether a sign comes to `seat` in a box."""
    return not is_for_all(ledger) and box_public(ledger, seat) is not None

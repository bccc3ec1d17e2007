"""Signs as both ends of a connection see them: who sees them, which words there are, and which come without a box.

These are questions to the ledger alone; what the rules say about signs is in truc_rules, and the boxes are in boxes.py.
"""

from truc_protocol.boxes import BoxError
from truc_protocol.ledger import Ledger, box_public
from truc_rules import Seat, sign_receivers

TABLE = "table"


def addressee(ledger: Ledger, seat: int) -> int | None:
    """Return the seat to which a sign of `seat` is addressed, or None if nobody sees its signs."""
    receivers = () if ledger.match is None else sign_receivers(ledger.match, Seat(seat))
    # any receiver will do: the server passes the sign on to all who see it
    return receivers[0] if receivers else None


def check_sign_seen(ledger: Ledger, sender: int, word: str) -> None:
    """Check a sign that a client was told of: it may be false, but must be a word of the game, from a seat of the match.

    Raises:
        BoxError: It is not.
    """
    signals = ledger.setup.terms.variant.signals
    if signals is None or word not in signals.vocabulary or sender >= ledger.seats:
        raise BoxError("expected a word that the rules let a seat sign")


def all_see_signs(ledger: Ledger) -> bool:
    """Tell whether the whole table sees every sign, and gets it in clear."""
    signals = ledger.setup.terms.variant.signals
    return signals is not None and signals.visible_to == TABLE


def sign_comes_boxed(ledger: Ledger, seat: int) -> bool:
    """Tell whether a sign comes to `seat` in a box."""
    return not all_see_signs(ledger) and box_public(ledger, seat) is not None

"""Cards in clear, for a guest without a box: the guest's own, or those of a partner that the rules show.

Invariant: a seat with a box key is given nothing here, and nobody is given a card before it is dealt.
"""

from truc_protocol.dealer import Dealer
from truc_protocol.ledger import Ledger, box_public
from truc_protocol.messages import OwnCards
from truc_rules import is_blind


def cards_message(
    ledger: Ledger, dealer: Dealer, table: str, *, seat: int, of: int | None
) -> OwnCards | None:
    """Return what a seat is told of the hand dealt at a table: its cards, or a partner's.

    None if it has a box, or if the hand is played blind.
    """
    hand, match = ledger.hand, ledger.match
    if hand is None or match is None or is_blind(match) or box_public(ledger, seat) is not None:
        return None
    pack = ledger.setup.terms.variant.pack
    openings = dealer.openings(ledger, seat if of is None else of)
    cards = tuple(pack[card] for card, _ in openings)
    newest = hand.deals[-1]
    return OwnCards(
        table=table, match=ledger.setup.mid, k=newest.k, j=newest.j, d=newest.d, cards=cards, of=of
    )

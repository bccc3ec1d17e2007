"""What is told of a hand in mode blind once the links of every seat have opened it: what no card had shown before."""

from truc_protocol.dealing import DealtCards, Opening
from truc_protocol.ledger import Folded, Ledger, known_hands, replayed, untold


def opened_hand(ledger: Ledger) -> DealtCards | None:
    """Return the cards of a hand that is about to be closed; None if not all of them are open."""
    hand, match = ledger.hand, ledger.match
    if hand is None or match is None or not hand.is_known:
        return None
    cards = match.hand.dealt.cards
    # a place has no salt: the keys of its card came link by link
    hands = tuple(tuple(Opening(card, b"") for card in seat if card is not None) for seat in cards)
    return DealtCards(hands, (), 0)


def news_of(before: Ledger, folded: Folded) -> Folded:
    """Return what follows from a link that opens a hand, with only those events that were not told as it was played."""
    if not folded.events or before.hand is None or before.match is None:
        return folded
    _, told = replayed(before.hand, known_hands(before.hand, before.match))
    return Folded(folded.ledger, untold(folded.events, told))

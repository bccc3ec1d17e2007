"""Windows: where a hand, as everybody sees it, waits for seats that may have nothing to say.

Only a seat that holds a flor declares one. Whoever knows all cards knows at once when nobody does, and could go on in
the same moment; but going on would tell what nobody has said (rules.md 13b.3). So whoever keeps the time asks here.
"""

from truc_rules.contests import flor
from truc_rules.positions.hand import with_dealt
from truc_rules.positions.match import Match, with_hand


def has_windows(match: Match) -> bool:
    """Tell whether what a seat may do in this game can depend on what only it sees."""
    return match.variant.flor is not None


def unseen(match: Match) -> Match:
    """Return the match as everybody sees it: without the cards that have not been played or shown."""
    dealt, left = match.hand.dealt, match.hand.row.left
    cards = tuple(
        tuple(
            None if slot in left[seat] and (seat, card) not in dealt.shown else card
            for slot, card in enumerate(held)
        )
        for seat, held in enumerate(dealt.cards)
    )
    return with_hand(match, with_dealt(match.hand, dealt._replace(cards=cards)))


def is_window(match: Match) -> bool:
    """Tell whether the hand of an `unseen` match waits for seats that may have nothing to say."""
    return flor.waits_for_unknown(match)

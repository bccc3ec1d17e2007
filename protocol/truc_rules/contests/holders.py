"""Who holds a flor, as far as the cards are known here.

A seat whose known cards decide it holds one or not; a seat with unknown cards may hold one. A contest is never stuck
behind seats that only may: the next seat that surely holds one may speak, and those before it have none.
"""

from truc_rules.cards.seats import Seat
from truc_rules.contests.values import may_be_flor
from truc_rules.positions.hand import Hand, players
from truc_rules.positions.match import Match


def may_hold(match: Match, hand: Hand, seat: Seat) -> bool:
    """Tell whether `seat` holds a flor, or might because one of its cards is unknown."""
    return may_be_flor(match.variant, hand.dealt.cards[seat])


def holds(match: Match, hand: Hand, seat: Seat) -> bool:
    """Tell whether `seat` is known to hold a flor."""
    cards = hand.dealt.cards[seat]
    return None not in cards and may_be_flor(match.variant, cards)


def unheard(match: Match, hand: Hand) -> tuple[Seat, ...]:
    """Return, from eldest, the seats that must or may have to declare a flor: they have neither played nor declared."""
    order = players(hand.row, match.seats)
    quiet = [seat for seat in order if seat not in hand.contests.flores and may_hold(match, hand, seat)]
    return tuple(seat for seat in quiet if len(hand.row.left[seat]) == hand.dealt.each)


def is_sure(match: Match, seat: Seat) -> bool:
    """Tell whether `seat` declared a flor, or is known to hold one."""
    return seat in match.hand.contests.flores or holds(match, match.hand, seat)


def has_turn(match: Match, waiting: tuple[Seat, ...], seat: Seat) -> bool:
    """Tell whether `seat` is the next of `waiting` to speak: nobody before it surely holds a flor."""
    for other in waiting:
        if other == seat:
            return True
        if is_sure(match, other):
            return False
    return False

"""Before the cards: cut or tap, and the dealer's choice of a short deal (rules.md 2, "Cut and deal")."""

from truc_rules.cards.packs import CARDS_EACH
from truc_rules.cards.seats import Seat, seat_after
from truc_rules.deals import pica
from truc_rules.positions.actions import Action, Kind, valued, words
from truc_rules.positions.events import CardCountChosen, CutMade, Tapped
from truc_rules.positions.match import (
    NO_CONTESTS,
    NO_ORDERS,
    Hand,
    HandCards,
    HandPhase,
    Match,
    Row,
    Score,
    Step,
)
from truc_rules.stakes import last_point, stake
from truc_rules.variants.variant import Variant

SHORT = 1
_COUNTS = (CARDS_EACH, SHORT)
_TOO_CLOSE = 1
"""A side that is this many points short of the target rules out a short deal."""


def waiting_hand(
    variant: Variant, *, seats: int, dealer: Seat, score: tuple[Score, Score], number: int
) -> Hand:
    """Return a hand without cards: at the cut if the variant has one, else at the deal."""
    eldest = seat_after(dealer, seats)
    row = Row(eldest, pica.stride(variant, seats, score, number), eldest, eldest, (), (), None, ())
    phase = HandPhase.CUT if variant.short_deal else HandPhase.DEAL
    dealt = _nothing_dealt(CARDS_EACH, blind=variant.blind and last_point.decides_game(variant, score))
    bets = stake.opening_bets(variant)
    return Hand(phase, dealt, row, bets, (), None, NO_CONTESTS, NO_ORDERS, ())


def _nothing_dealt(each: int, *, blind: bool) -> HandCards:
    return HandCards(each, taken=0, redeals=0, thrown=(), cards=(), up=(), shown=(), covered=(), blind=blind)


def cutter(match: Match) -> Seat:
    """Return the seat before the dealer."""
    return seat_after(match.dealer, match.seats, steps=match.seats - 1)


def cut_actions(match: Match, seat: Seat) -> tuple[Action, ...]:
    """Return cut and tap for the cutter."""
    return words(seat, Kind.CUT, Kind.TAP) if seat == cutter(match) else ()


def count_actions(match: Match, seat: Seat) -> tuple[Action, ...]:
    """Return the numbers of cards the dealer may deal."""
    return tuple(valued(seat, Kind.DEAL, count) for count in _COUNTS) if seat == match.dealer else ()


def cut(match: Match, action: Action) -> Step:
    """Cut, or tap: after a tap the dealer chooses, unless a side is one point short of the target."""
    if action.kind is Kind.CUT:
        return match.hand._replace(phase=HandPhase.DEAL), (CutMade(action.seat),)
    offered = max(score.points for score in match.score) < match.variant.scoring.target - _TOO_CLOSE
    return match.hand._replace(phase=HandPhase.COUNT if offered else HandPhase.DEAL), (Tapped(action.seat),)


def choose(match: Match, action: Action) -> Step:
    """Set how many cards each seat gets."""
    count = SHORT if action.value == SHORT else CARDS_EACH
    dealt = _nothing_dealt(count, blind=match.hand.dealt.blind)
    return match.hand._replace(phase=HandPhase.DEAL, dealt=dealt), (CardCountChosen(action.seat, count),)

"""Before the cards: cut or tap, and the dealer's choice of a short deal (rules.md 2, "Cut and deal")."""

from .actions import Action, Kind
from .events import CardCountChosen, CutMade, Tapped
from .seats import Seat, seat_after
from .state import Bets, Dealt, Hand, Phase, Row, Step
from .table import Match
from .variant import CARDS_EACH, Variant

SHORT = 1
_COUNTS = (CARDS_EACH, SHORT)
_TOO_CLOSE = 1
"""How many points short of the target a side rules a short deal out."""


def waiting_hand(variant: Variant, seats: int, dealer: Seat, bets: Bets) -> Hand:
    """Return a hand without cards: at the cut if the variant has one, else at the deal."""
    dealt = Dealt(CARDS_EACH, 0, 0, (), (), ())
    row = Row(seat_after(dealer, seats), (), (), None)
    return Hand(Phase.CUT if variant.short_deal else Phase.DEAL, dealt, row, bets, (), None)


def cutter(match: Match) -> Seat:
    """Return the seat before the dealer."""
    return seat_after(match.dealer, match.seats, steps=match.seats - 1)


def cut_actions(match: Match, seat: Seat) -> tuple[Action, ...]:
    """Return cut and tap for the cutter."""
    return (Action(seat, Kind.CUT), Action(seat, Kind.TAP)) if seat == cutter(match) else ()


def count_actions(match: Match, seat: Seat) -> tuple[Action, ...]:
    """Return the numbers of cards the dealer may deal."""
    return tuple(Action(seat, Kind.DEAL, (), count) for count in _COUNTS) if seat == match.dealer else ()


def cut(match: Match, action: Action) -> Step:
    """Cut, or tap: after a tap the dealer chooses, unless a side is one point short of the target."""
    if action.kind is Kind.CUT:
        return _at(match.hand, Phase.DEAL), (CutMade(action.seat),)
    offered = max(score.points for score in match.score) < match.variant.scoring.target - _TOO_CLOSE
    return _at(match.hand, Phase.COUNT if offered else Phase.DEAL), (Tapped(action.seat),)


def choose(match: Match, action: Action) -> Step:
    """Set how many cards each seat gets."""
    hand = match.hand
    count = SHORT if action.value == SHORT else CARDS_EACH
    chosen = Hand(Phase.DEAL, Dealt(count, 0, 0, (), (), ()), hand.row, hand.bets, (), None)
    return chosen, (CardCountChosen(action.seat, count),)


def _at(hand: Hand, phase: Phase) -> Hand:
    return Hand(phase, hand.dealt, hand.row, hand.bets, hand.offers, None)

"""What one seat, or a spectator, may know of a match: a type of its own without any place for other cards."""

from typing import NamedTuple

from .cards import Card
from .hand import deciders
from .seats import Seat, Side
from .state import Bets, Offer, Phase, Row
from .table import Match, Score


class View(NamedTuple):
    """A match as `seat` sees it; None for a spectator."""

    seat: Seat | None
    variant: str
    seats: int
    dealer: Seat
    games: tuple[int, int]
    score: tuple[Score, Score]
    phase: Phase
    deciders: tuple[Seat, ...]
    each: int
    """Cards each seat was dealt."""
    redeals: int
    held: tuple[int, ...]
    """By seat: how many cards have not been played."""
    cards: tuple[Card | None, ...]
    """One's own deal, by slot; empty for a spectator."""
    left: tuple[int, ...]
    """One's own slots that have not been played."""
    row: Row
    """The tricks: public."""
    bets: Bets
    offers: tuple[Offer, ...]
    hand_winner: Side | None
    game_winner: Side | None
    winner: Side | None


def view(match: Match, seat: Seat | None) -> View:
    """Return what `seat` may know of `match`."""
    hand, dealt = match.hand, match.hand.dealt
    own = seat if dealt.cards else None
    return View(
        seat=seat,
        variant=match.variant.name,
        seats=match.seats,
        dealer=match.dealer,
        games=match.games,
        score=match.score,
        phase=hand.phase,
        deciders=deciders(match),
        each=dealt.each,
        redeals=dealt.redeals,
        held=tuple(len(left) for left in dealt.left),
        cards=() if own is None else dealt.cards[own],
        left=() if own is None else dealt.left[own],
        row=hand.row,
        bets=hand.bets,
        offers=hand.offers,
        hand_winner=hand.winner,
        game_winner=match.game_winner,
        winner=match.winner,
    )

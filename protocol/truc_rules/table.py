"""The match as a value: what a hand is played in, and the score around it."""

from typing import NamedTuple

from .seats import Seat, Side
from .state import Hand
from .variant import Variant


class Score(NamedTuple):
    """A side's score in the game."""

    upper: int
    """The higher unit, for games that score in two; else 0."""
    points: int


class Match(NamedTuple):
    """Games until a side has won the match."""

    variant: Variant
    seats: int
    dealer: Seat
    games: tuple[int, int]
    """Games won by each side, the one just won included."""
    score: tuple[Score, Score]
    """The score of the game; of the game just won until the next hand."""
    hand: Hand
    game_winner: Side | None
    """Who won the game with this hand."""
    winner: Side | None
    """Who won the match."""

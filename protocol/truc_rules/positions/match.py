"""The match as a value: what a hand is played in, and the score around it."""

from typing import NamedTuple

from truc_rules.cards.seats import Seat, Side, seat_after, side_of
from truc_rules.positions.hand import Hand
from truc_rules.variants.variant import Variant


class Score(NamedTuple):
    """A side's score in the game."""

    upper: int
    """Units, for games that are counted in them; else 0."""
    points: int


class Match(NamedTuple):
    """Games until a side has won the match."""

    variant: Variant
    seats: int
    dealer: Seat
    games: tuple[int, int]
    """Games won by each side, the one just won included."""
    score: tuple[Score, Score]
    """The score of the game; until the next hand, that of the game just won."""
    number: int
    """The number of this hand in its game, from 1."""
    hand: Hand
    game_winner: Side | None
    """Who won the game with this hand."""
    winner: Side | None
    """Who won the match."""


def with_hand(match: Match, hand: Hand) -> Match:
    """Return `match` with another state of its hand, which changes nothing around it."""
    variant, seats, dealer, games, score, number, _, game_winner, winner = match
    return Match(variant, seats, dealer, games, score, number, hand, game_winner, winner)


def governor(match: Match, side: Side) -> Seat:
    """Return who decides for `side` where sides are governed: the dealer, or eldest (rules.md 6.1)."""
    return match.dealer if side_of(match.dealer) == side else seat_after(match.dealer, match.seats)

"""Events: what happened, as public facts.

Folding the events of a match gives its score: points change through PointsScored alone. No event names a card that
not everybody has seen.
"""

from typing import NamedTuple

from .cards import Card
from .seats import Seat, Side


class CutMade(NamedTuple):
    """The pack was cut: three cards each."""

    seat: Seat


class Tapped(NamedTuple):
    """The pack was tapped."""

    seat: Seat


class CardCountChosen(NamedTuple):
    """After a tap the dealer chose how many cards each seat gets."""

    seat: Seat
    each: int


class Dealt(NamedTuple):
    """Every seat has `each` new cards."""

    each: int


class RedealProposed(NamedTuple):
    """Eldest asked for new cards."""

    seat: Seat


class RedealAgreed(NamedTuple):
    """One of several players who are all asked agreed; the next is asked."""

    seat: Seat


class RedealGranted(NamedTuple):
    """The last consent came: new cards are dealt from the rest of the pack."""

    seat: Seat


class RedealRefused(NamedTuple):
    """The cards stay."""

    seat: Seat


class Stood(NamedTuple):
    """Eldest plays the cards as they are."""

    seat: Seat


class LastPointAsked(NamedTuple):
    """A side at its last point must play for the raised stake or decline."""

    side: Side


class LastPointTaken(NamedTuple):
    """The side plays, for `stake`."""

    seat: Seat
    stake: int


class LastPointDeclined(NamedTuple):
    """The side does not play."""

    seat: Seat


class GameStaked(NamedTuple):
    """Both sides are at their last point: the hand decides the game."""


class CardPlayed(NamedTuple):
    """A card was played face up."""

    seat: Seat
    card: Card


class StakeAsked(NamedTuple):
    """A higher stake, or the remainder, was asked for."""

    seat: Seat
    stake: int | str


class StakeAccepted(NamedTuple):
    """The stake asked for is the stake."""

    seat: Seat
    stake: int | str


class StakeDeclined(NamedTuple):
    """The stake asked for was refused."""

    seat: Seat


class Conceded(NamedTuple):
    """A seat gave the hand up for its side."""

    seat: Seat


class TrickWon(NamedTuple):
    """A side won the trick; `leader` leads the next, if one is played."""

    side: Side
    leader: Seat


class TrickTied(NamedTuple):
    """Nobody won the trick; `leader` leads the next, if one is played."""

    leader: Seat


class HandWon(NamedTuple):
    """The hand is over and a side has it."""

    side: Side


class HandDrawn(NamedTuple):
    """The hand is over and nobody has it."""


class PointsScored(NamedTuple):
    """Points for a side; `reason` is a word such as "hand", "declined", "conceded", "game"."""

    side: Side
    points: int
    reason: str


class GameWon(NamedTuple):
    """A side has the game."""

    side: Side


class MatchWon(NamedTuple):
    """A side has the match."""

    side: Side


Event = (
    CutMade
    | Tapped
    | CardCountChosen
    | Dealt
    | RedealProposed
    | RedealAgreed
    | RedealGranted
    | RedealRefused
    | Stood
    | LastPointAsked
    | LastPointTaken
    | LastPointDeclined
    | GameStaked
    | CardPlayed
    | StakeAsked
    | StakeAccepted
    | StakeDeclined
    | Conceded
    | TrickWon
    | TrickTied
    | HandWon
    | HandDrawn
    | PointsScored
    | GameWon
    | MatchWon
)
